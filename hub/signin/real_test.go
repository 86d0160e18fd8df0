package signin

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/mcphub-go/mcphub/hub/event"
)

// TestRealSockets_real signs in over loopback, with our own round tripper and listener, a resource server made of the
// Go SDK's parts, and a host that opens the URL and follows the redirects.
func TestRealSockets_real(t *testing.T) {
	a := newAuthority()
	a.advertiseIss, a.iss = true, "right"
	var server *httptest.Server
	mux := http.NewServeMux()
	mux.HandleFunc("/as/", func(w http.ResponseWriter, r *http.Request) {
		// The authority speaks of https://as.example; on this wire it has another name.
		rec := httptest.NewRecorder()
		r.URL.Host, r.URL.Path = "as.example", strings.TrimPrefix(r.URL.Path, "/as")
		a.ServeHTTP(rec, r)
		named := func(s string) string {
			s = strings.ReplaceAll(s, "https%3A%2F%2Fas.example", strings.NewReplacer(":", "%3A", "/", "%2F").Replace(server.URL+
				"/as"))
			return strings.ReplaceAll(s, issuerAS, server.URL+"/as")
		}
		for k, v := range rec.Header() {
			w.Header().Set(k, named(v[0]))
		}
		w.Header().Del("Content-Length")
		w.WriteHeader(rec.Code)
		_, _ = io.WriteString(w, named(rec.Body.String()))
	})
	server = httptest.NewUnstartedServer(mux)
	server.Start()
	defer server.Close()
	mux.HandleFunc("/.well-known/oauth-authorization-server/as", func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = "/as/.well-known/oauth-authorization-server"
		mux.ServeHTTP(w, r)
	})
	metadata := server.URL + "/.well-known/oauth-protected-resource/mcp"
	mux.Handle("/.well-known/oauth-protected-resource/mcp",
		auth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{
			Resource: server.URL + "/mcp", AuthorizationServers: []string{server.URL + "/as"},
			ScopesSupported: []string{"read"}}))
	verify := func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		a.mu.Lock()
		defer a.mu.Unlock()
		scope, ok := a.access[token]
		if !ok {
			return nil, auth.ErrInvalidToken
		}
		return &auth.TokenInfo{Scopes: strings.Fields(scope), Expiration: time.Now().Add(time.Hour)}, nil
	}
	mux.Handle("/mcp", auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{ResourceMetadataURL: metadata,
		Scopes: []string{"read"}})(
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { reply(w, http.StatusOK, "done") })))

	s, err := New(Options{Server: "files", ServerURL: server.URL + "/mcp", Ask: func(ctx context.Context,
		p event.SignInQuestion) error {
		resp, err := http.Get(p.URL)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil || !strings.Contains(string(text), "You can close this window.") {
			t.Errorf("the browser shows %q, %v", text, err)
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()

	send := func() (*http.Request, *http.Response) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/mcp", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Sign(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		return req, resp
	}
	req, resp := send()
	if resp.StatusCode != http.StatusUnauthorized {
		t.Fatalf("status %d without a token", resp.StatusCode)
	}
	if err := s.Authorize(t.Context(), req, resp); err != nil {
		t.Fatal(err)
	}
	_, resp = send()
	defer resp.Body.Close()
	var got string
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil || resp.StatusCode != http.StatusOK || got != "done" {
		t.Errorf("status %d, %q, %v", resp.StatusCode, got, err)
	}
}
