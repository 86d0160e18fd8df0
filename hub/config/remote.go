package config

import (
	"net/textproto"
	"net/url"
	"strings"
)

// The values of Server.Transport.
const (
	TransportStdio = "stdio"
	TransportHTTP  = "http" // Streamable HTTP
	TransportSSE   = "sse"  // HTTP with SSE of revision 2024-11-05
	TransportAuto  = "auto" // a URL of which nothing more is said: Streamable HTTP first, else SSE
)

// transportOf maps the words of all dialects for the key "type".
var transportOf = map[string]string{
	"stdio":           TransportStdio,
	"http":            TransportHTTP,
	"streamable-http": TransportHTTP,
	"streamableHttp":  TransportHTTP,
	"sse":             TransportSSE,
}

// transport tells how the server is reached. It reports a type that cannot be, and a command beside a URL; such an entry
// has no meaning, so the rest of it is not read.
func (r *entryReader) transport(keys map[string]member) (transport string, ok bool) {
	url, hasURL := keys["url"]
	command, hasCommand := keys["command"]
	kind, given := keys["type"]
	if !given {
		switch {
		case hasURL && hasCommand:
			r.fail(url.at, "url", "does not belong to a stdio server; remove it, or the command")
			return "", false
		case hasURL:
			return TransportAuto, true
		case !hasCommand && (has(keys, "serverUrl") || has(keys, "httpUrl")):
			return TransportAuto, true // the key is told to be wrong, and url to be missing
		}
		return TransportStdio, true
	}
	name, isText := kind.value.str()
	if !isText {
		r.wrong(kind.value, "type", "a string")
		return "", false
	}
	switch transport = transportOf[name]; {
	case transport == "":
		r.fail(kind.value.at(), "type", `%s is not a known type; it is "stdio", "http" or "sse"`, quote(name))
		return "", false
	case transport == TransportStdio && hasURL:
		r.fail(url.at, "url", "does not belong to a stdio server; remove it, or the command")
		return "", false
	case transport != TransportStdio && hasCommand:
		r.fail(command.at, "command", "does not belong to a server of type %s; remove it, or the type", quote(name))
		return "", false
	}
	return transport, true
}

func has(keys map[string]member, name string) bool {
	_, ok := keys[name]
	return ok
}

// url checks an address. What is wrong is told without showing it: its query may be a secret.
func (r *entryReader) url(key string, v value) string {
	s, ok := v.str()
	if !ok {
		r.wrong(v, key, "a string")
		return ""
	}
	r.noteVariable(key, v)
	u, err := url.Parse(s)
	switch {
	case err != nil:
		r.fail(v.at(), key, "is not a URL")
	case u.Scheme != "http" && u.Scheme != "https":
		r.fail(v.at(), key, "must begin with https:// or http://")
	case u.Hostname() == "":
		r.fail(v.at(), key, "has no host")
	case u.User != nil:
		r.fail(v.at(), key, `must not hold a user name or password; put them into "headers", as Authorization`)
	case strings.Contains(s, "#"):
		r.fail(v.at(), key, "must not have a fragment (what begins with #)")
	}
	return s
}

// reserved are headers that the protocol or HTTP itself sets; an entry that sets them too would break the connection in
// ways that are hard to see (2025-11-25 basic/transports, 2026-07-28 basic/transports/streamable-http "Request Metadata").
var reserved = map[string]bool{
	"Accept": true, "Content-Type": true, "Mcp-Session-Id": true, "Mcp-Protocol-Version": true, "Mcp-Method": true, "Mcp-Name": true,
	"Last-Event-Id": true, "Host": true, "Content-Length": true, "Content-Encoding": true, "Accept-Encoding": true, "Transfer-Encoding": true,
	"Connection": true, "Keep-Alive": true, "Proxy-Connection": true, "Te": true, "Trailer": true, "Upgrade": true, "Expect": true,
}

func isReserved(canonical string) bool {
	return reserved[canonical] || strings.HasPrefix(canonical, "Mcp-Param-")
}

// headers reads an object of strings. Names come out in their canonical form. A value is never shown.
func (r *entryReader) headers(key string, v value) map[string]string {
	members, ok := v.object()
	if !ok {
		r.wrong(v, key, "an object")
		return nil
	}
	out := make(map[string]string, len(members))
	first := make(map[string]string, len(members)) // the name as it was written
	for _, m := range r.distinct(r.doc, members, r.server, key) {
		at := path(key, m.name)
		name := textproto.CanonicalMIMEHeaderKey(m.name)
		switch {
		case !isToken(m.name):
			r.fail(m.at, at, "the name of a header has letters, digits and !#$%%&'*+-.^_`|~ only")
			continue
		case isReserved(name):
			r.fail(m.at, at, "is set by the protocol itself; remove it")
			continue
		case m.value.isNull():
			r.warn(m.at, at, "is null and was ignored: there is nothing that it could remove")
			continue
		}
		s, ok := m.value.str()
		if !ok {
			r.wrong(m.value, at, "a string")
			continue
		}
		r.noteVariable(at, m.value)
		if strings.ContainsFunc(s, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
			r.fail(m.value.at(), at, "must not hold control characters or line ends")
			continue
		}
		if before, twice := first[name]; twice {
			r.warn(m.at, at, "is the same header as %s; the last one counts", quote(before))
		}
		first[name], out[name] = m.name, s
	}
	return out
}

// isToken follows RFC 9110, section 5.6.2.
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0) {
			return false
		}
	}
	return s != ""
}

// DisplayURL is the address as it may be shown and logged: without user information, query and fragment, which may be
// secrets. It is "" for a stdio server, and for an address that Load would have refused.
func (s Server) DisplayURL() string {
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
}
