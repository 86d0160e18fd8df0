package signin

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The fake authority accepts no proof that is not valid. Otherwise the other tests would show nothing.
func TestDPoPFakeIsStrict(t *testing.T) { synctest.Test(t, dpopFakeIsStrict) }

func dpopFakeIsStrict(t *testing.T) {
	key, other := someKey(), func() *ProofKey { k, _ := newProofKey(); return k }()
	at := func(u string) *url.URL { parsed, _ := url.Parse(u); return parsed }
	now := time.Now()
	good := func(k *ProofKey, method, uri, token string, at2 time.Time) string {
		text, err := k.proof(method, at(uri), token, "", at2)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	right := good(key, "POST", mcpURL, "token", now)
	parts, foreign := strings.Split(right, "."), strings.Split(good(other, "POST", mcpURL, "token", now), ".")
	for name, tt := range map[string]struct {
		proofs []string
		want   string
	}{
		"good":          {[]string{right}, ""},
		"none":          {nil, "0 proofs"},
		"two":           {[]string{right, right}, "2 proofs"},
		"no JWT":        {[]string{"x"}, "1 parts"},
		"method":        {[]string{good(key, "GET", mcpURL, "token", now)}, "for GET"},
		"address":       {[]string{good(key, "POST", "https://mcp.example/other", "token", now)}, "/other"},
		"other token":   {[]string{good(key, "POST", mcpURL, "other", now)}, "ath"},
		"no token":      {[]string{good(key, "POST", mcpURL, "", now)}, "ath"},
		"old":           {[]string{good(key, "POST", mcpURL, "token", now.Add(-6*time.Minute))}, "ago"},
		"new":           {[]string{good(key, "POST", mcpURL, "token", now.Add(6*time.Minute))}, "ago"},
		"signature":     {[]string{parts[0] + "." + parts[1] + "." + foreign[2]}, "signature"},
		"other key":     {[]string{foreign[0] + "." + parts[1] + "." + parts[2]}, "signature"},
		"other payload": {[]string{parts[0] + "." + foreign[1] + "." + parts[2]}, "signature"},
	} {
		req, err := http.NewRequest(http.MethodPost, mcpURL, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range tt.proofs {
			req.Header.Add("DPoP", p)
		}
		var d demands
		if _, err := d.verify(req, mcpURL, "token"); (err == nil) != (tt.want == "") || err != nil &&
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
		if tt.want == "" {
			if _, err := d.verify(req, mcpURL, "token"); err == nil || !strings.Contains(err.Error(), "before") {
				t.Errorf("%s, again: %v", name, err)
			}
		}
	}
}

// A nonce that is empty, too long or has characters that it may not have is not used, nor are two in one answer.
func TestDPoPNonceIsChecked(t *testing.T) {
	for name, tt := range map[string]struct {
		values []string
		ok     bool
	}{
		"good": {[]string{"aA0-_.~!#[]"}, true}, "none": {nil, false}, "empty": {[]string{""}, false},
		"two":   {[]string{"a", "b"}, false},
		"blank": {[]string{"a b"}, false}, "quote": {[]string{`a"b`}, false}, "backslash": {[]string{`a\b`}, false},
		"control":   {[]string{"a\x7f"}, false},
		"not ASCII": {[]string{"ä"}, false}, "long": {[]string{strings.Repeat("a", maxNonce)}, true},
		"too long": {[]string{strings.Repeat("a", maxNonce+1)}, false},
	} {
		var n nonces
		if ok := n.note("s", http.Header{"Dpop-Nonce": tt.values}); ok != tt.ok || (n.of("s") != "") != tt.ok ||
			n.of("") != "" {
			t.Errorf("%s: %v, %q", name, ok, n.of("s"))
		}
	}
	var n nonces
	for i := range 100 {
		n.note(fmt.Sprint(i), http.Header{"Dpop-Nonce": {fmt.Sprint("n", i)}})
		if n.of(fmt.Sprint(i)) != fmt.Sprint("n", i) || len(n.newest) > maxNonces {
			t.Fatalf("after %d: %d kept", i, len(n.newest))
		}
	}
}

// Addresses are compared as text by servers, so they are in their normal form.
func TestProofURI(t *testing.T) {
	for in, want := range map[string]string{
		"https://mcp.example/mcp?key=1":    "https://mcp.example/mcp",
		"HTTPS://MCP.Example:443/Mcp#a":    "https://mcp.example/Mcp",
		"http://[::1]:80":                  "http://[::1]/",
		"https://mcp.example:80/a%2Fb/?":   "https://mcp.example:80/a%2Fb/",
		"http://127.0.0.1:443/a;b=c":       "http://127.0.0.1:443/a;b=c",
		"https://user:secret@mcp.example/": "https://mcp.example/",
	} {
		u, err := url.Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := proofURI(u); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// A stored key is read back as the same key; an entry without a valid key is refused.
func TestProofKeyIsStored(t *testing.T) {
	text, err := someKey().MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	var read ProofKey
	if err := read.UnmarshalText(text); err != nil || read.thumbprint != someKey().thumbprint ||
		read.header != someKey().header {
		t.Errorf("%v, %+v", err, read.thumbprint)
	}
	for _, bad := range []string{"", "!", "AAAA", strings.Repeat("A", 43), string(text) + "AA"} {
		if err := new(ProofKey).UnmarshalText([]byte(bad)); err == nil || bad != "" && strings.Contains(err.Error(), bad) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for name, entry := range map[string]string{
		"no key": `{"server":"s","url":"u","issuer":"i","accessToken":"a","tokenType":"DPoP"}`,
		"other type": `{"server":"s","url":"u","issuer":"i","accessToken":"a","tokenType":"mac","proofKey":"` + string(text) +
			`"}`,
		"bad key": `{"server":"s","url":"u","issuer":"i","accessToken":"a","tokenType":"DPoP","proofKey":"AAAA"}`,
	} {
		if e, err := decodeEntry([]byte(entry), Key{"s", "u"}); err == nil {
			t.Errorf("%s: %v", name, e)
		}
	}
}
