package outbound

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

// Page is a URL that may be opened in a browser.
type Page struct {
	URL *url.URL
	// Host is the host that a browser would connect to, with the port if the URL has one. Names are in lower case and in
	// punycode (RFC 5891), so that a letter that only looks like another one is visible.
	Host string
}

// CheckPage accepts https URLs, and http URLs of this computer. The error completes "the URL ..."; it quotes only the
// scheme of the URL.
func CheckPage(text string) (Page, error) {
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

// Loopback reports whether the host of a URL is this computer, without looking up the name.
func Loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}

// odd reports characters that browsers remove or replace (WHATWG URL, "URL parsing": tabs, line ends, backslashes), and
// those that are invisible or change the order of text.
func odd(r rune) bool { return r == '\\' || r == ' ' || !unicode.IsPrint(r) }

// names converts names as browsers do (UTS #46, non-transitional). Underscores are allowed, since names of machines
// have them.
var names = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.CheckJoiners(true), idna.CheckHyphens(false),
	idna.StrictDomainName(false),
	idna.VerifyDNSLength(true))

// canonicalHost returns an IP address, or a name in punycode. The result is false if a browser would refuse the host,
// or interpret it as another host.
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
	if a, err := netip.ParseAddr(name); err == nil { // for example fullwidth digits
		return a.String(), true
	}
	// If the last label of a name is a number, browsers parse the name as an IPv4 address in an unusual spelling:
	// 2130706433, 0x7f.1 (WHATWG URL, "ends in a number checker").
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
