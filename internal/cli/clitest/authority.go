package clitest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// Authority is an MCP server that requires a sign-in, and its authorization server (MCP 2026-07-28,
// basic/authorization): metadata of both, dynamic registration, the code grant with PKCE. It records the requests that
// it got, and those that were wrong as faults.
type Authority struct {
	*httptest.Server
	mcp http.Handler

	// mu guards what follows.
	mu        sync.Mutex
	made      int
	redirects map[string]string     // of clients
	codes     map[string]url.Values // the authorization request of each code
	tokens    map[string]bool
	Seen      map[string]int // requests by path, and "refused" ones of the MCP server
	faults    []string
}

// NewAuthority serves a modern fake server with the tool echo. It gives the commands a state directory of their own.
func NewAuthority(p *Settings) *Authority {
	p.T.Helper()
	// The keyring and the state of the person who runs the tests are not touched.
	p.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+p.Folder+"/no-bus")
	p.Setenv("XDG_STATE_HOME", p.Folder+"/state")
	p.Unsetenv("MCPHUB_STATE_DIR")
	s := fakeserver.New(fakeserver.WithModern())
	s.Tool("echo", func(c *fakeserver.CallContext) { c.Text("signed in") })
	h := fakeserver.NewHTTP(s, fakeserver.HTTPOptions{})
	p.T.Cleanup(h.Close)
	a := &Authority{mcp: h, redirects: map[string]string{}, codes: map[string]url.Values{}, tokens: map[string]bool{},
		Seen: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", a.serve)
	mux.HandleFunc("/.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, map[string]any{"resource": a.URL + "/mcp", "authorization_servers": []string{a.URL},
			"scopes_supported": []string{"read"}})
	})
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, map[string]any{
			"issuer": a.URL, "authorization_endpoint": a.URL + "/authorize", "token_endpoint": a.URL +
				"/token", "registration_endpoint": a.URL + "/register",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
			"token_endpoint_auth_methods_supported": []string{"none"}, "authorization_response_iss_parameter_supported": true,
		})
	})
	mux.HandleFunc("/register", a.register)
	mux.HandleFunc("/authorize", a.authorize)
	mux.HandleFunc("/token", a.token)
	// assigned before Start: the handlers read a.URL
	a.Server = httptest.NewUnstartedServer(mux)
	a.Start()
	p.T.Cleanup(a.Close)
	return a
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that has left shows in its test
}

// name makes a new name. mu is held.
func (a *Authority) name(what string) string {
	a.made++
	return fmt.Sprintf("%s-%d-of-the-fake", what, a.made)
}

func (a *Authority) serve(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	known := a.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	if !known {
		a.Seen["refused"]++
	}
	a.mu.Unlock()
	if !known {
		w.Header().Set("WWW-Authenticate",
			fmt.Sprintf(`Bearer resource_metadata="%s/.well-known/oauth-protected-resource/mcp", scope="read"`, a.URL))
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	a.mcp.ServeHTTP(w, r)
}

func (a *Authority) register(w http.ResponseWriter, r *http.Request) {
	var meta struct {
		Redirects []string `json:"redirect_uris"`
	}
	err := json.NewDecoder(r.Body).Decode(&meta)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Seen[r.URL.Path]++
	if err != nil || len(meta.Redirects) != 1 || !strings.HasPrefix(meta.Redirects[0], "http://127.0.0.1:") {
		reply(w, http.StatusBadRequest, map[string]string{"error": "invalid_client_metadata"})
		return
	}
	id := a.name("client")
	a.redirects[id] = meta.Redirects[0]
	reply(w, http.StatusCreated, map[string]any{"client_id": id, "redirect_uris": meta.Redirects,
		"token_endpoint_auth_method": "none"})
}

// authorize stands for the page where a person signs in: it sends the browser back at once.
func (a *Authority) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Seen[r.URL.Path]++
	if a.redirects[q.Get("client_id")] != q.Get("redirect_uri") || q.Get("code_challenge_method") != "S256" ||
		q.Get("resource") != a.URL+"/mcp" {
		a.faults = append(a.faults, "authorize: "+q.Encode())
		http.Error(w, "no", http.StatusBadRequest)
		return
	}
	code := a.name("code")
	a.codes[code] = q
	back := url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {a.URL}}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (a *Authority) token(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		http.Error(w, "no", http.StatusBadRequest)
		return
	}
	f := r.PostForm
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Seen[r.URL.Path]++
	q, ok := a.codes[f.Get("code")]
	delete(a.codes, f.Get("code"))
	sum := sha256.Sum256([]byte(f.Get("code_verifier")))
	if !ok || f.Get("grant_type") != "authorization_code" ||
		q.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) ||
		f.Get("client_id") != q.Get("client_id") || f.Get("redirect_uri") != q.Get("redirect_uri") {
		a.faults = append(a.faults, "token: a grant that does not fit")
		reply(w, http.StatusBadRequest, map[string]string{"error": "invalid_grant"})
		return
	}
	token := a.name("access")
	a.tokens[token] = true
	reply(w, http.StatusOK, map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": 3600,
		"scope": "read"})
}

// Count returns how often a path was requested.
func (a *Authority) Count(path string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.Seen[path]
}

// Check reports the faults, and checks that no token is in the output of a command.
func (a *Authority) Check(t *testing.T, said string) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, f := range a.faults {
		t.Error(f)
	}
	for token := range a.tokens {
		if strings.Contains(said, token) {
			t.Errorf("a token was shown:\n%s", said)
		}
	}
}

// SignIn does what a person does: it finds the address in the output of a command, and opens it in a browser. It does
// so when the command waits for the browser, since a person is slower than the command.
func (a *Authority) SignIn(t *testing.T, said *Heard) {
	t.Helper()
	said.Await(t, "waiting until you have signed in")
	address := ""
	for line := range strings.Lines(said.String()) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, a.URL+"/authorize?") {
			address = line
		}
	}
	r, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("the browser shows status %d, %q, %v for %q", r.StatusCode, text, err, address)
	}
}
