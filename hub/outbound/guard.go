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
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

const (
	redirectLimit = 3
	lookupLimit   = 5 * time.Second
)

var errLookup = errors.New("the address was not found in time")

// ErrRedirected is returned if an answer redirects a request that is not a GET or HEAD: a code, a refresh token or a
// secret would be sent elsewhere.
var ErrRedirected = errors.New("a redirected token or registration request is not followed")

// AddressError refuses a request to an address that others must not make the hub contact (MCP security best practices,
// SSRF).
type AddressError struct {
	Host string
	Text string
}

func (e *AddressError) Error() string { return bounds.Printable(e.Host) + ": " + e.Text }

// Options are the options of a Guard.
type Options struct {
	// Host is the host that a person has chosen. It may name addresses of its own kind, or more public ones.
	Host string
	// Purpose is what the requests are for, in the words of error messages: "signing in".
	Purpose string
	// Limit is how long one exchange may take, including its body and redirects. MaxBytes bounds the body.
	Limit    time.Duration
	MaxBytes int64
	// RoundTripper sends the requests; nil means connections of the Guard itself.
	RoundTripper http.RoundTripper
}

// Guard sends requests to addresses that come from somebody who may be hostile. The URL of each hop is checked, and
// also the address to which each connection is made, so that a name that resolves differently the second time gains
// nothing. Answers are bounded.
type Guard struct {
	// Lookup returns the addresses of Host. Base sends the requests; nil means connections of the Guard itself. Tests
	// replace them, so that they need no network.
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

// NewGuard returns a Guard. The caller must close it.
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
		// A proxy resolves names itself, and usually has a private address. So for a proxy only the URL can be checked.
		g.proxied = g.direct.Clone()
		g.proxied.DialContext = nil
		g.proxied.Proxy = http.ProxyFromEnvironment
	}
	return g
}

// Client returns a client that sends requests through a transport which is, or ends in, the Guard.
func (g *Guard) Client(through http.RoundTripper) *http.Client {
	return &http.Client{Transport: through, Timeout: g.limit, CheckRedirect: checkRedirect}
}

// Close closes idle connections.
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

// RoundTrip implements http.RoundTripper. It is also called for each hop of a redirect.
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
	case u.Scheme != "https" && (u.Scheme != "http" || !Loopback(host)):
		return &AddressError{Host: host, Text: "only https is used for " + g.purpose + ", but for this computer"}
	}
	allowed := g.reach(ctx)
	if Loopback(host) {
		return g.refuse(host, reachLoopback, allowed)
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return g.refuse(host, kindOf(a), allowed)
	}
	return nil
}

// control is called before each connect, with the resolved address. check was called before, so the reach is known.
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

// reach returns the reach that follows from the addresses of host. It is determined once. A name counts as private only
// if all its addresses are. A name that cannot be resolved counts as public, and is looked up again next time.
func (g *Guard) reach(ctx context.Context) reach {
	g.mu.Lock()
	known, allowed := g.known, g.allowed
	g.mu.Unlock()
	if known {
		return allowed
	}
	if Loopback(g.host) {
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
	least := reachPrivate // a name other than localhost does not allow connections to this computer
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

// TooLongError says that an answer has more bytes than allowed.
type TooLongError struct{ Limit int64 }

func (e *TooLongError) Error() string { return fmt.Sprintf("an answer of more than %d bytes", e.Limit) }

// limited returns an error for a body that is too long; an io.LimitReader would return its beginning as if it were the
// whole.
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

// reach says which addresses may be contacted: those of the same kind as the address of the chosen host, or more public
// ones.
type reach int

const (
	reachPublic reach = iota
	reachPrivate
	reachLoopback
)

func (r reach) String() string { return [...]string{"public", "private", "loopback"}[r] }

// reserved are prefixes of addresses that are not public, but are not recognized by the methods of netip.Addr.
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"), // carrier-grade NAT, RFC 6598
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("2001::/32"),     // Teredo and 6to4 contain an IPv4 address that leads elsewhere
	netip.MustParsePrefix("2001:db8::/32"), // for documentation, as 3fff::/20
	netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("3fff::/20"),
}

var (
	// nat64 is the well-known prefix of RFC 6052, behind which the last four bytes are the IPv4 address that is reached.
	nat64 = netip.MustParsePrefix("64:ff9b::/96")
	// global has all IPv6 addresses that are assigned for the Internet. Whatever else there is belongs to a network: the
	// prefixes of its own translators, for instance (64:ff9b:1::/48 of RFC 8215, ::ffff:0:0:0/96 of RFC 7915), which
	// lead to any IPv4 address, in a place of the address that only the network knows.
	global = netip.MustParsePrefix("2000::/3")
)

// kindOf returns the reach that is needed to contact a.
func kindOf(a netip.Addr) reach {
	a = a.Unmap().WithZone("")
	if nat64.Contains(a) {
		b := a.As16()
		return kindOf(netip.AddrFrom4([4]byte(b[12:])))
	}
	switch {
	case a.IsLoopback():
		return reachLoopback
	case !a.IsValid(), a.Is6() && !global.Contains(a), a.IsPrivate(), a.IsLinkLocalUnicast(), a.IsMulticast(),
		slices.ContainsFunc(reserved, func(p netip.Prefix) bool { return p.Contains(a) }):
		return reachPrivate
	}
	return reachPublic
}
