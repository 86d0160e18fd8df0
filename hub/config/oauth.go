package config

import (
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
)

// OAuth says how to sign in to a server behind a URL. The zero value means: as the server's metadata says, with a
// person. ClientSecret, PrivateKeyPEM, IDP.IDToken and WorkloadToken are secret.
type OAuth struct {
	// ClientID and ClientSecret belong to a client that was registered by hand.
	ClientID, ClientSecret string
	// ClientMetadataURL is an https address with a path. It is the id of the client, and the document there describes the
	// client (client id metadata documents).
	ClientMetadataURL string
	// Scopes are the scopes to ask for; if empty, the server's metadata decides.
	Scopes []string
	// RedirectPort is the port of the loopback redirect; 0 means any free port.
	RedirectPort int
	// Grant is "" (a person signs in), "client_credentials", "enterprise" (enterprise-managed authorization) or
	// "workload_identity".
	Grant string
	// PrivateKeyPEM and SigningAlgorithm are used to sign the client's assertion, instead of a secret.
	PrivateKeyPEM, SigningAlgorithm string
	// IDP is the identity provider of grant "enterprise".
	IDP IdentityProvider
	// WorkloadToken is the JWT of grant "workload_identity". WorkloadTokenFile is the file in which the platform keeps it,
	// and replaces it before it expires. Load makes the path absolute, relative to the folder of the config.
	WorkloadToken, WorkloadTokenFile string
	// DPoP says whether tokens are bound to a key of the hub (RFC 9449): "" if the server and its authorization server ask
	// for it, "require" always, "off" never.
	DPoP string
}

// IdentityProvider is the provider at which enterprise-managed authorization exchanges the user's id token.
type IdentityProvider struct {
	Issuer, TokenEndpoint string
	ClientID              string
	IDToken               string
}

// oauth reads the settings object. No value in it is ever shown.
func (r *entryReader) oauth(k key) {
	r.settings(k, func(k key) bool { return r.oauthSetting(k, k.name) })
}

// oauthNamed reads an object that has the words of another application. names maps them to the hub's settings; "" is a
// setting that the hub does not use.
func (r *entryReader) oauthNamed(k key, names map[string]string) {
	r.settings(k, func(k key) bool {
		name, known := names[k.name]
		return known && (name == "" || r.oauthSetting(k, name))
	})
}

// oauthIn and oauthAs return readers for a table of keys: for a whole object, and for one setting.
func oauthIn(names map[string]string) func(*entryReader, key) {
	return func(r *entryReader, k key) { r.oauthNamed(k, names) }
}

func oauthAs(name string) func(*entryReader, key) {
	return func(r *entryReader, k key) { r.oauthSetting(k, name) }
}

// oauthSetting reads the setting that the hub calls name, and reports whether there is such a setting.
func (r *entryReader) oauthSetting(k key, name string) bool {
	o, at, v := &r.s.OAuth, k.path, k.value
	field := map[string]*string{
		"clientId": &o.ClientID, "clientSecret": &o.ClientSecret, "clientMetadataUrl": &o.ClientMetadataURL,
		"grant":         &o.Grant,
		"privateKeyPem": &o.PrivateKeyPEM, "signingAlgorithm": &o.SigningAlgorithm,
		"workloadToken": &o.WorkloadToken, "workloadTokenFile": &o.WorkloadTokenFile, "dpop": &o.DPoP,
	}[name]
	switch {
	case field == nil && name != "scopes" && name != "redirectPort" && name != "idp":
		return false
	case name == "scopes":
		o.Scopes = r.scopes(at, v)
	case name == "redirectPort":
		o.RedirectPort = r.port(at, v)
	case name == "idp":
		o.IDP = r.identityProvider(k)
	case name == "workloadTokenFile":
		*field = r.file(at, v)
	default:
		*field = r.text(at, v)
		r.checkOAuth(name, at, v, *field)
	}
	r.mark("oauth."+name, k)
	if o.Grant == "authorization_code" {
		o.Grant = ""
	}
	if o.DPoP == "auto" {
		o.DPoP = ""
	}
	return true
}

func (r *entryReader) checkOAuth(name, at string, v value, s string) {
	switch name {
	case "grant":
		if _, isText := v.str(); isText && s != "authorization_code" && s != "client_credentials" && s != "enterprise" &&
			s != "workload_identity" {
			r.fail(v.at(), at, `must be "authorization_code", "client_credentials", "enterprise" or "workload_identity"`)
		}
	case "dpop":
		if _, isText := v.str(); isText && s != "auto" && s != "require" && s != "off" {
			r.fail(v.at(), at, `must be "auto", "require" or "off"`)
		}
	case "clientMetadataUrl":
		// The address identifies the client publicly, so it must be an https address with a path, and nothing else in it.
		u, err := url.Parse(s)
		if _, isText := v.str(); isText && (err != nil || u.Scheme != "https" || u.Hostname() == "" ||
			strings.Trim(u.Path, "/") == "" || u.User != nil || u.Fragment != "") {
			r.fail(v.at(), at, "must be an https:// address with a path, without user name and fragment")
		}
	}
}

// file reads a path. A relative path is relative to the folder of the config, since the working directory of the hub
// means nothing to the user.
func (r *entryReader) file(key string, v value) string {
	s := r.text(key, v)
	switch {
	case s == "" || filepath.IsAbs(s):
		return s
	case r.folder == "":
		r.fail(v.at(), key, "must be an absolute path: this configuration is no file to which it could be relative")
		return ""
	}
	return under(r.folder, s)
}

func (r *entryReader) identityProvider(k key) (p IdentityProvider) {
	r.settings(k, func(k key) bool {
		field := map[string]*string{
			"issuer": &p.Issuer, "tokenEndpoint": &p.TokenEndpoint, "clientId": &p.ClientID, "idToken": &p.IDToken,
		}[k.name]
		if field != nil {
			*field = r.text(k.path, k.value)
		}
		return field != nil
	})
	return p
}

// scopes reads an array, or one string with blanks between the scopes, as OAuth writes them (RFC 6749, section 3.3).
func (r *entryReader) scopes(key string, v value) (out []string) {
	if _, ok := v.str(); ok {
		return strings.Fields(r.text(key, v))
	}
	for at, e := range r.elements(v, key, "a string or an array of strings") {
		s := r.text(at, e)
		if _, ok := e.str(); ok && (s == "" || strings.ContainsAny(s, " \t\r\n")) {
			r.fail(e.at(), at, "must be one scope, without blanks")
			continue
		}
		out = append(out, s)
	}
	return out
}

func (r *entryReader) port(key string, v value) int {
	n, isNumber := v.number()
	port, err := strconv.ParseUint(n, 10, 16)
	if !isNumber || err != nil {
		r.fail(v.at(), key, "must be a port from 1 to 65535, or 0 for any free one")
	}
	return int(port)
}
