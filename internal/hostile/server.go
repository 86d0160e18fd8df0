// Package hostile contains servers and folders that attack the hub, each with a name: in a test's process over pipes in
// memory or over HTTP, or as a program (hostileserver) for black-box tests and measurements. Its tests run each one
// against the whole hub and its services, and check that others are not affected: a call of another server ends, a
// cancel in another window works, a new window gets its snapshot. They count what was kept, sent and left. How long
// others wait is measured by the bench.
//
// TestHostileClients contains the hostile clients of a gateway.
//
// The servers are made with fakeserver. What must not live here: knowledge of the hub's internals; faults of a single
// layer, which the tests of that layer cover.
package hostile

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// Tool is the tool that starts the attack in every hostile server. Attacks that begin by themselves need no call.
const Tool = "attack"

// Server is a hostile server.
type Server struct {
	*fakeserver.Server
	// Stderr, if set, is called with the writer for the process's stderr, and returns when done is closed.
	Stderr func(w io.Writer, done <-chan struct{})

	mu     sync.Mutex // guards the fields below
	counts map[string]int
	seen   chan struct{} // closed and renewed with each count
}

// behaviour describes a hostile server and how to make it.
type behaviour struct {
	about string
	make  func(s *Server)
	opts  []fakeserver.Option
}

// Names returns the names of all behaviours.
func Names() []string { return slices.Sorted(maps.Keys(behaviours)) }

// About returns the description of a behaviour.
func About(name string) string { return behaviours[name].about }

// New returns the server of that name. It always has the tools echo (which answers at once) and Tool.
func New(name string) (*Server, error) {
	b, ok := behaviours[name]
	if !ok {
		return nil, fmt.Errorf("hostile: no behaviour %q; there are %q", name, Names())
	}
	s := &Server{Server: fakeserver.New(b.opts...), counts: map[string]int{}, seen: make(chan struct{})}
	s.Tool("echo", func(c *fakeserver.CallContext) { c.Text("hello") })
	b.make(s)
	return s, nil
}

// count counts an action of the server or its outcome, for tests.
func (s *Server) count(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[what]++
	close(s.seen)
	s.seen = make(chan struct{})
	return s.counts[what]
}

// Count returns how often something has happened so far. The comment of each behaviour lists what it counts.
func (s *Server) Count(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[what]
}

// Await waits until something has happened the given number of times. It returns false if done is closed before that.
func (s *Server) Await(what string, times int, done <-chan struct{}) bool {
	for {
		s.mu.Lock()
		n, seen := s.counts[what], s.seen
		s.mu.Unlock()
		if n >= times {
			return true
		}
		select {
		case <-seen:
		case <-done:
			return false
		}
	}
}

// Swallow returns addresses of sign-in pages that would hide parameters which the hub adds: with a fragment, or with
// the hub's own parameters.
func Swallow() map[string]string {
	return map[string]string{
		"fragment":  "/authorize#",
		"state":     "/authorize?state=known",
		"client":    "/authorize?client_id=another",
		"redirect":  "/authorize?redirect_ur%69=https://evil.example/",
		"challenge": "/authorize?Code_Challenge=x",
		"request":   "/authorize?request_uri=urn:x",
		"semicolon": "/authorize?a=b;state=known",
	}
}

// Authority returns a server that requires a sign-in, together with its authorization server, whose sign-in page is at
// page.
func Authority(page string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		base := "http://" + r.Host
		reply := func(v any) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(v)
		}
		const resource, authority = "/.well-known/oauth-protected-resource", "/.well-known/oauth-authorization-server/as"
		switch path := r.URL.Path; {
		case strings.HasPrefix(path, resource):
			reply(map[string]any{
				"resource": base + strings.TrimPrefix(path, resource), "authorization_servers": []string{base + "/as"},
			})
		case path == authority:
			reply(map[string]any{
				"issuer": base + "/as", "authorization_endpoint": base + page, "token_endpoint": base + "/token",
				"registration_endpoint": base + "/register", "response_types_supported": []string{"code"},
				"code_challenge_methods_supported":      []string{"S256"},
				"token_endpoint_auth_methods_supported": []string{"none"},
			})
		case path == "/register":
			w.WriteHeader(http.StatusCreated)
			reply(map[string]any{"client_id": "client", "token_endpoint_auth_method": "none"})
		case path == "/mcp":
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+base+resource+path+`"`)
			w.WriteHeader(http.StatusUnauthorized)
		default:
			http.NotFound(w, r)
		}
	})
}

// Config files of a hostile folder: JSON texts for a source of scope workspace.

// ManyServers returns a file with n servers that would all be started at once.
func ManyServers(n int) string {
	return `{"servers":{` + many(n, `"s%[1]d":{"command":"none","args":["%[1]d"],"start":"eager"}`) + `}}`
}

// ManyVariables returns a file with one server that sets n environment variables.
func ManyVariables(n int) string {
	return `{"servers":{"vars":{"command":"none","env":{` + many(n, `"V%[1]d":"%[1]d"`) + `}}}}`
}

// ManyArguments returns a file with one server that has n arguments.
func ManyArguments(n int) string {
	return `{"servers":{"args":{"command":"none","args":[` + strings.TrimSuffix(strings.Repeat(`"a",`, n), ",") + `]}}}`
}

// ManyLazyServers returns a file with n servers that start when they are needed.
func ManyLazyServers(n int) string {
	return strings.ReplaceAll(ManyServers(n), `,"start":"eager"`, "")
}

// many returns n texts with their numbers.
func many(n int, format string) string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(texts, ",")
}
