package signin

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// authority is an MCP server at https://mcp.example/mcp and its authorization server at https://as.example, as strict
// as they should be, with the ways in which real ones differ as fields. Fields are set before use, or under mu.
type authority struct {
	mu sync.Mutex

	// The MCP server.
	// where the protected resource's metadata is: "/.well-known/oauth-protected-resource/mcp" by default; "-" nowhere
	metadataAt   string
	quiet        bool     // the 401 does not say where
	none         bool     // there is no sign-in: nothing but 401
	metadataURL  string   // what the 401 says instead of the truth
	resource     string   // "" = the right one
	issuer       string   // what the metadata names; "" = https://as.example
	required     []string // scopes that a token needs
	challenge    string   // scope of the challenge
	plain403     bool     // 403 without a challenge
	alwaysRefuse bool

	// The authorization server.
	openid         bool // metadata at the place of OpenID Connect only
	noPKCE         bool
	advertiseIss   bool
	iss            string // in the answer: "" none, "right", else as it stands
	refuse         string // error code of the authorization answer
	authEndpoint   string
	noRegistration bool
	knowsDocuments bool
	refuseClients  bool
	methods        []string
	supported      []string // scopes
	grants         func(asked string) string
	lifetime       int // seconds; 0 = 3600
	noRefresh      bool
	rotate         bool
	// detects: a refresh token that comes again revokes all tokens (RFC 9700 section 4.14.2); reused counts that
	detects       bool
	used          map[string]bool
	reused        int
	refreshError  string
	refreshAnswer http.HandlerFunc // of each refresh, instead of refreshError
	tokenError    string
	slow          chan struct{} // refreshes wait for it
	redirects     map[string]string

	dpop demands

	clients   map[string]client
	codes     map[string]code
	access    map[string]string // token -> scopes
	refreshes map[string]string // token -> scopes
	made      int
	log       []string
	forms     []url.Values
}

type client struct{ secret, redirect string }
type code struct{ challenge, scope, client, redirect, resource, thumbprint string }

const (
	mcpURL   = "https://mcp.example/mcp"
	issuerAS = "https://as.example"
)

func newAuthority() *authority {
	return &authority{
		metadataAt: "/.well-known/oauth-protected-resource/mcp", rotate: true,
		clients: map[string]client{}, codes: map[string]code{}, access: map[string]string{}, refreshes: map[string]string{},
		used: map[string]bool{},
		dpop: demands{bound: map[string]string{}},
	}
}

func (a *authority) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	a.mu.Lock()
	slow := a.slow
	a.mu.Unlock()
	if slow != nil && r.PostForm.Get("grant_type") == "refresh_token" {
		select {
		case <-slow:
		case <-r.Context().Done():
			return
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	line := r.Method + " " + r.URL.Host + r.URL.Path
	if g := r.PostForm.Get("grant_type"); g != "" {
		line += " " + g
	}
	a.log = append(a.log, line)
	if to := a.redirects[r.URL.Host+r.URL.Path]; to != "" {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusTemporaryRedirect)
		return
	}
	switch {
	case a.none && r.URL.Path == "/mcp":
		w.WriteHeader(http.StatusUnauthorized)
	case a.none:
		http.NotFound(w, r)
	case r.URL.Host == "mcp.example" && r.URL.Path == "/mcp":
		a.serve(w, r)
	case r.URL.Host == "mcp.example" && r.URL.Path == a.metadataAt:
		a.resourceMetadata(w)
	case r.URL.Host == "as.example" && r.URL.Path == "/.well-known/oauth-authorization-server" && !a.openid,
		r.URL.Host == "as.example" && r.URL.Path == "/.well-known/openid-configuration" && a.openid:
		a.metadata(w)
	case r.URL.Host == "as.example" && r.URL.Path == "/register" && !a.noRegistration:
		a.register(w, r)
	case r.URL.Host == "as.example" && r.URL.Path == "/authorize":
		a.authorize(w, r)
	case r.URL.Host == "as.example" && r.URL.Path == "/token":
		a.token(w, r)
	default:
		http.NotFound(w, r)
	}
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func (a *authority) serve(w http.ResponseWriter, r *http.Request) {
	_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	scopes, ok := a.access[token]
	var params []string
	at := a.metadataURL
	if at == "" {
		at = "https://mcp.example" + a.metadataAt
	}
	if !a.quiet {
		params = append(params, fmt.Sprintf("resource_metadata=%q", at))
	}
	if a.challenge != "" {
		params = append(params, fmt.Sprintf("scope=%q", a.challenge))
	}
	scheme := "Bearer"
	if a.dpop.scheme != "" {
		scheme = a.dpop.scheme
	}
	if ok && !a.provenToken(w, r, params) {
		return
	}
	switch {
	case !ok || a.alwaysRefuse || a.dpop.rsRequired && a.dpop.bound[token] == "":
		w.Header().Set("WWW-Authenticate", scheme+" "+strings.Join(params, ", "))
		w.WriteHeader(http.StatusUnauthorized)
	case a.plain403:
		w.WriteHeader(http.StatusForbidden)
	case !covers(strings.Fields(scopes), a.required):
		params = append(params, `error="insufficient_scope"`)
		w.Header().Set("WWW-Authenticate", scheme+" "+strings.Join(params, ", "))
		w.WriteHeader(http.StatusForbidden)
	default:
		w.WriteHeader(http.StatusOK)
	}
}

func (a *authority) resourceMetadata(w http.ResponseWriter) {
	resource, issuer := a.resource, a.issuer
	if resource == "" {
		resource = mcpURL
	}
	if issuer == "" {
		issuer = issuerAS
	}
	reply(w, http.StatusOK, map[string]any{"resource": resource, "authorization_servers": []string{issuer},
		"scopes_supported":                  a.supported,
		"dpop_signing_alg_values_supported": a.dpop.rsAlgorithms, "dpop_bound_access_tokens_required": a.dpop.rsRequired})
}

func (a *authority) metadata(w http.ResponseWriter) {
	endpoint := a.authEndpoint
	if endpoint == "" {
		endpoint = issuerAS + "/authorize"
	}
	meta := map[string]any{
		"issuer": issuerAS, "authorization_endpoint": endpoint, "token_endpoint": issuerAS + "/token",
		"response_types_supported": []string{"code"}, "scopes_supported": a.supported,
		"authorization_response_iss_parameter_supported": a.advertiseIss,
		"token_endpoint_auth_methods_supported":          a.methods,
		"client_id_metadata_document_supported":          a.knowsDocuments,
		"dpop_signing_alg_values_supported":              a.dpop.algorithms,
	}
	if !a.noPKCE {
		meta["code_challenge_methods_supported"] = []string{"S256"}
	}
	if !a.noRegistration {
		meta["registration_endpoint"] = issuerAS + "/register"
	}
	reply(w, http.StatusOK, meta)
}

func (a *authority) register(w http.ResponseWriter, r *http.Request) {
	var meta struct {
		Redirects []string `json:"redirect_uris"`
		Type      string   `json:"application_type"`
	}
	if json.NewDecoder(r.Body).Decode(&meta) != nil || len(meta.Redirects) != 1 || meta.Type != "native" ||
		a.refuseClients {
		reply(w, http.StatusBadRequest, map[string]string{"error": "invalid_client_metadata",
			"error_description": "not here"})
		return
	}
	id := a.name("client")
	a.clients[id] = client{"secret-of-" + id, meta.Redirects[0]}
	reply(w, http.StatusCreated, map[string]any{"client_id": id, "client_secret": "secret-of-" +
		id, "client_secret_expires_at": 0,
		"redirect_uris": meta.Redirects, "token_endpoint_auth_method": "client_secret_basic"})
}

func (a *authority) name(what string) string {
	a.made++
	return fmt.Sprintf("%s-%d", what, a.made)
}

func (a *authority) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	c, ok := a.clients[q.Get("client_id")]
	if !ok || c.redirect != q.Get("redirect_uri") || q.Get("code_challenge_method") != "S256" || q.Get("resource") == "" {
		http.Error(w, "an error page for people", http.StatusBadRequest) // it must not redirect
		return
	}
	back := url.Values{"state": {q.Get("state")}}
	if a.refuse != "" {
		back.Set("error", a.refuse)
		back.Set("error_description", "words of the authorization server")
	} else {
		id := a.name("code")
		a.codes[id] = code{q.Get("code_challenge"), q.Get("scope"), q.Get("client_id"), q.Get("redirect_uri"),
			q.Get("resource"), q.Get("dpop_jkt")}
		back.Set("code", id)
	}
	switch a.iss {
	case "":
	case "right":
		back.Set("iss", issuerAS)
	default:
		back.Set("iss", a.iss)
	}
	w.Header().Set("Location", q.Get("redirect_uri")+"?"+back.Encode())
	w.WriteHeader(http.StatusFound)
}

func (a *authority) token(w http.ResponseWriter, r *http.Request) {
	f := r.PostForm
	a.forms = append(a.forms, f)
	fail := func(code string) {
		reply(w, http.StatusBadRequest, map[string]string{"error": code, "error_description": "you sent " + f.Encode()})
	}
	id, secret, basic := r.BasicAuth()
	if !basic {
		id, secret = f.Get("client_id"), f.Get("client_secret")
	}
	c, known := a.clients[id]
	thumbprint, ok := a.provenRequest(w, r)
	switch {
	case !ok:
		return
	case a.tokenError != "":
		fail(a.tokenError)
		return
	case !known || c.secret != secret:
		fail("invalid_client")
		return
	}
	scope := f.Get("scope")
	switch f.Get("grant_type") {
	case "authorization_code":
		k, ok := a.codes[f.Get("code")]
		delete(a.codes, f.Get("code"))
		sum := sha256.Sum256([]byte(f.Get("code_verifier")))
		if !ok || k.challenge != base64.RawURLEncoding.EncodeToString(sum[:]) || k.client != id ||
			k.redirect != f.Get("redirect_uri") || k.resource != f.Get("resource") ||
			k.thumbprint != thumbprint && !a.dpop.ignore {
			fail("invalid_grant")
			return
		}
		scope = k.scope
	case "refresh_token":
		s, ok := a.refreshes[f.Get("refresh_token")]
		switch {
		case a.refreshAnswer != nil:
			a.refreshAnswer(w, r)
			return
		case a.refreshError != "":
			fail(a.refreshError)
			return
		case a.dpop.bound[f.Get("refresh_token")] != thumbprint && !a.dpop.ignore:
			a.dpop.fault("a refresh token is used with another key than its own")
			fail("invalid_grant")
			return
		case !ok || f.Get("resource") == "":
			if a.detects && a.used[f.Get("refresh_token")] {
				a.reused++
				clear(a.refreshes)
				clear(a.access)
			}
			fail("invalid_grant")
			return
		case a.rotate:
			delete(a.refreshes, f.Get("refresh_token"))
			a.used[f.Get("refresh_token")] = true
		}
		scope = s
	case "client_credentials":
	default:
		fail("unsupported_grant_type")
		return
	}
	a.give(w, scope, thumbprint)
}

// give issues a token. thumbprint is that of the key that it is bound to; "" for a bearer token.
func (a *authority) give(w http.ResponseWriter, scope, thumbprint string) {
	if a.grants != nil {
		scope = a.grants(scope)
	}
	token := a.name("access")
	a.access[token] = scope
	lifetime := a.lifetime
	if lifetime == 0 {
		lifetime = 3600
	}
	answer := map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": lifetime, "scope": scope}
	if thumbprint != "" {
		answer["token_type"] = "DPoP"
		a.dpop.bound[token] = thumbprint
	}
	if !a.noRefresh {
		refresh := a.name("refresh")
		if thumbprint != "" {
			a.dpop.bound[refresh] = thumbprint
		}
		a.refreshes[refresh] = scope
		answer["refresh_token"] = refresh
	}
	reply(w, http.StatusOK, answer)
}

// revoke makes all access tokens invalid.
func (a *authority) revoke() {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.access)
}

// set changes fields while others use the authority.
func (a *authority) set(change func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change()
}

// count returns how many lines of the log of requests begin with prefix.
func (a *authority) count(prefix string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := 0
	for _, line := range a.log {
		if strings.HasPrefix(line, prefix) {
			n++
		}
	}
	return n
}

// issued returns every secret that was issued or sent.
func (a *authority) issued() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var all []string
	for token := range a.access {
		all = append(all, token)
	}
	for token := range a.refreshes {
		all = append(all, token)
	}
	for _, c := range a.clients {
		all = append(all, c.secret)
	}
	for _, f := range a.forms {
		all = append(all, f.Get("code"), f.Get("refresh_token"), f.Get("code_verifier"), f.Get("client_assertion"),
			f.Get("assertion"))
	}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}
