package core

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcphub-go/mcphub/hub/event"
)

// address is an address in its one plain form.
type address struct{ scheme, host, port, path string }

// plainAddress reads an address that can be read in one way only: an ASCII host, no user, no fragment, no escapes, no
// dot segments, no doubled or backward slashes. The default port is left out.
func plainAddress(s string) (a address, ok bool) {
	scheme, rest, ok := strings.Cut(s, "://")
	a.scheme = strings.ToLower(scheme)
	if !ok || a.scheme != "http" && a.scheme != "https" {
		return a, false
	}
	at := strings.IndexAny(rest, "/?#")
	if at < 0 {
		at = len(rest)
	}
	a.host, a.path = rest[:at], rest[at:]
	if i := strings.LastIndexByte(a.host, ':'); i >= 0 {
		a.host, a.port = a.host[:i], a.host[i+1:]
		if n, err := strconv.Atoi(a.port); err != nil || strconv.Itoa(n) != a.port || n < 1 || n > 65535 {
			return a, false
		}
	}
	if a.port == defaultPort(a.scheme) {
		a.port = ""
	}
	a.host = strings.ToLower(a.host)
	if !strings.HasPrefix(a.path, "/") {
		a.path = "/" + a.path
	}
	path, _, _ := strings.Cut(a.path, "?")
	segments := strings.Split(path[1:], "/")
	plain := all(a.path, func(c byte) bool { return c > ' ' && c < 0x7f }) && !strings.ContainsAny(a.path, "\\%#@")
	return a, plain && isHost(a.host) && !slices.Contains(segments, ".") && !slices.Contains(segments, "..") &&
		!slices.Contains(segments[:len(segments)-1], "")
}

func defaultPort(scheme string) string {
	if scheme == "https" {
		return "443"
	}
	return "80"
}

// isHost reports whether a text is the name of a host in ASCII and lower case, or an IPv4 address. Names in punycode
// are none: they may look like other names.
func isHost(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if !all(label, func(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' }) ||
			label[0] == '-' || label[len(label)-1] == '-' || strings.HasPrefix(label, "xn--") {
			return false
		}
	}
	return true
}

// isAddress reports whether an address is the one of a rule, or within it: a rule may end in "/*" for all below it, and
// its host may begin with "*." for all below that.
func isAddress(rule, s string) bool {
	wild := strings.Contains(rule, "://*.")
	want, ok := plainAddress(strings.Replace(rule, "://*.", "://", 1))
	if !ok {
		return false
	}
	got, ok := plainAddress(s)
	if !ok || got.scheme != want.scheme || got.port != want.port {
		return false
	}
	if wild && !strings.HasSuffix(got.host, "."+want.host) || !wild && got.host != want.host {
		return false
	}
	if below, all := strings.CutSuffix(want.path, "*"); all && strings.HasSuffix(below, "/") {
		return strings.HasPrefix(got.path, below) || got.path+"/" == below
	}
	return got.path == want.path
}

// isAddressRule reports whether a text can be the address of a rule.
func isAddressRule(s string) bool {
	a, ok := plainAddress(strings.Replace(s, "://*.", "://", 1))
	return ok && !strings.Contains(strings.TrimSuffix(a.path, "/*"), "*")
}

// mayBeAddress reports whether a launch may reach the address of a rule, or what is below it: by http or https, by any
// port, also as an argument of a program.
func mayBeAddress(rule string, id *event.LaunchIdentity, words *launchWords) bool {
	wild := strings.Contains(rule, "://*.")
	want, ok := plainAddress(strings.Replace(rule, "://*.", "://", 1))
	if !ok {
		return true
	}
	want.path, _, _ = strings.Cut(want.path, "?")
	want.path = strings.TrimRight(strings.TrimSuffix(want.path, "*"), "/")
	if id.URL != "" {
		return looseAddress(want, wild, id.URL)
	}
	for _, word := range words.addresses {
		if strings.Contains(word.plain, want.host) && looseAddress(want, wild, word.text) {
			return true
		}
	}
	return false
}

// looseAddress compares an address with a rule after all that could make it look different is taken away. An address
// whose host cannot be read for sure is taken for the one of the rule.
func looseAddress(want address, wild bool, s string) bool {
	s = strings.ReplaceAll(strings.ToLower(s), `\`, "/")
	if i := strings.Index(s, "://"); i >= 0 {
		s = s[i+3:]
	}
	at := strings.IndexAny(s, "/?#")
	if at < 0 {
		at = len(s)
	}
	host, path := unescaped(s[:at]), unescaped(s[at:])
	host = host[strings.LastIndexByte(host, '@')+1:]
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.Contains(host, "]") {
		host = host[:i]
	}
	host = strings.TrimRight(host, ".")
	switch {
	case !all(host, func(c byte) bool { return c > ' ' && c < 0x7f }) || strings.Contains(host, "xn--"):
	case wild && !strings.HasSuffix(host, "."+want.host) && host != want.host, !wild && host != want.host:
		return false
	}
	path, _, _ = strings.Cut(path, "?")
	path = plainPath(path)
	return want.path == "" || path == strings.ToLower(want.path) || strings.HasPrefix(path, strings.ToLower(want.path)+"/")
}

// plainPath returns a path without empty and dot segments.
func plainPath(path string) string {
	var kept []string
	for segment := range strings.SplitSeq(path, "/") {
		switch segment {
		case "", ".":
		case "..":
			kept = kept[:max(0, len(kept)-1)]
		default:
			kept = append(kept, segment)
		}
	}
	return "/" + strings.Join(kept, "/")
}

// unescaped replaces percent escapes, in lower case, also doubled ones.
func unescaped(s string) string {
	for range 3 {
		var b strings.Builder
		for i := 0; i < len(s); i++ {
			if s[i] == '%' && i+2 < len(s) {
				if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
					b.WriteByte(byte(n))
					i += 2
					continue
				}
			}
			b.WriteByte(s[i])
		}
		if b.Len() == len(s) {
			break
		}
		s = strings.ToLower(b.String())
	}
	return s
}
