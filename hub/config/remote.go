package config

import (
	"net/textproto"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// The values of Server.Transport.
const (
	TransportStdio = "stdio"
	TransportHTTP  = "http" // Streamable HTTP
	TransportSSE   = "sse"  // HTTP with SSE of revision 2024-11-05
	TransportAuto  = "auto" // a URL without a type: Streamable HTTP is tried first, then SSE
)

// transportOf maps the words for the key "type", for dialects without words of their own.
var transportOf = map[string]string{
	"stdio":           TransportStdio,
	"http":            TransportHTTP,
	"streamable-http": TransportHTTP,
	"streamableHttp":  TransportHTTP,
	"sse":             TransportSSE,
}

// address returns the key that holds the URL; its name is "" if there is none.
func (r *entryReader) address(given map[string]key) key {
	for _, u := range r.dialect.urls {
		if k, ok := given[u.name]; ok {
			return k
		}
	}
	return key{}
}

// kind returns the key that says how the server is reached.
func (r *entryReader) kind(given map[string]key) (k key, ok bool) {
	for _, name := range []string{"type", "transportType", "transport"} {
		if _, known := r.dialect.keys[name]; known {
			if k, ok = given[name]; ok {
				return k, true
			}
		}
	}
	return k, false
}

// transport sets how the server is reached. It reports an unknown type, a type that contradicts the other keys, and a
// command beside a URL. It returns false if the entry has no meaning, so that the rest of it is not read.
func (r *entryReader) transport(given map[string]key) bool {
	url := r.address(given)
	r.urlKey = url
	hasURL := url.name != ""
	command, hasCommand := given["command"]
	kind, typed := r.kind(given)
	if !typed {
		switch {
		case hasURL && hasCommand:
			r.fail(url.at, url.path, "does not belong to a stdio server; remove it, or the command")
			return false
		case hasURL:
			for _, u := range r.dialect.urls {
				if u.name == url.name {
					r.s.Transport = u.transport
				}
			}
		case !hasCommand && r.meantURL(given):
			r.s.Transport = TransportAuto // the key is reported as unknown, and url as missing
		default:
			r.s.Transport = TransportStdio
		}
		if at := map[bool]key{true: url, false: command}[hasURL]; at.name != "" &&
			(r.dialect.typed == typeAlways || hasURL && r.dialect.typed == typeWithURL) {
			r.warn(at.at, at.path, `has no "type" beside it, which %s insists on; the hub does without`, r.dialect.title)
		}
		return true
	}
	name, isText := kind.value.str()
	if !isText {
		r.wrong(kind.value, kind.path, "a string")
		return false
	}
	types := r.dialect.types
	if types == nil {
		types = transportOf
	}
	r.s.Transport = typeNamed(types, name)
	switch {
	case r.s.Transport == "":
		r.fail(kind.value.at(), kind.path, `%s is not a known type; it is %s`, quote(name), r.dialect.typeWords())
		return false
	case r.s.Transport == TransportStdio && hasURL:
		r.fail(url.at, url.path, "does not belong to a stdio server; remove it, or the command")
		return false
	case r.s.Transport != TransportStdio && hasCommand:
		r.fail(command.at, command.path, "does not belong to a server of type %s; remove it, or the type", quote(name))
		return false
	}
	r.mark("transport", kind)
	return true
}

// typeNamed returns the transport of a type. It also accepts "streamable_http" and "Stdio".
func typeNamed(types map[string]string, name string) string {
	if t := types[name]; t != "" || len(name) > 64 {
		return t
	}
	for word, t := range types {
		if plain(word) == plain(name) {
			return t
		}
	}
	return ""
}

// typeWords returns the words that a message suggests.
func (d *dialect) typeWords() string {
	if d.types["remote"] != "" {
		return `"local" or "remote"`
	}
	return `"stdio", "http" or "sse"`
}

// meantURL reports whether there is an address under a key of another application.
func (r *entryReader) meantURL(given map[string]key) bool {
	for name, here := range r.dialect.words {
		if _, ok := given[name]; ok && here == "url" {
			return true
		}
	}
	return false
}

// url reads and checks the address, if this is the key that counts. Messages do not show the address, because its query
// may be secret. The values of references are not known yet: an address that begins with a reference is not checked,
// and every other reference is replaced by a digit, which is valid in any part of an address.
func (r *entryReader) url(k key) {
	key, v := k.path, k.value
	s, ok := v.str()
	if !ok {
		r.wrong(v, key, "a string")
		return
	}
	if k.name != r.urlKey.name {
		r.warn(k.at, key, "is ignored: %q says it too", r.urlKey.path)
		return
	}
	r.note(key, v)
	r.s.URL = s
	r.mark("url", k)
	if refs := r.dialect.reference; refs != nil {
		if at := refs.FindStringIndex(s); at != nil && at[0] == 0 {
			return
		}
		s = refs.ReplaceAllString(s, "1")
	}
	if wrong := wrongURL(s); wrong != "" {
		r.fail(v.at(), key, "%s", wrong)
	}
}

// wrongURL returns what is wrong with an address, without showing it, or "".
func wrongURL(s string) string {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return "is not a URL"
	case u.Scheme != "http" && u.Scheme != "https":
		return "must begin with https:// or http://"
	case u.Hostname() == "":
		return "has no host"
	case !validPort(u.Port()):
		return "has a port that is none: it must be 1 to 65535"
	case u.User != nil:
		return `must not hold a user name or password; put them into "headers", as Authorization`
	case strings.Contains(s, "#"):
		return "must not have a fragment (what begins with #)"
	}
	return ""
}

// hasControls reports whether a text has what the value of a header must not have.
func hasControls(s string) bool {
	return strings.ContainsFunc(s, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f })
}

// reserved are headers that the protocol or HTTP sets. An entry that also sets them would break the connection in ways
// that are hard to find (2025-11-25 basic/transports, 2026-07-28 basic/transports/streamable-http "Request Metadata").
var reserved = map[string]bool{
	"Accept": true, "Content-Type": true, "Mcp-Session-Id": true, "Mcp-Protocol-Version": true, "Mcp-Method": true,
	"Mcp-Name":      true,
	"Last-Event-Id": true, "Host": true, "Content-Length": true, "Content-Encoding": true, "Accept-Encoding": true,
	"Transfer-Encoding": true,
	"Connection":        true, "Keep-Alive": true, "Proxy-Connection": true, "Te": true, "Trailer": true, "Upgrade": true,
	"Expect": true,
}

func isReserved(canonical string) bool {
	return reserved[canonical] || strings.HasPrefix(canonical, "Mcp-Param-")
}

// headers reads an object of strings, and makes the names canonical. Messages never show a value.
func (r *entryReader) headers(k key) {
	members, ok := k.value.object()
	if !ok {
		r.wrong(k.value, k.path, "an object")
		return
	}
	r.s.Header = make(map[string]string, len(members))
	first := make(map[string]string, len(members)) // the name as it is written in the file
	for _, m := range r.distinct(members, r.server, k.path) {
		at := path(k.path, m.name)
		if !r.headerName(m, at) {
			continue
		}
		if m.value.isNull() {
			r.warn(m.at, at, "is null and was ignored: there is nothing that it could remove")
			continue
		}
		s, ok := m.value.str()
		if !ok {
			r.wrong(m.value, at, "a string")
			continue
		}
		r.note(at, m.value)
		if hasControls(s) {
			r.fail(m.value.at(), at, "must not hold control characters or line ends")
			continue
		}
		name := textproto.CanonicalMIMEHeaderKey(m.name)
		if before, twice := first[name]; twice {
			r.warn(m.at, at, "is the same header as %s; the last one counts", quote(before))
		}
		first[name], r.s.Header[name] = m.name, s
		if _, fromEnvironment := r.s.EnvRefs[name]; !fromEnvironment {
			r.mark("headers."+name, key{m, at})
		}
	}
}

// headerName reports whether a header can have this name, and reports a problem if not.
func (r *entryReader) headerName(m member, at string) bool {
	switch {
	case !headerToken.MatchString(m.name):
		r.fail(m.at, at, "the name of a header has letters, digits and !#$%%&'*+-.^_`|~ only")
		return false
	case isReserved(textproto.CanonicalMIMEHeaderKey(m.name)):
		r.fail(m.at, at, "is set by the protocol itself; remove it")
		return false
	}
	return true
}

// headerToken matches a token (RFC 9110, section 5.6.2).
var headerToken = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

// DisplayURL returns the address in a form that may be shown and logged: without user information, query and fragment,
// which may be secret. It returns "" for a stdio server, for an address that Load would have refused, and for one whose
// host is still a reference.
func (s Server) DisplayURL() string {
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
}

// validPort reports whether text is a port; "" is valid, and means that of the scheme.
func validPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return text == "" || err == nil && n > 0
}
