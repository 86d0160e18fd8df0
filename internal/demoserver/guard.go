package demoserver

import (
	"net"
	"net/http"
	"net/url"
	"strings"
)

func loopbackHost(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// forbidden returns why a request is refused, or "" if it is allowed. A web page must not reach a server on this
// machine, neither from its own origin (the Origin header shows that) nor through a domain name of its own that
// resolves to this machine (the Host header shows that). See 2025-11-25 basic/transports "Security Warning", and
// 2026-07-28 likewise.
func forbidden(r *http.Request, allowRemote bool) string {
	if origin := r.Header.Get("Origin"); origin != "" && !goodOrigin(origin, r.Host, allowRemote) {
		return "Forbidden: the Origin is not this machine"
	}
	if !allowRemote && !goodHost(r.Host, r.Context().Value(http.LocalAddrContextKey)) {
		return "Forbidden: the Host is not this server; use localhost, 127.0.0.1 or [::1] with its port"
	}
	return ""
}

func goodOrigin(origin, host string, allowRemote bool) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	return loopbackHost(u.Hostname()) || allowRemote && strings.EqualFold(u.Host, host)
}

// goodHost also checks the port, if local is a TCP address: local is the server's end of the connection.
func goodHost(hostport string, local any) bool {
	u, err := url.Parse("http://" + hostport)
	if err != nil || u.Host != hostport {
		return false
	}
	if host := u.Hostname(); !strings.EqualFold(host, "localhost") && host != "127.0.0.1" && host != "::1" {
		return false
	}
	addr, ok := local.(*net.TCPAddr)
	if !ok {
		return true
	}
	port := u.Port()
	if port == "" {
		port = "80"
	}
	_, own, err := net.SplitHostPort(addr.String())
	return err == nil && port == own
}
