package signin

import (
	"errors"
	"fmt"
	"net/url"
)

// Grants of Config.Grant.
const (
	// GrantPerson is the authorization code grant with PKCE: a person signs in. It is the default.
	GrantPerson = ""
	// GrantClientCredentials signs in as the client itself, by its secret or its private key
	// (extension io.modelcontextprotocol/oauth-client-credentials).
	GrantClientCredentials = "client_credentials"
	// GrantEnterprise changes the identity provider's ID token into an access token
	// (extension io.modelcontextprotocol/enterprise-managed-authorization).
	GrantEnterprise = "enterprise"
	// GrantWorkload presents a workload's own JWT (RFC 7523; draft extension for workload identity, SEP-1933).
	GrantWorkload = "workload_identity"
)

// Choices of Config.DPoP: whether tokens are bound to a key of ours (RFC 9449; draft extension
// io.modelcontextprotocol/auth/dpop, SEP-1932).
const (
	// DPoPAuto binds them when the server asks for it and the authorization server can do it. It is the default.
	DPoPAuto = ""
	// DPoPRequire uses no other tokens.
	DPoPRequire = "require"
	// DPoPOff binds none.
	DPoPOff = "off"
)

// Config is what a server's configuration entry says about sign-in. The zero value fits a server that lets clients
// register.
type Config struct {
	// Grant is one of the Grant constants.
	Grant string
	// ClientID and ClientSecret are of a client that was registered by hand. They come before every other kind of
	// registration.
	ClientID     string
	ClientSecret string
	// Issuer binds ClientID to one authorization server; "" trusts the server's metadata.
	Issuer string
	// ClientMetadataURL is the https address of a client ID metadata document; used when the authorization server knows
	// them.
	ClientMetadataURL string
	// Scopes are asked for instead of those that the server's metadata lists. What a challenge asks for is asked for
	// besides.
	Scopes []string
	// RedirectPort fixes the port of the redirect listener, for clients that were registered with it; 0 takes a free one.
	RedirectPort int

	// PrivateKeyPEM signs the assertion of client_credentials instead of a secret; SigningAlgorithm is ES256, ES384, RS256
	// or EdDSA, "" what fits the key.
	PrivateKeyPEM    string
	SigningAlgorithm string

	// IDP* are for GrantEnterprise. IDPTokenEndpoint may be "": it is then read from the metadata of IDPIssuer.
	IDPIssuer        string
	IDPTokenEndpoint string
	IDPClientID      string
	IDPClientSecret  string
	IDPIDToken       string

	// WorkloadToken is the JWT of GrantWorkload, or WorkloadTokenFile the path of a file with it, which is read at each
	// exchange: platforms replace it before it ends.
	WorkloadToken     string
	WorkloadTokenFile string

	// DPoP is one of the DPoP constants.
	DPoP string
}

// secrets lists what must not be seen in any text.
func (c *Config) secrets() []string {
	return []string{c.ClientSecret, c.PrivateKeyPEM, c.IDPClientSecret, c.IDPIDToken, c.WorkloadToken}
}

func (c *Config) check() error {
	need := func(missing bool, what string) error {
		if missing {
			return fmt.Errorf("the grant %q needs %s", c.Grant, what)
		}
		return nil
	}
	if c.RedirectPort < 0 || c.RedirectPort > 65535 {
		return fmt.Errorf("redirect port %d: from 0 to 65535", c.RedirectPort)
	}
	if c.DPoP != DPoPAuto && c.DPoP != DPoPRequire && c.DPoP != DPoPOff {
		return fmt.Errorf("unknown choice of DPoP %q", c.DPoP)
	}
	switch c.Grant {
	case GrantPerson:
		if c.ClientMetadataURL != "" {
			u, err := url.Parse(c.ClientMetadataURL)
			if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.Path == "" || u.Path == "/" {
				return errors.New("the client metadata URL must be https and have a path")
			}
		}
		return nil
	case GrantClientCredentials:
		if c.PrivateKeyPEM != "" {
			if _, err := newSigner(c.PrivateKeyPEM, c.SigningAlgorithm); err != nil {
				return err
			}
		}
		return errors.Join(need(c.ClientID == "", "a client id"),
			need((c.ClientSecret == "") == (c.PrivateKeyPEM == ""), "either a client secret or a private key"))
	case GrantEnterprise:
		return errors.Join(need(c.ClientID == "", "a client id"), need(c.IDPIssuer == "" && c.IDPTokenEndpoint == "",
			"an identity provider"),
			need(c.IDPClientID == "", "a client id at the identity provider"), need(c.IDPIDToken == "", "an ID token"))
	case GrantWorkload:
		return need((c.WorkloadToken == "") == (c.WorkloadTokenFile == ""), "either a workload token or a file with one")
	}
	return fmt.Errorf("unknown grant %q", c.Grant)
}
