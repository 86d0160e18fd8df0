package outbound

import (
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// Addresses of pages, and the host that people are shown. Finding C6.
func TestCheck(t *testing.T) {
	for text, want := range map[string]string{
		"https://login.example.com/a?b=c#d":    "login.example.com",
		"https://Login.Example.com:8443/":      "login.example.com:8443",
		"https://login.example.com.":           "login.example.com",
		"http://localhost:3000/ui":             "localhost:3000",
		"http://127.0.0.1:3000/":               "127.0.0.1:3000",
		"http://[::1]:3000/":                   "[::1]:3000",
		"https://[2001:db8::1]/":               "[2001:db8::1]",
		"https://192.0.2.1/":                   "192.0.2.1",
		"https://bücher.example/":              "xn--bcher-kva.example",
		"https://B%C3%BCcher.example/":         "xn--bcher-kva.example",
		"https://xn--bcher-kva.example/":       "xn--bcher-kva.example",
		"https://аpple.com/":                   "xn--pple-43d.com", // the first letter is Cyrillic
		"https://ｅｘａｍｐｌｅ.com/":                 "example.com",
		"https://my_host.example/":             "my_host.example",
		"https://r4---sn-abc.example/":         "r4---sn-abc.example",
		"https://example.com/weg/zu/bücher":    "example.com",
		"HTTPS://example.com/":                 "example.com",
		"https://example.com:/":                "example.com",
		"https://example.com?next=javascript:": "example.com",
	} {
		p, err := CheckPage(text)
		if err != nil || p.Host != want || p.URL == nil {
			t.Errorf("%s: host %q, want %q; %v", text, p.Host, want, err)
		}
	}
}

// Addresses that are no page of the web, or whose host could be taken for another one. Finding C6.
func TestCheckRefuses(t *testing.T) {
	for _, text := range []string{
		"",
		"javascript:alert(1)",
		"JavaScript:alert(1)",
		"data:text/html,<script>alert(1)</script>",
		"file:///etc/passwd",
		"file://example.com/etc/passwd",
		"vscode://publisher.extension/run?x",
		"vscode-insiders:x",
		"ms-msdt:/id",
		"about:blank",
		"blob:https://example.com/x",
		"view-source:https://example.com/",
		"ftp://example.com/",
		"//example.com/",
		"example.com",
		"https:example.com",
		"https:///path",
		"https://",
		"https://:443/",
		"http://example.com/",           // not encrypted
		"http://localhost.example.com/", // not this computer
		"https://user@example.com/",
		"https://user:password@example.com/",
		"https://good.example@evil.example/",
		"https://@evil.example/",
		"https://good.example\\@evil.example/",
		"https://good.example\\.evil.example/",
		"https://example.com/a b",
		" https://example.com/",
		"https://example.com/\n",
		"java\tscript:alert(1)",
		"https://example.com/\x00",
		"https://example.com/\x7f",
		"https://example.com/\u202egnp.exe", // reverses what follows
		"https://exam\u200bple.com/",
		"https://exam\u00adple.com/",
		"https://example.com/\xff",
		"https://example.com:0/",
		"https://example.com:99999/",
		"https://example.com:x/",
		"https://2130706433/",
		"http://0x7f.1/",
		"https://127.1/",
		"https://a℀b.example/", // becomes aa/cb
		"https://a%2fb.example/",
		"https://a..example/",
		"https://xn--zz/",
		"https://" + strings.Repeat("a", 64) + ".example/",
		"https://[fe80::1%25eth0]/",
		"https://example.com/" + strings.Repeat("a", bounds.PageURLBytes),
	} {
		if p, err := CheckPage(text); err == nil {
			t.Errorf("%.80q is taken, with the host %q", text, p.Host)
		} else if len(err.Error()) > 200 {
			t.Errorf("%.80q: the error is %d bytes long", text, len(err.Error()))
		}
	}
}

func FuzzCheck(f *testing.F) {
	f.Add("https://bücher.example:8443/a?b#c")
	f.Add("http://[::1]:3000/")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := CheckPage(text)
		if err != nil {
			return
		}
		// A host is accepted as it is shown, and stays the same.
		again, err := CheckPage(p.URL.Scheme + "://" + p.Host + "/")
		if err != nil || again.Host != p.Host {
			t.Errorf("%q: shown as %q, which is read as %q; %v", text, p.Host, again.Host, err)
		}
	})
}
