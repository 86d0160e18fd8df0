package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// site is one MCP server behind a URL, and the authorization server beside it. Fields are set before use or under mu.
type site struct {
	*fakeserver.Server
	http *fakeserver.HTTP
	host string // 127.0.0.1:n

	mu       sync.Mutex // guards below
	guarded  bool       // it wants a token
	noScheme bool       // its metadata is missing
	tokens   map[string]bool
	codes    map[string]bool
	made     int
	log      []string
	slow     chan struct{} // metadata waits for it
}

// webWorld is a world whose servers are behind URLs. All of it is in memory.
type webWorld struct {
	*world
	sites map[string]*site
	mem   *fakeserver.Memory
	road  *http.Transport

	browsers sync.WaitGroup

	lmu       sync.Mutex // guards listeners and ports
	listeners map[string]*returnListener
	ports     int
}

// newWebWorld makes a site for each server; entries are as for newWorld.
func newWebWorld(t *testing.T, o fakeserver.HTTPOptions, servers map[string]*fakeserver.Server,
	entries ...string) *webWorld {
	t.Helper()
	ww := &webWorld{sites: map[string]*site{}, mem: fakeserver.NewMemory(), listeners: map[string]*returnListener{},
		ports: 40000}
	hosts := map[string]*site{}
	for name, s := range servers {
		at := &site{Server: s, http: fakeserver.NewHTTP(s, o), host: fmt.Sprintf("127.0.0.1:%d", len(hosts)+1),
			tokens: map[string]bool{}, codes: map[string]bool{}}
		ww.sites[name], hosts[at.host] = at, at
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hosts[r.Host].ServeHTTP(w, r)
	})}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(ww.mem)
	}()
	ww.road = ww.mem.RoundTripper()
	t.Cleanup(func() { // after the hub was closed
		ww.browsers.Wait()
		ww.lmu.Lock()
		if n := len(ww.listeners); n != 0 {
			t.Errorf("%d listeners for browsers are left", n)
		}
		ww.lmu.Unlock()
		for _, at := range ww.sites {
			at.http.Close()
		}
		ww.road.CloseIdleConnections()
		_ = server.Close()
		<-served
	})
	ww.world = newWorldWith(t, hub.Options{RoundTripper: ww.road, Listen: ww.listen}, nil)
	ww.configure(entries...)
	return ww
}

// configure loads a config with an entry for each site.
func (w *webWorld) configure(entries ...string) {
	w.t.Helper()
	more := map[string]string{}
	for _, e := range entries {
		name, rest, _ := strings.Cut(e, ":")
		more[name] = "," + rest
	}
	var members []string
	for name, at := range w.sites {
		members = append(members, fmt.Sprintf(`%q:{"type":"http","url":"http://%s/mcp"%s}`, name, at.host, more[name]))
	}
	_, problems, _, err := w.hub.LoadConfig(context.Background(),
		[]hub.ConfigSource{{Scope: "host", Path: "test.json", JSON: `{"mcpServers":{` + strings.Join(members, ",") + `}}`}})
	if err != nil || len(problems) != 0 {
		w.t.Fatal(err, problems)
	}
}

func (s *site) reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// ServeHTTP is the MCP server at its paths and the authorization server at the rest.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p := r.URL.Path; p == fakeserver.PathMCP || p == fakeserver.PathSSE || p == fakeserver.PathMessages {
		s.mu.Lock()
		refused := s.guarded && !s.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
		s.mu.Unlock()
		if refused {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="http://`+s.host+
				`/.well-known/oauth-protected-resource`+r.URL.Path+`"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		s.http.ServeHTTP(w, r)
		return
	}
	base := "http://" + s.host
	s.mu.Lock()
	slow := s.slow
	s.mu.Unlock()
	if slow != nil {
		select {
		case <-slow:
		case <-r.Context().Done():
			return
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, r.URL.Path)
	switch {
	case s.noScheme:
		http.NotFound(w, r)
	case strings.HasPrefix(r.URL.Path, "/.well-known/oauth-protected-resource/"):
		s.reply(w, map[string]any{"resource": base + strings.TrimPrefix(r.URL.Path, "/.well-known/oauth-protected-resource"),
			"authorization_servers": []string{base + "/as"}})
	case r.URL.Path == "/.well-known/oauth-authorization-server/as":
		s.reply(w, map[string]any{
			"issuer": base + "/as", "authorization_endpoint": base + "/authorize", "token_endpoint": base +
				"/token", "registration_endpoint": base + "/register",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
			"token_endpoint_auth_methods_supported": []string{"none"},
		})
	case r.URL.Path == "/register":
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"client_id":"client-1","token_endpoint_auth_method":"none"}`)
	case r.URL.Path == "/authorize":
		q := r.URL.Query()
		s.made++
		code := fmt.Sprintf("code-%d", s.made)
		s.codes[code] = true
		w.Header().Set("Location", q.Get("redirect_uri")+"?"+url.Values{"state": {q.Get("state")}, "code": {code}}.Encode())
		w.WriteHeader(http.StatusFound)
	case r.URL.Path == "/token" && s.codes[r.FormValue("code")]:
		delete(s.codes, r.FormValue("code"))
		s.made++
		token := fmt.Sprintf("token-%d", s.made)
		s.tokens[token] = true
		s.reply(w, map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": 360000})
	default:
		w.WriteHeader(http.StatusBadRequest)
	}
}

// set changes fields while others use the site.
func (s *site) set(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

// visited counts the requests for a path, once nothing moves.
func (s *site) visited(path string) int {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, p := range s.log {
		if p == path {
			n++
		}
	}
	return n
}

// returnListener is the loopback listener that a browser comes back to, in memory.
type returnListener struct {
	*fakeserver.Memory
	w    *webWorld
	addr *net.TCPAddr
	once sync.Once
}

func (l *returnListener) Addr() net.Addr { return l.addr }

func (l *returnListener) Close() error {
	l.once.Do(func() {
		_ = l.Memory.Close()
		l.w.lmu.Lock()
		defer l.w.lmu.Unlock()
		delete(l.w.listeners, l.addr.String())
	})
	return nil
}

func (w *webWorld) listen(_ context.Context, address string) (net.Listener, error) {
	w.lmu.Lock()
	defer w.lmu.Unlock()
	if strings.HasSuffix(address, ":0") {
		w.ports++
		address = fmt.Sprintf("127.0.0.1:%d", w.ports)
	}
	if w.listeners[address] != nil {
		return nil, errors.New("address in use")
	}
	addr, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, err
	}
	l := &returnListener{Memory: fakeserver.NewMemory(), w: w, addr: addr}
	w.listeners[address] = l
	return l, nil
}

// browse is a browser in the background: it opens the page of a prompt, consents there, and comes back.
func (w *webWorld) browse(page string) { w.slowBrowser(page, nil) }

// slowBrowser is browse that calls before, if it is not nil, just before it comes back; then nobody may listen any
// more.
func (w *webWorld) slowBrowser(page string, before func()) {
	w.browsers.Go(func() {
		req, err := http.NewRequest(http.MethodGet, page, nil)
		if err != nil {
			w.t.Error(err)
			return
		}
		resp, err := w.road.RoundTrip(req)
		if err != nil {
			w.t.Error(err)
			return
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		back := resp.Header.Get("Location")
		at, err := url.Parse(back)
		if err != nil || back == "" {
			w.t.Errorf("the browser was sent to %q", back)
			return
		}
		w.lmu.Lock()
		l := w.listeners[at.Host]
		w.lmu.Unlock()
		if l == nil {
			w.t.Errorf("nobody listens at %s", at.Host)
			return
		}
		if before != nil {
			before()
		}
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: l.Dial}}
		if resp, err = client.Get(back); err != nil {
			if before == nil {
				w.t.Error(err)
			}
			return
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	})
}

// person is a window that shows sign-ins, beside everything else.
func (w *webWorld) person() *view {
	return w.attach(hub.Hello{Kinds: append([]event.PromptKind{event.PromptSignIn}, allKinds...), SamplingTools: true})
}

// signIn accepts the open question of a sign-in, and goes through its page with a browser.
func (w *webWorld) signIn(v *view) {
	w.t.Helper()
	p := v.prompt()
	if p.Kind != event.PromptSignIn || p.SignIn.Waiting {
		w.t.Fatalf("the prompt is %+v, %+v", p, p.SignIn)
	}
	v.answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept})
	synctest.Wait() // for the second question, before the browser ends it: a browser that is quicker leaves it out
	w.browse(p.SignIn.URL)
	pass(time.Second) // the listener for the browser looks at times whether its page has been taken
}
