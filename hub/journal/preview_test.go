package journal

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/redact"
)

func TestArguments(t *testing.T) {
	var r redact.Redactor
	r.Add("hunter2hunter2")
	long := strings.Repeat("a", 100_000)
	for _, test := range []struct{ name, arguments, want string }{
		{"none", ``, ``},
		{"no members", `{}`, ``},
		{"in their order", ` {"path": "/tmp/x", "line": 1.50, "deep": {"a": [1, true, null]}, "n": {}}`,
			`path: "/tmp/x", line: 1.50, deep: {a: [1, true, null]}, n: {}`},
		{"a text of several lines", `{"text":"one\ntwo\u202e\"three\""}`, `text: "one\ntwo\u202e"three""`},
		{"a known secret, wherever", `{"url":"http://x/?k=hunter2hunter2","hunter2hunter2":1}`,
			`url: "http://x/?k=[redacted]", [redacted]: 1`},
		{"a known secret with an escape", `{"a":"hunter2\u0068unter2"}`, `a: "[redacted]"`},
		{"names of secrets", `{"api_key":"abc","max_tokens":5,"accessToken":{"x":[1,{}]},"Password":7,"b":1}`,
			`api_key: [redacted], max_tokens: 5, accessToken: [redacted], Password: [redacted], b: 1`},
		{"a long text", `{"text":"` + long + `","b":1}`, `text: "` + strings.Repeat("a", 79) + `…", b: 1`},
		{"a long text with escapes", `{"b":2,"text":"` + strings.Repeat(`\u00e9`, 9000) + `"}`,
			`b: 2, text: "` + strings.Repeat("é", 79) + `…"`},
		{"a long name", `{"` + long + `":1}`, strings.Repeat("a", 39) + `…: [redacted]`},
		{"deep", `{"a":{"b":{"c":{"d":{"x":[1]}}}},"e":2}`, `a: {b: {c: {d: {…}}}}, e: 2`},
		{"no JSON", `{0 0`, `…`},
		{"a list that is too long", `{"a":[` + strings.Repeat("1,", 5000) + `1]}`,
			"a: [" + strings.Repeat("1, ", 65) + "…"},
	} {
		if got := PreviewArguments(test.arguments, &r); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
	}
}

func TestSecretThatIsCutIsNotShownInPart(t *testing.T) {
	var r redact.Redactor
	secret := "s3cr3t" + strings.Repeat("0123456789", 100)
	r.Add(secret)
	for before := range 600 {
		got := PreviewArguments(`{"a":"`+strings.Repeat("-", before)+secret+`"}`, &r)
		if strings.Contains(got, "s3cr") {
			t.Fatalf("after %d bytes: %s", before, got)
		}
	}
	if got := PreviewMembers(map[string]string{"b": secret, "a": "x", "token": "y"}, &r); got !=
		`a: "x", b: "[redacted]…", token: [redacted]` {
		t.Error(got)
	}
}

func FuzzArguments(f *testing.F) {
	f.Add(`{"a":"b"}`)
	f.Add(`{"a":[{"b":1e400}],"\ud800":"\udc00"}`)
	f.Fuzz(func(t *testing.T, arguments string) {
		var r redact.Redactor
		got := PreviewArguments(arguments, &r)
		if n := utf8.RuneCountInString(got); n > bounds.PreviewRunes || !utf8.ValidString(got) ||
			strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%d runes: %q", n, got)
		}
		if got == "" && json.Valid([]byte(arguments)) {
			var members map[string]any
			if json.Unmarshal([]byte(arguments), &members) == nil && len(members) > 0 {
				t.Errorf("no preview for %q", arguments)
			}
		}
	})
}
