//go:build unix

package e2e

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// authority is an OAuth authorization server on this machine, and an MCP server that requires its access tokens. It
// checks the redirect URI, PKCE, the resource, that a code is used once, and the client's secret.
type authority struct {
	t      *testing.T
	web    *web
	server *httptest.Server

	mu      sync.Mutex        // guards all below
	secrets map[string]string // of clients
	codes   map[string]grantOf
	access  map[string]bool
	refresh map[string]bool
	given   []string // all secrets that were ever made
	grants  []string // grant types of token requests, in order
}

type grantOf struct{ challenge, redirect, resource, client string }

func newAuthority(t *testing.T, options ...fakeserver.Option) *authority {
	t.Helper()
	a := &authority{t: t, secrets: map[string]string{}, codes: map[string]grantOf{}, access: map[string]bool{},
		refresh: map[string]bool{}}
	mux := http.NewServeMux()
	a.server = httptest.NewServer(mux)
	t.Cleanup(a.server.Close)
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", a.metadata)
	mux.HandleFunc("POST /register", a.register)
	mux.HandleFunc("GET /authorize", a.authorize)
	mux.HandleFunc("POST /token", a.token)
	a.web = newWebWith(t, fakeserver.HTTPOptions{}, a.guard, options...)
	return a
}

// guard refuses requests without a valid access token, with the server's half of OAuth from the Go SDK.
func (a *authority) guard(next http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, r *http.Request) {
		auth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{
			Resource: a.resource(), AuthorizationServers: []string{a.server.URL}, ScopesSupported: []string{"files"},
		}).ServeHTTP(w, r)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		auth.RequireBearerToken(a.verify, &auth.RequireBearerTokenOptions{
			ResourceMetadataURL: a.web.url + "/.well-known/oauth-protected-resource/mcp", Scopes: []string{"files"},
		})(next).ServeHTTP(w, r)
	})
	return mux
}

func (a *authority) resource() string { return a.web.url + fakeserver.PathMCP }

func (a *authority) verify(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.access[token] {
		return nil, auth.ErrInvalidToken
	}
	return &auth.TokenInfo{Scopes: []string{"files"}, Expiration: time.Now().Add(time.Hour)}, nil
}

func answerJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func (a *authority) metadata(w http.ResponseWriter, _ *http.Request) {
	answerJSON(w, http.StatusOK, map[string]any{
		"issuer": a.server.URL, "authorization_endpoint": a.server.URL + "/authorize", "token_endpoint": a.server.URL +
			"/token",
		"registration_endpoint": a.server.URL + "/register", "response_types_supported": []string{"code"},
		"code_challenge_methods_supported": []string{"S256"}, "scopes_supported": []string{"files"},
		"authorization_response_iss_parameter_supported": true,
	})
}

// secret makes a secret, which must appear nowhere. a.mu is held.
func (a *authority) secret(what string) string {
	s := what + "-" + rand.Text()
	a.given = append(a.given, s)
	return s
}

func (a *authority) register(w http.ResponseWriter, r *http.Request) {
	var m struct {
		Redirects []string `json:"redirect_uris"`
	}
	if json.NewDecoder(r.Body).Decode(&m) != nil || len(m.Redirects) != 1 ||
		!strings.HasPrefix(m.Redirects[0], "http://127.0.0.1:") {
		answerJSON(w, http.StatusBadRequest, map[string]string{"error": "invalid_redirect_uri"})
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	id := "client-" + rand.Text()
	a.secrets[id] = a.secret("client-secret")
	answerJSON(w, http.StatusCreated, map[string]any{
		"client_id": id, "client_secret": a.secrets[id], "redirect_uris": m.Redirects,
		"token_endpoint_auth_method": "client_secret_basic",
	})
}

// registered adds a client by hand, without dynamic registration.
func (a *authority) registered() (id, secret string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	id, secret = "by-hand", a.secret("client-secret")
	a.secrets[id] = secret
	return id, secret
}

// authorize takes the user for signed in and willing, and redirects with a code at once.
func (a *authority) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.secrets[q.Get("client_id")] == "" || q.Get("code_challenge_method") != "S256" ||
		q.Get("resource") != a.resource() ||
		q.Get("response_type") != "code" || q.Get("scope") != "files" ||
		!strings.HasPrefix(q.Get("redirect_uri"), "http://127.0.0.1:") {
		http.Error(w, "no such client", http.StatusBadRequest)
		return
	}
	code := a.secret("code")
	a.codes[code] = grantOf{q.Get("code_challenge"), q.Get("redirect_uri"), q.Get("resource"), q.Get("client_id")}
	back := url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {a.server.URL}}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (a *authority) token(w http.ResponseWriter, r *http.Request) {
	id, secret, ok := r.BasicAuth()
	_ = r.ParseForm() // a form that cannot be read counts as empty
	f := r.PostForm
	a.mu.Lock()
	defer a.mu.Unlock()
	a.grants = append(a.grants, f.Get("grant_type"))
	a.given = append(a.given, f.Get("code_verifier"))
	if !ok || secret == "" || a.secrets[id] != secret {
		answerJSON(w, http.StatusUnauthorized, map[string]string{"error": "invalid_client", "error_description": "you sent " +
			secret})
		return
	}
	switch g := a.codes[f.Get("code")]; f.Get("grant_type") {
	case "authorization_code":
		delete(a.codes, f.Get("code"))
		sum := sha256.Sum256([]byte(f.Get("code_verifier")))
		ok = g.challenge == base64.RawURLEncoding.EncodeToString(sum[:]) && g.redirect == f.Get("redirect_uri") &&
			g.resource == f.Get("resource") && g.client == id
	case "refresh_token":
		ok = a.refresh[f.Get("refresh_token")]
		delete(a.refresh, f.Get("refresh_token"))
	default:
		ok = false
	}
	if !ok {
		answerJSON(w, http.StatusBadRequest, map[string]string{"error": "invalid_grant", "error_description": "you sent " +
			f.Encode()})
		return
	}
	access, refresh := a.secret("access-token"), a.secret("refresh-token")
	a.access[access], a.refresh[refresh] = true, true
	answerJSON(w, http.StatusOK, map[string]any{"access_token": access, "refresh_token": refresh, "token_type": "Bearer",
		"expires_in": 3600, "scope": "files"})
}

// revoke makes every access token invalid, and the refresh tokens too when all is true.
func (a *authority) revoke(all bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.access)
	if all {
		clear(a.refresh)
	}
}

// asked returns the grant types of the token requests so far.
func (a *authority) asked() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.grants)
}

// secretsGiven returns all secrets, which must appear nowhere.
func (a *authority) secretsGiven() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(a.given), func(s string) bool { return s == "" })
}

// browse opens an address as the user's browser does, and returns the page at the end of the redirects.
func browse(t *testing.T, address string) string {
	t.Helper()
	resp, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("status %d, %v: %s", resp.StatusCode, err, text)
	}
	return string(text)
}
