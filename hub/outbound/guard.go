package outbound

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"syscall"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/browse"
)

const (
	redirectLimit = 3
	lookupLimit   = 5 * time.Second
)

var errLookup = errors.New("the address was not found in time")

// ErrRedirected says that an answer wanted what was sent to be sent elsewhere: a code, a refresh token or a secret
// would go along.
var ErrRedirected = errors.New("a redirected token or registration request is not followed")

// AddressError refuses a request to where others must not send us (MCP security best practices, SSRF).
type AddressError struct {
	Host string
	Text string
}

func (e *AddressError) Error() string { return bounds.Printable(e.Host) + ": " + e.Text }

// Options of a Guard.
type Options struct {
	// Host is whom a person has chosen: what it says may lead to addresses of its own kind, or to more public ones.
	Host string
	// Purpose is what the requests are for, in the words of refusals: "signing in".
	Purpose string
	// Limit is how long one exchange may take, its body and redirects included, and MaxBytes how long its body may be.
	Limit    time.Duration
	MaxBytes int64
	// RoundTripper carries the requests; nil makes connections of our own.
	RoundTripper http.RoundTripper
}

// Guard carries requests to addresses that come from somebody who may be hostile: each hop is checked by its URL, and
// each connection by the address that it really goes to, so that a name which resolves differently the second time
// gains nothing. Answers are bounded.
type Guard struct {
	// Lookup finds the addresses of Host, and Base carries the requests, nil for connections of our own. They are for
	// tests, which keep both in memory.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	Base   http.RoundTripper

	host, purpose string
	limit         time.Duration
	bytes         int64

	direct  *http.Transport
	proxied *http.Transport

	mu      sync.Mutex // guards known and allowed
	known   bool
	allowed reach
}

// NewGuard makes a Guard, to be closed.
func NewGuard(o Options) *Guard {
	g := &Guard{host: o.Host, purpose: o.Purpose, limit: o.Limit, bytes: o.MaxBytes, Base: o.RoundTripper,
		Lookup: func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}}
	if g.Base == nil {
		dialer := &net.Dialer{Timeout: 10 * time.Second, Control: g.control}
		g.direct = &http.Transport{
			DialContext: dialer.DialContext, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second,
			MaxIdleConns: 4, IdleConnTimeout: 30 * time.Second, MaxResponseHeaderBytes: 64 << 10,
		}
		// A proxy looks names up itself, and is itself on a private address as a rule: there only the URL can be checked.
		g.proxied = g.direct.Clone()
		g.proxied.DialContext = nil
		g.proxied.Proxy = http.ProxyFromEnvironment
	}
	return g
}

// Client sends requests through a transport that leads to the Guard, or is it.
func (g *Guard) Client(through http.RoundTripper) *http.Client {
	return &http.Client{Transport: through, Timeout: g.limit, CheckRedirect: checkRedirect}
}

// Close closes the connections that carry nothing.
func (g *Guard) Close() {
	if g.Base == nil {
		g.direct.CloseIdleConnections()
		g.proxied.CloseIdleConnections()
	}
}

func checkRedirect(req *http.Request, via []*http.Request) error {
	switch {
	case via[0].Method != http.MethodGet && via[0].Method != http.MethodHead:
		return ErrRedirected
	case len(via) > redirectLimit:
		return fmt.Errorf("more than %d redirects", redirectLimit)
	case via[len(via)-1].URL.Scheme == "https" && req.URL.Scheme != "https":
		return errors.New("a redirect from https to http is not followed")
	}
	return nil
}

// RoundTrip implements http.RoundTripper. Redirects pass here too, hop by hop.
func (g *Guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := g.check(req.Context(), req.URL); err != nil {
		if req.Body != nil {
			req.Body.Close()
		}
		return nil, err
	}
	resp, err := g.pick(req).RoundTrip(req)
	if err != nil {
		return nil, err
	}
	resp.Body = &limited{ReadCloser: resp.Body, most: g.bytes, left: g.bytes}
	return resp, nil
}

func (g *Guard) pick(req *http.Request) http.RoundTripper {
	if g.Base != nil {
		return g.Base
	}
	if proxy, err := http.ProxyFromEnvironment(req); err == nil && proxy != nil {
		return g.proxied
	}
	return g.direct
}

func (g *Guard) check(ctx context.Context, u *url.URL) error {
	host := u.Hostname()
	switch {
	case host == "":
		return &AddressError{Text: "a URL without a host"}
	case u.User != nil:
		return &AddressError{Host: host, Text: "a URL with a user name in it"}
	case u.Scheme != "https" && (u.Scheme != "http" || !browse.Loopback(host)):
		return &AddressError{Host: host, Text: "only https is used for " + g.purpose + ", but for this computer"}
	}
	allowed := g.reach(ctx)
	if browse.Loopback(host) {
		return g.refuse(host, reachLoopback, allowed)
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return g.refuse(host, kindOf(a), allowed)
	}
	return nil
}

// control runs before each connect, with the address that was resolved. check has run before it, so the reach is known.
func (g *Guard) control(_, address string, _ syscall.RawConn) error {
	a, err := netip.ParseAddrPort(address)
	if err != nil {
		return &AddressError{Host: address, Text: "no IP address"}
	}
	g.mu.Lock()
	allowed := g.allowed
	g.mu.Unlock()
	return g.refuse(a.Addr().String(), kindOf(a.Addr()), allowed)
}

func (g *Guard) refuse(host string, kind, allowed reach) error {
	if kind <= allowed {
		return nil
	}
	return &AddressError{Host: host, Text: fmt.Sprintf("a %s address is not used for %s at a %s one", kind, g.purpose,
		allowed)}
}

// reach is decided once by the server's own address. A name counts as private only if all its addresses are; when it
// cannot be resolved it counts as public, and is looked up again next time.
func (g *Guard) reach(ctx context.Context) reach {
	g.mu.Lock()
	known, allowed := g.known, g.allowed
	g.mu.Unlock()
	if known {
		return allowed
	}
	if browse.Loopback(g.host) {
		return g.learn(reachLoopback)
	}
	if a, err := netip.ParseAddr(g.host); err == nil {
		return g.learn(kindOf(a))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, lookupLimit, errLookup)
	defer cancel()
	addrs, err := g.Lookup(ctx, g.host)
	if err != nil || len(addrs) == 0 {
		return reachPublic
	}
	least := reachPrivate // a name that is not localhost does not open the way to this computer
	for _, a := range addrs {
		least = min(least, kindOf(a))
	}
	return g.learn(least)
}

func (g *Guard) learn(r reach) reach {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.known {
		g.known, g.allowed = true, r
	}
	return g.allowed
}

// TooLongError says that an answer has more bytes than it may have.
type TooLongError struct{ Limit int64 }

func (e *TooLongError) Error() string { return fmt.Sprintf("an answer of more than %d bytes", e.Limit) }

// limited fails a body that is too long, where an io.LimitReader would pass off its beginning as the whole.
type limited struct {
	io.ReadCloser
	most, left int64
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left < 0 {
		return 0, &TooLongError{l.most}
	}
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.ReadCloser.Read(p)
	l.left -= int64(n)
	if l.left < 0 {
		return 0, &TooLongError{l.most}
	}
	return n, err
}
