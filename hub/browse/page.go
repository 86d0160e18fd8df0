package browse

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// Page is a URL that may be handed to a browser.
type Page struct {
	URL *url.URL
	// Host is the host that a browser would connect to, with the port if one is written: names in lower case and in
	// punycode (RFC 5891), so that a letter which only looks like another one shows.
	Host string
}

// Check takes https URLs, and http ones of this computer. The error completes "the URL ..."; it quotes no more of the
// URL than its scheme.
func Check(text string) (Page, error) {
	if len(text) > bounds.PageURLBytes {
		return Page{}, fmt.Errorf("is longer than %s", bounds.Bytes(bounds.PageURLBytes))
	}
	if !utf8.ValidString(text) || strings.ContainsFunc(text, odd) {
		return Page{}, errors.New("has characters in it that no URL has: spaces, backslashes or invisible ones")
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return Page{}, errors.New("is not valid")
	case u.Scheme != "https" && u.Scheme != "http":
		return Page{}, fmt.Errorf("has the scheme %q: only https is opened, and http on this computer", clip(u.Scheme))
	case u.User != nil:
		return Page{}, errors.New("has a user name in it")
	case u.Opaque != "" || u.Hostname() == "":
		return Page{}, errors.New("has no host")
	}
	host, ok := canonicalHost(u.Hostname())
	if !ok {
		return Page{}, errors.New("has a host that is not valid")
	}
	if u.Scheme == "http" && !Loopback(host) {
		return Page{}, errors.New("is not encrypted: only https is opened, and http on this computer")
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return Page{}, errors.New("has a port that is not valid")
		}
		host += ":" + port
	}
	return Page{URL: u, Host: host}, nil
}

// Loopback reports whether a URL's host is this computer by its name alone.
func Loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}

// odd finds what browsers take out or read as something else (WHATWG URL, "URL parsing": tabs, line ends, backslashes),
// and what cannot be seen or turns the order of what is shown.
func odd(r rune) bool { return r == '\\' || r == ' ' || !unicode.IsPrint(r) }

// names converts as browsers do (UTS #46, non-transitional). Underscores are let through: names of machines have them.
var names = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.CheckJoiners(true), idna.CheckHyphens(false),
	idna.StrictDomainName(false),
	idna.VerifyDNSLength(true))

// canonicalHost gives an IP address or a name in punycode; false: a browser would refuse it, or find another host in
// it.
func canonicalHost(host string) (string, bool) {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.String(), a.Zone() == ""
	}
	if strings.Contains(host, ":") || !utf8.ValidString(host) || strings.ContainsFunc(host, odd) {
		// percent-encoded in the URL
		return "", false
	}
	name, err := names.ToASCII(strings.TrimSuffix(host, "."))
	if err != nil || name == "" || strings.ContainsFunc(name, func(r rune) bool {
		return r != '-' && r != '.' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z')
	}) {
		return "", false
	}
	if a, err := netip.ParseAddr(name); err == nil { // fullwidth digits, for one
		return a.String(), true
	}
	// A name whose last label is a number is read as an IPv4 address in one of its odd spellings: 2130706433, 0x7f.1
	// (WHATWG URL, "ends in a number checker").
	last := name[strings.LastIndexByte(name, '.')+1:]
	hex, isHex := strings.CutPrefix(last, "0x")
	if strings.Trim(last, "0123456789") == "" || isHex && strings.Trim(hex, "0123456789abcdef") == "" {
		return "", false
	}
	return name, true
}

func clip(scheme string) string {
	const most = 32
	if len(scheme) > most {
		return scheme[:most] + "..."
	}
	return scheme
}
