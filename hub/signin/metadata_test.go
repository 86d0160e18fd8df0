package signin

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
)

// Metadata is found wherever the revisions allow it to be.
func TestMetadataPlaces(t *testing.T) {
	tests := map[string]func(a *authority){
		"named":       func(*authority) {},
		"at the path": func(a *authority) { a.quiet = true },
		"at the root": func(a *authority) {
			a.quiet, a.metadataAt, a.resource = true, "/.well-known/oauth-protected-resource", "https://mcp.example"
		},
		"OpenID Connect":   func(a *authority) { a.openid = true },
		"issuer in reply":  func(a *authority) { a.advertiseIss, a.iss = true, "right" },
		"issuer unasked":   func(a *authority) { a.iss = "right" },
		"query of its own": func(a *authority) { a.authEndpoint = issuerAS + "/authorize?p=b2c_policy" },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			live(t, Options{}, func(t *testing.T, w *world) {
				change(w.as)
				w.works(t)
				w.askedTimes(t, 1)
			})
		})
	}
}

// Metadata that is incomplete, wrong or dangerous ends the flow before a user is asked.
func TestMetadataRefused(t *testing.T) {
	tests := map[string]struct {
		change func(a *authority)
		want   string
	}{
		"PKCE not advertised":  {func(a *authority) { a.noPKCE = true }, "PKCE"},
		"wrong resource":       {func(a *authority) { a.resource = "https://mcp.example/other" }, "resource"},
		"wrong issuer":         {func(a *authority) { a.issuer = issuerAS + "/" + "x" }, ""},
		"registration refused": {func(a *authority) { a.refuseClients = true }, "set a client id"},
		"no registration":      {func(a *authority) { a.noRegistration = true }, "set a client id"},
		"script":               {func(a *authority) { a.authEndpoint = "javascript:alert(1)" }, "scheme"},
		"plain http":           {func(a *authority) { a.authEndpoint = "http://as.example/authorize" }, "HTTPS"},
		"user name":            {func(a *authority) { a.authEndpoint = "https://mcp.example@evil.example/" }, "user name"},
		// Finding C7
		"fragment": {func(a *authority) { a.authEndpoint = issuerAS + "/authorize#x" }, "fragment"},
		// Finding C7
		"empty fragment": {func(a *authority) { a.authEndpoint = issuerAS + "/authorize#" }, "fragment"},
		// Finding C7
		"own state": {func(a *authority) { a.authEndpoint = issuerAS + "/authorize?state=known" }, "state"},
		// Finding C7
		"own client": {func(a *authority) { a.authEndpoint = issuerAS + "/authorize?client_id=x" }, "client_id"},
		// Finding C7
		"own redirect": {func(a *authority) { a.authEndpoint = issuerAS + "/authorize?redirect_ur%69=x" }, "redirect_uri"},
		// Finding C7
		"own PKCE": {func(a *authority) { a.authEndpoint = issuerAS + "/authorize?CODE_CHALLENGE=x" }, "CODE_CHALLENGE"},
		// Finding C7
		"request object": {func(a *authority) {
			a.authEndpoint = issuerAS + "/authorize?a=b&request_uri=urn:x"
		}, "request_uri"},
		// Finding C7
		"query out of order": {func(a *authority) { a.authEndpoint = issuerAS + "/authorize?a;state=x" }, "query"},
		"custom scheme":      {func(a *authority) { a.authEndpoint = "vscode://evil/" }, "HTTPS"},
		"elsewhere by http":  {func(a *authority) { a.metadataURL = "http://mcp.example/prm" }, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			live(t, Options{}, func(t *testing.T, w *world) {
				tt.change(w.as)
				if name == "elsewhere by http" {
					w.as.metadataAt = "-"
				}
				e := fails[*Error](t, w)
				if !strings.Contains(e.Error(), tt.want) {
					t.Errorf("%v", e)
				}
				w.askedTimes(t, 0)
			})
		})
	}
}

// The issuer in the answer must be the one that was asked, letter by letter; else no code is exchanged (RFC 9207).
func TestIssuerMismatch(t *testing.T) {
	tests := map[string]func(a *authority){
		"advertised and absent": func(a *authority) { a.advertiseIss = true },
		"another":               func(a *authority) { a.advertiseIss, a.iss = true, "https://evil.example" },
		"another, unadvertised": func(a *authority) { a.iss = "https://evil.example" },
		"with a slash":          func(a *authority) { a.advertiseIss, a.iss = true, issuerAS+"/" },
		"in other letters":      func(a *authority) { a.advertiseIss, a.iss = true, "https://AS.example" },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			live(t, Options{}, func(t *testing.T, w *world) {
				change(w.as)
				fails[*Error](t, w)
				if n := w.as.count(tokenLine); n != 0 {
					t.Errorf("%d token requests", n)
				}
			})
		})
	}
}

// The text of an error answer from the wrong issuer is not shown.
func TestIssuerMismatchInErrorAnswer(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.as.refuse, w.as.iss = "access_denied", "https://evil.example"
		if e := fails[*Error](t, w); strings.Contains(e.Error(), "words of") || e.Code != "" {
			t.Errorf("%v", e)
		}
	})
}

// A user who denies access at the authorization server has declined.
func TestAccessDenied(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.as.refuse = "access_denied"
		if e := fails[*DeclinedError](t, w); e.How != "denied" {
			t.Errorf("%v", e)
		}
		fails[*DeclinedError](t, w)
		w.askedTimes(t, 1)
	})
}

// Any other error of the authorization server is a technical failure, with its text.
func TestAuthorizationError(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.as.refuse = "server_error"
		if e := fails[*Error](t, w); e.Code != "server_error" || !strings.Contains(e.Error(),
			"words of the authorization server") {
			t.Errorf("%v", e)
		}
	})
}

// The server has moved to another authorization server: neither token nor client of the old one is shown to it
// (SEP-2352).
func TestServerMovesToAnotherIssuer(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.works(t)
		before := w.as.issued()
		moved := &elsewhere{authority: w.as, host: "new.example"}
		w.s.guard.Base = inProcess{moved}
		w.as.set(func() { w.as.issuer = "https://new.example"; clear(w.as.access) })
		w.works(t)
		w.askedTimes(t, 2)
		if len(moved.bodies) < 2 {
			t.Fatalf("the new authorization server was asked %d times", len(moved.bodies))
		}
		for _, secret := range before {
			if strings.Contains(strings.Join(moved.bodies, "\n"), secret) {
				t.Errorf("%q was shown to the new authorization server", secret)
			}
		}
		if got := w.s.current().Issuer; got != "https://new.example" {
			t.Errorf("issuer %s", got)
		}
	})
}

// elsewhere is the same authorization server under another name. It records what it is sent.
type elsewhere struct {
	*authority
	host   string
	bodies []string
}

func (e *elsewhere) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Host != e.host {
		e.authority.ServeHTTP(w, r)
		return
	}
	r.URL.Host = "as.example"
	rec := httptest.NewRecorder()
	e.authority.ServeHTTP(rec, r)
	e.bodies = append(e.bodies, r.URL.RawQuery+" "+r.PostForm.Encode()+" "+r.Header.Get("Authorization"))
	for k, v := range rec.Header() {
		w.Header()[k] = v
	}
	w.WriteHeader(rec.Code)
	_, _ = w.Write([]byte(strings.ReplaceAll(rec.Body.String(), "as.example", e.host)))
}

// The scopes are those of the challenge and of the configuration; without either, those of the metadata. offline_access
// is added if the metadata has it.
func TestScopes(t *testing.T) {
	tests := map[string]struct {
		challenge string
		config    []string
		supported []string
		want      []string
	}{
		"challenge":                   {"read", nil, []string{"read", "all"}, []string{"read"}},
		"challenge and configuration": {"read", []string{"mine"}, []string{"all"}, []string{"mine", "read"}},
		"configuration":               {"", []string{"mine"}, []string{"all"}, []string{"mine"}},
		"metadata":                    {"", nil, []string{"read", "all"}, []string{"all", "read"}},
		"offline access":              {"read", nil, []string{"offline_access"}, []string{"offline_access", "read"}},
		"none":                        {"", nil, nil, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			live(t, Options{Config: config.OAuth{Scopes: tt.config}}, func(t *testing.T, w *world) {
				w.as.challenge, w.as.supported = tt.challenge, tt.supported
				w.works(t)
				consent, _ := w.asked()
				if diff := cmp.Diff(tt.want, consent[0].Scopes); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// A site that shows a page for every address has no metadata; at an address that it has named, that is an error.
func TestPagesAreNoMetadata(t *testing.T) {
	pages := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<p>Welcome</p>"))
	})
	for name, tt := range map[string]struct{ named, want string }{"guessed": {"", ""},
		"named": {"https://mcp.example/metadata", "content type"}} {
		t.Run(name, func(t *testing.T) {
			s, err := New(Options{Server: "files", ServerURL: mcpURL, RoundTripper: inProcess{pages}})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			g := s.guard
			g.Lookup = lookupPublic
			seen := &witness{next: g}
			meta, _, err := protectedResource(t.Context(), g.Client(seen), seen, tt.named, s.url)
			switch {
			case tt.want == "" && (err != nil || !slices.Equal(meta.AuthorizationServers, []string{"https://mcp.example"})):
				t.Errorf("%v, %v", meta, err) // as in 2025-03-26
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("%v, %v", meta, err)
			}
		})
	}
}

// A server at the root of its host: with or without the slash it is the same resource, wherever its metadata is.
func TestResourceAtRoot(t *testing.T) {
	for _, server := range []string{"https://mcp.example", "https://mcp.example/"} {
		for _, resource := range []string{"https://mcp.example", "https://mcp.example/"} {
			for _, named := range []string{"", "/somewhere/else"} {
				t.Run(server+" "+resource+" "+named, func(t *testing.T) {
					live(t, Options{ServerURL: server}, func(t *testing.T, w *world) {
						w.as.resource, w.as.metadataAt = resource, named
						if named == "" {
							w.as.quiet, w.as.metadataAt = true, "/.well-known/oauth-protected-resource"
						}
						if named != "" {
							w.s.last.metadataURL = "https://mcp.example" + named
						}
						if err := w.s.SignIn(t.Context()); err != nil {
							t.Fatal(err)
						}
						if consent, _ := w.asked(); consent[0].Resource != resource {
							t.Errorf("resource %s", consent[0].Resource)
						}
					})
				})
			}
		}
	}
}

// Both the flow and the SDK's handler look at the metadata; it is fetched once, so that both see the same.
func TestMetadataIsFetchedOnce(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.works(t)
		for _, line := range []string{"GET mcp.example/.well-known/oauth-protected-resource/mcp",
			"GET as.example/.well-known/oauth-authorization-server"} {
			if n := w.as.count(line); n != 1 {
				t.Errorf("%s: %d times", line, n)
			}
		}
	})
}

// A challenge of another scheme that cannot be parsed does not hide the ones that count.
func TestUnreadableChallengeIsLeftOut(t *testing.T) {
	c := challengeOf(&http.Response{Header: http.Header{"Www-Authenticate": {
		"Negotiate abcd==", `Bearer realm="x", scope="a b", error="invalid_token"`,
		`Bearer resource_metadata="https://mcp.example/m"`}}})
	if diff := cmp.Diff([]any{"https://mcp.example/m", []string{"a", "b"}, "invalid_token"},
		[]any{c.metadataURL, c.scopes, c.code}); diff != "" {
		t.Error(diff)
	}
}

func TestURLSchemes(t *testing.T) {
	for address, ok := range map[string]bool{
		"https://as.example/authorize?state=x": true,
		"http://127.0.0.1:8080/authorize":      true,
		"http://[::1]:8080/authorize":          true,
		"http://localhost/authorize":           true,
		"http://as.example/authorize":          false,
		"http://127.0.0.1.evil.example/":       false,
		"https://user@as.example/":             false,
		"https://user:pw@as.example/":          false,
		"https:///authorize":                   false,
		"https:as.example":                     false,
		"javascript:alert(1)":                  false,
		"data:text/html,x":                     false,
		"file:///etc/passwd":                   false,
		"vbscript:x":                           false,
		"vscode://as.example/":                 false,
		"//as.example/":                        false,
		"":                                     false,
		"https://as.example/\x7f":              false,
	} {
		if _, err := checkBrowserURL(address); (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// The text of an error of Options.Ask is bounded and printable.
func TestAskerErrorsAreBounded(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.person(func(context.Context, event.SignInQuestion) error { return errors.New(strings.Repeat("x\n", 1000)) })
		if e := fails[*Error](t, w); utf8.RuneCountInString(e.Text) > 2*bounds.PrintableRunes || strings.Contains(e.Text, "\n") {
			t.Errorf("%d bytes: %q", len(e.Text), e.Text)
		}
	})
}
