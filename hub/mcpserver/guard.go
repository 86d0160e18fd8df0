package mcpserver

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// Guard decides which requests the HTTP binding accepts.
type Guard struct {
	// Token is the bearer token that each request must carry; "": none is required.
	Token string
	// Admitted, if set, is called with the connection of each request that may pass, before its body is read. If it
	// returns false, the request is refused with 503. It needs [Watch].
	Admitted func(c net.Conn) bool
}

// turnAway answers a request that may not pass. The answer does not wait for the body, and the connection is closed.
func turnAway(w http.ResponseWriter, status int, text string) {
	bounds.LeaveBody(w)
	http.Error(w, text, status)
}

// admit reports whether a request may pass, and answers it otherwise. The checks of Host and Origin reject web pages
// that reach this address under another name (basic/transports, "Security Warning").
func (g Guard) admit(w http.ResponseWriter, r *http.Request) bool {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if !loopback(host) {
		turnAway(w, http.StatusForbidden, "this server answers on loopback names alone; Host is another")
		return false
	}
	for _, origin := range r.Header.Values("Origin") {
		if u, err := url.Parse(origin); err != nil || !loopback(u.Hostname()) {
			turnAway(w, http.StatusForbidden, "pages of this Origin may not use this server")
			return false
		}
	}
	if !g.hasToken(r) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="mcp"`)
		turnAway(w, http.StatusUnauthorized, "a bearer token is needed, and this is not it")
		return false
	}
	if g.Admitted != nil && !g.Admitted(r.Context().Value(watchedKey{}).(*watched)) {
		turnAway(w, http.StatusServiceUnavailable, "too many clients are connected")
		return false
	}
	return true
}

func (g Guard) hasToken(r *http.Request) bool {
	if g.Token == "" {
		return true
	}
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	// Hash both first, so that the time does not depend on the length, either.
	a, b := sha256.Sum256([]byte(strings.TrimSpace(given))), sha256.Sum256([]byte(g.Token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1 && strings.EqualFold(scheme, "Bearer")
}

func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && a.IsLoopback()
}
