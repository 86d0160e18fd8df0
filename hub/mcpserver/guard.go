package mcpserver

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// Guard decides which requests the HTTP binding accepts.
type Guard struct {
	// Token is the bearer token that each request must carry; "": none is required.
	Token string
}

// admit reports whether a request may pass, and answers it otherwise. The checks of Host and Origin reject web pages
// that reach this address under another name (basic/transports, "Security Warning").
func (g Guard) admit(w http.ResponseWriter, r *http.Request) bool {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if !loopback(host) {
		http.Error(w, "this server answers on loopback names alone; Host is another", http.StatusForbidden)
		return false
	}
	for _, origin := range r.Header.Values("Origin") {
		if u, err := url.Parse(origin); err != nil || !loopback(u.Hostname()) {
			http.Error(w, "pages of this Origin may not use this server", http.StatusForbidden)
			return false
		}
	}
	if g.Token == "" {
		return true
	}
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	// Hash both first, so that the time does not depend on the length, either.
	a, b := sha256.Sum256([]byte(strings.TrimSpace(given))), sha256.Sum256([]byte(g.Token))
	if subtle.ConstantTimeCompare(a[:], b[:]) == 1 && strings.EqualFold(scheme, "Bearer") {
		return true
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="mcp"`)
	http.Error(w, "a bearer token is needed, and this is not it", http.StatusUnauthorized)
	return false
}

func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && a.IsLoopback()
}
