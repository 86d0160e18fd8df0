package transport

import (
	"encoding/base64"
	"net/http"
	"strings"
)

const userAgent = "mcphub"

// These values are shared by all requests; http.Header.Set replaces a slice and does not write to it.
var (
	jsonType     = []string{"application/json"}
	acceptBoth   = []string{"application/json, text/event-stream"}
	acceptStream = []string{"text/event-stream"}
)

// notOfConfig are the headers that a config cannot set, because the protocol or HTTP itself sets them. The config
// cannot set Mcp-* either.
var notOfConfig = map[string]bool{
	"Accept": true, "Accept-Encoding": true, "Connection": true, "Content-Encoding": true, "Content-Length": true,
	"Content-Type": true,
	"Host":         true, "Keep-Alive": true, "Last-Event-Id": true, "Proxy-Connection": true, "Te": true, "Trailer": true,
	"Transfer-Encoding": true, "Upgrade": true,
}

// configHeader returns the headers that a config may add to each request, and the host that it names, if any.
func configHeader(h http.Header) (header http.Header, host string) {
	header = http.Header{"User-Agent": {userAgent}}
	for name, values := range h {
		name = http.CanonicalHeaderKey(name)
		switch {
		case name == "Host" && len(values) > 0:
			host = values[0]
		case !notOfConfig[name] && !strings.HasPrefix(name, "Mcp-") && len(values) > 0:
			header[name] = values
		}
	}
	return header, host
}

// set adds the headers that every request of the binding carries: the revision (from 2025-06-18 on, after initialize),
// and for legacy the session.
func (b binding) set(h http.Header, session string) {
	if b.revision >= "2025-06-18" {
		h["Mcp-Protocol-Version"] = []string{b.revision}
	}
	if session != "" && !b.modern {
		h["Mcp-Session-Id"] = []string{session}
	}
}

// posted implements dialect.
func (s *Streamable) posted(b binding, session string, m *Message) http.Header {
	h := make(http.Header, len(s.header)+5+len(m.Params))
	for name, values := range s.header {
		h[name] = values
	}
	h["Content-Type"] = jsonType
	h["Accept"] = acceptBoth
	if m.Method == "initialize" && !b.modern {
		return h // it begins a session and negotiates the revision
	}
	b.set(h, session)
	if !b.modern {
		return h
	}
	// 2026-07-28 basic/transports/streamable-http "Request Metadata".
	if m.Method != "" {
		h["Mcp-Method"] = []string{headerValue(m.Method)}
	}
	if m.Name != "" {
		h["Mcp-Name"] = []string{headerValue(m.Name)}
	}
	for name, value := range m.Params {
		if !isToken(name) {
			s.log.Warn("a parameter was not sent as a header: its name is none", "method", m.Method)
			continue
		}
		h[http.CanonicalHeaderKey("Mcp-Param-"+name)] = []string{headerValue(value)}
	}
	return h
}

// streamHeader returns the header of a GET for an event stream. lastID is the event to resume after, "" for none.
func (b binding) streamHeader(s *sender, session, lastID string) http.Header {
	h := s.header.Clone()
	h["Accept"] = acceptStream
	h["Cache-Control"] = []string{"no-cache"}
	b.set(h, session)
	if lastID != "" {
		h["Last-Event-Id"] = []string{lastID}
	}
	return h
}

const (
	sentinelBegin = "=?base64?"
	sentinelEnd   = "?="
)

// headerValue encodes a value for a header. A value that is not plain ASCII, begins or ends with a blank, or looks like
// an encoded value becomes Base64 (2026-07-28 basic/transports/streamable-http "Value Encoding").
func headerValue(v string) string {
	if isPlain(v) && !(strings.HasPrefix(v, sentinelBegin) && strings.HasSuffix(v, sentinelEnd)) {
		return v
	}
	return sentinelBegin + base64.StdEncoding.EncodeToString([]byte(v)) + sentinelEnd
}

func isPlain(v string) bool {
	for _, c := range []byte(v) {
		if c < 0x20 || c > 0x7e {
			return false
		}
	}
	return v == strings.Trim(v, " ")
}

// headerSafe reports whether an HTTP header can carry v unchanged. UTF-8 is allowed.
func headerSafe(v string) bool {
	for _, c := range []byte(v) {
		if c < 0x20 && c != '\t' || c == 0x7f {
			return false
		}
	}
	return v == strings.Trim(v, " \t")
}

// isToken reports whether name is a token (RFC 9110 section 5.6.2).
func isToken(name string) bool {
	for _, c := range []byte(name) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0:
		default:
			return false
		}
	}
	return name != ""
}
