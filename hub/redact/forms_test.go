package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// A secret is found within a longer text in each of the common encodings, wherever it stands there. Finding C8.
func TestRedactorFindsEncodedSecrets(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 8))
	for range 200 {
		raw := make([]byte, minEncoded+rnd.IntN(40))
		for i := range raw {
			raw[i] = byte(33 + rnd.IntN(94))
		}
		secret := string(raw)
		before, after := strings.Repeat("x", rnd.IntN(7)), strings.Repeat("y", rnd.IntN(7))
		text := before + secret + after
		r := &Redactor{}
		r.Add(secret)
		digits := hex.EncodeToString([]byte(text))
		for name, encoded := range map[string]string{
			"hex":              digits,
			"hex, upper case":  strings.ToUpper(digits),
			"base64":           base64.StdEncoding.EncodeToString([]byte(text)),
			"base64, unpadded": base64.RawStdEncoding.EncodeToString([]byte(text)),
			"base64, of URLs":  base64.URLEncoding.EncodeToString([]byte(text)),
			"URL":              url.QueryEscape(text),
			"URL, lower case":  percentDigits(url.QueryEscape(text), strings.ToLower),
			"URL, each byte":   percentAll(digits),
			"path":             url.PathEscape(text),
			"lower case":       strings.ToLower(text),
			"upper case":       strings.ToUpper(text),
		} {
			got := r.Text("a " + encoded + " b")
			left := strings.Replace(got, redactedText, "", 1)
			// What may be left is what stands before and after, and the characters of base64 that the secret shares with them.
			if got == "a "+encoded+" b" || len(left) > len("a  b")+(len(before)+len(after))*3+6 {
				t.Fatalf("%s of %q became %q", name, text, got)
			}
		}
	}
}

// A secret that bounds.Printable has escaped for a line of the log is found.
func TestRedactorFindsPrintableSecrets(t *testing.T) {
	const secret = "a\"b\\c\n\x1b[31m\U000e0001/ü\xff."
	r := &Redactor{}
	r.Add(secret)
	if got := r.Text("it is " + bounds.Printable(secret) + "; so"); got != "it is [redacted]; so" {
		t.Error(got)
	}
}

// Encodings of a short secret are left as they are: they would be met by chance. Finding C8.
func TestRedactorLeavesEncodedShortTexts(t *testing.T) {
	r := &Redactor{}
	r.Add("abcdefg")
	for _, text := range []string{hex.EncodeToString([]byte("abcdefg")),
		base64.StdEncoding.EncodeToString([]byte("abcdefg")), "ABCDEFG", "abc\ndefg"} {
		if got := r.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// A line may be wrapped at a space that neither of the two has then. Finding C8.
func TestRedactorFindsHalvesThatAreWrapped(t *testing.T) {
	r := &Redactor{}
	r.Add("correct horse battery staple")
	for name, lines := range map[string][]string{
		"the space at the end": {"it is correct horse ", "battery staple."},
		"no space":             {"it is correct horse", "battery staple."},
		"three lines":          {"it is correct horse", "  battery", "  staple."},
	} {
		halves := Lines{redactor: r}
		var all string
		for _, line := range lines {
			all += halves.Line(line) + "\n"
		}
		for _, word := range []string{"correct", "horse", "battery", "staple"} {
			if strings.Contains(all, word) {
				t.Errorf("%s: %q", name, all)
				break
			}
		}
	}
}

// A secret that is spread over lines is hidden, whether they come one by one or at once. Finding C8.
func TestRedactorFindsHalves(t *testing.T) {
	const secret = "sk-0123456789-ABCDEFGHIJ-klmnopqrst"
	r := &Redactor{}
	r.Add(secret)
	for name, c := range map[string]struct{ in, want []string }{
		"two halves": {[]string{"key " + secret[:16], secret[16:] + " end"},
			[]string{"key [redacted]", "[redacted] end"}},
		"three, indented": {[]string{"key: " + secret[:12], "  " + secret[12:20], "  " + secret[20:] + ","},
			[]string{"key: [redacted]", "  [redacted]", "  [redacted],"}},
		"CR": {[]string{secret[:16] + "\r", secret[16:] + "\r"},
			[]string{"[redacted]\r", "[redacted]\r"}},
		"a half alone": {[]string{"begins " + secret[:minEncoded], "other"},
			[]string{"begins [redacted]", "other"}},
		"too little to say": {[]string{"begins " + secret[:minEncoded-1], "other"},
			[]string{"begins " + secret[:minEncoded-1], "other"}},
		"its second half without the first": {[]string{"a", secret[16:]}, []string{"a", secret[16:]}},
		"base64, wrapped": {
			[]string{base64.StdEncoding.EncodeToString([]byte(secret))[:24],
				base64.StdEncoding.EncodeToString([]byte(secret))[24:]},
			[]string{"[redacted]", "[redacted]Q="},
		},
	} {
		halves := Lines{redactor: r}
		var got []string
		for _, line := range c.in {
			got = append(got, halves.Line(line))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q became %q, want %q", name, c.in, got, c.want)
		}
		if got := r.Text(strings.Join(c.in, "\n")); got != strings.Join(c.want, "\n") {
			t.Errorf("%s, at once: %q", name, got)
		}
	}
}

// Log messages stay JSON, and come byte for byte where there is nothing to hide. Finding C8.
func TestRedactorJSON(t *testing.T) {
	r := &Redactor{}
	r.Add("tok-1234-abcd", "31415926", "say \"hi\"\nto all of them")
	for in, want := range map[string]string{
		`{"b": 1.0,  "a":"no\tsecret"}`:                        `{"b": 1.0,  "a":"no\tsecret"}`,
		`"key tok-1234-abcd"`:                                  `"key [redacted]"`,
		`{"b":1.0,"a":["tok-1234-abcd"]}`:                      `{"b":1.0,"a":["[redacted]"]}`,
		`"key \u0074ok-1234-\u0061bcd"`:                        `"key [redacted]"`,
		`{"tok-1234-abcd":{"x\u0079":"<\u0074ok-1234-abcd>"}}`: `{"[redacted]":{"xy":"<[redacted]>"}}`,
		`{"pin":31415926}`:                                     `{"pin":"[redacted]"}`,
		`"say \"hi\"\nto all of them"`:                         `"[redacted]"`,
		`"one tok-1234-\nabcd two"`:                            `"one [redacted]\n[redacted] two"`,
		`"dG9rLTEyMzQtYWJjZA=="`:                               `"[redacted]A=="`,
		``:                                                     ``,
	} {
		got := r.JSON(in)
		if got != want || in != "" && !json.Valid([]byte(got)) {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
	}
}

// A text and a secret that repeat themselves cost no more than others: the rest is replaced unread. Finding C8.
func TestRedactorWorkIsBounded(t *testing.T) {
	r := &Redactor{}
	r.Add(strings.Repeat("a", 8000) + "b")
	text := strings.Repeat("a", 1<<20)
	got := r.Text(text)
	if !strings.HasSuffix(got, redactedText) || len(got) > len(text)/10 {
		t.Errorf("%d bytes are left, which end with %q", len(got), got[max(0, len(got)-20):])
	}
	if got := NewLines(r).Line(strings.Repeat("a", 8<<10)); !strings.HasSuffix(got, redactedText) {
		t.Errorf("a line ends with %q", got[max(0, len(got)-20):])
	}
}
