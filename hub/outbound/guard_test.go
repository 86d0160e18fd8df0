package outbound

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/faketime"
)

const testBytes = 1 << 20

func newGuard(host string, base http.RoundTripper) *Guard {
	return NewGuard(Options{Host: host, Purpose: "signing in", Limit: faketime.Long, MaxBytes: testBytes,
		RoundTripper: base})
}

func lookupPublic(context.Context, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("203.0.113.7")}, nil
}

// inProcess answers by a handler, without a connection.
type inProcess struct{ handler http.Handler }

func (p inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	p.handler.ServeHTTP(w, req)
	resp := w.Result()
	resp.Request = req
	return resp, nil
}

func TestKindOf(t *testing.T) {
	for text, want := range map[string]reach{
		"203.0.113.7": reachPublic, "8.8.8.8": reachPublic, "2606:4700::1111": reachPublic, "64:ff9b::808:808": reachPublic,
		"10.0.0.1": reachPrivate, "172.16.0.1": reachPrivate, "192.168.1.1": reachPrivate, "169.254.169.254": reachPrivate,
		"100.64.0.1": reachPrivate, "0.0.0.0": reachPrivate, "0.1.2.3": reachPrivate, "224.0.0.1": reachPrivate,
		"255.255.255.255": reachPrivate,
		"198.18.0.1":      reachPrivate, "192.0.0.8": reachPrivate, "::": reachPrivate, "fe80::1": reachPrivate,
		"fe80::1%eth0": reachPrivate,
		"fd00::1":      reachPrivate, "fc00::1": reachPrivate, "ff02::1": reachPrivate, "::ffff:10.0.0.1": reachPrivate,
		"::10.0.0.1":     reachPrivate,
		"64:ff9b::a00:1": reachPrivate, "2002:a00:1::": reachPrivate, "2001::1": reachPrivate, "fec0::1": reachPrivate,
		"127.0.0.1": reachLoopback, "127.9.9.9": reachLoopback, "::1": reachLoopback, "::ffff:127.0.0.1": reachLoopback,
		"64:ff9b::7f00:1":   reachLoopback,
		"64:ff9b:1::7f00:1": reachPrivate, "64:ff9b:1:7f00:0:100::": reachPrivate, "64:ff9b:1::808:808": reachPrivate,
		"::ffff:0:7f00:1": reachPrivate, "::ffff:0:a00:1": reachPrivate, "::ffff:0:808:808": reachPrivate,
		"5f00::1": reachPrivate, "3fff::1": reachPrivate, "2001:db8::1": reachPrivate, "4000::1": reachPrivate,
	} {
		if got := kindOf(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// A server may lead only to addresses as public as its own, or more so; here by URL.
func TestPrivateAddressesRefused(t *testing.T) {
	const public, private, loopback = "mcp.example", "192.168.1.5", "127.0.0.1"
	tests := []struct {
		server, url string
		ok          bool
	}{
		{public, "https://as.example/", true},
		{public, "http://as.example/", false},
		{public, "https://10.0.0.1/", false},
		{public, "https://169.254.169.254/latest/meta-data/", false},
		{public, "https://[fd00::1]/", false},
		{public, "https://127.0.0.1/", false},
		{public, "http://localhost:8080/", false},
		{public, "https://user@as.example/", false},
		{public, "ftp://as.example/", false},
		{private, "https://10.0.0.1/", true},
		{private, "https://as.example/", true},
		{private, "https://127.0.0.1/", false},
		{private, "http://10.0.0.1/", false},
		{loopback, "http://127.0.0.1:9/", true},
		{loopback, "http://localhost:9/", true},
		{loopback, "https://10.0.0.1/", true},
		{loopback, "http://10.0.0.1/", false},
		{"localhost", "http://[::1]:9/", true},
	}
	for _, tt := range tests {
		g := newGuard(tt.server, inProcess{http.NotFoundHandler()})
		g.Lookup = lookupPublic
		resp, err := g.Client(g).Get(tt.url)
		var refused *AddressError
		if (err == nil) != tt.ok || err != nil && !errors.As(err, &refused) {
			t.Errorf("%s to %s: %v", tt.server, tt.url, err)
		}
		if err == nil {
			resp.Body.Close()
		}
	}
}

// A public name that leads to a private address is stopped when it is dialled: what a lookup said before does not
// count.
func TestPrivateAddressesRefusedWhenDialled(t *testing.T) {
	var reached bool
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer server.Close()
	g := newGuard("mcp.example", nil)
	defer g.Close()
	g.Lookup = lookupPublic
	g.reach(t.Context())
	// The transport is used without the check by URL, as for a name that changes its address after that.
	resp, err := g.direct.RoundTrip(httptest.NewRequest(http.MethodGet, server.URL, nil))
	var refused *AddressError
	if !errors.As(err, &refused) || reached {
		t.Errorf("%v, %v, reached %v", resp, err, reached)
	}

	near := newGuard("127.0.0.1", nil)
	defer near.Close()
	resp, err = near.Client(near).Get(server.URL)
	if err != nil || !reached {
		t.Fatalf("%v, reached %v", err, reached)
	}
	resp.Body.Close()
}

// How far a server's own name reaches: the most public of its addresses counts, once and for all, and a name is never
// loopback.
func TestReachOfNames(t *testing.T) {
	tests := map[string]struct {
		addrs []string
		want  reach
	}{
		"public":  {[]string{"203.0.113.7"}, reachPublic},
		"private": {[]string{"10.0.0.1", "fd00::1"}, reachPrivate},
		"mixed":   {[]string{"10.0.0.1", "203.0.113.7"}, reachPublic},
		"itself":  {[]string{"127.0.0.1"}, reachPrivate},
		"unknown": {nil, reachPublic},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			g := newGuard("mcp.example", inProcess{})
			g.Lookup = func(context.Context, string) ([]netip.Addr, error) {
				var all []netip.Addr
				for _, a := range tt.addrs {
					all = append(all, netip.MustParseAddr(a))
				}
				return all, nil
			}
			if got := g.reach(t.Context()); got != tt.want {
				t.Errorf("%v", got)
			}
			g.Lookup = func(context.Context, string) ([]netip.Addr, error) {
				return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
			}
			if got := g.reach(t.Context()); tt.addrs != nil && got != tt.want {
				t.Errorf("then %v", got)
			}
		})
	}
}

func redirecting(to string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(to, "?") {
			w.Header().Set("Location", r.URL.Path+"x")
		} else {
			w.Header().Set("Location", to)
		}
		w.WriteHeader(http.StatusTemporaryRedirect)
	})
}

func TestRedirectToPrivateRefused(t *testing.T) {
	for name, tt := range map[string]struct{ method, to string }{
		"private":   {http.MethodGet, "https://10.0.0.1/"},
		"loopback":  {http.MethodGet, "https://localhost/"},
		"downgrade": {http.MethodGet, "http://as.example/"},
		"endless":   {http.MethodGet, "?"},
		"with code": {http.MethodPost, "https://elsewhere.example/"},
		"scheme":    {http.MethodGet, "file:///etc/passwd"},
	} {
		t.Run(name, func(t *testing.T) {
			var hops int
			g := newGuard("mcp.example", inProcess{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				hops++
				if r.URL.Host != "as.example" || r.URL.Scheme != "https" {
					t.Errorf("%s was asked", r.URL)
				}
				redirecting(tt.to).ServeHTTP(w, r)
			})})
			g.Lookup = lookupPublic
			req, _ := http.NewRequest(tt.method, "https://as.example/token", strings.NewReader("code=secret"))
			if resp, err := g.Client(g).Do(req); err == nil {
				resp.Body.Close()
				t.Error("followed")
			}
			if hops > redirectLimit+1 {
				t.Errorf("%d hops", hops)
			}
		})
	}
}

// On loopback plain http is allowed, and all the same https does not lead to it.
func TestRedirectDowngradeRefused(t *testing.T) {
	g := newGuard("localhost", inProcess{redirecting("http://localhost/")})
	if resp, err := g.Client(g).Get("https://localhost/"); err == nil ||
		!strings.Contains(err.Error(), "from https to http") {
		t.Errorf("%v, %v", resp, err)
	}
}

func TestAnswerTooLong(t *testing.T) {
	for size, ok := range map[int]bool{testBytes: true, testBytes + 1: false} {
		g := newGuard("mcp.example", inProcess{http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(make([]byte, size))
		})})
		g.Lookup = lookupPublic
		resp, err := g.Client(g).Get("https://as.example/")
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if (err == nil) != ok || n > testBytes {
			t.Errorf("%d bytes: got %d, %v", size, n, err)
		}
	}
}
