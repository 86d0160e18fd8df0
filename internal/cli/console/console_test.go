package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

func TestTable(t *testing.T) {
	var out bytes.Buffer
	Table{Header: []string{"NAME", "STATE", "ABOUT"}, Rows: [][]string{
		{"a", "ready", "short"},
		{"löngér", "-", strings.Repeat("long ", 20)},
		{"evil\x1b[2J", "x", "two\nlines"},
	}}.writeWithin(&out, 40, false)
	want := `NAME         STATE  ABOUT
a            ready  short
löngér       -      long long long long…
evil\x1b[2J  x      two\nlines
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A line of JSON is the same JSON to a program, and harmless on a terminal. Finding C9.
func TestJSONLineIsHarmless(t *testing.T) {
	const text = "a\u009b31m\u202eb\u200b\x7f\U000e0041 Zürich 日本 👩\u200d💻"
	line := JSONLine(&mcphubv1.Tool{Name: text})
	if strings.ContainsFunc(string(line), func(r rune) bool { return hostile(r, "") }) {
		t.Errorf("%q", line)
	}
	var back struct{ Name string }
	if err := json.Unmarshal(line, &back); err != nil || back.Name != text {
		t.Errorf("%s: %q, %v", line, back.Name, err)
	}
	var out bytes.Buffer
	if PrintObject(&Output{W: &out}, "error", text); strings.ContainsFunc(strings.TrimSpace(out.String()),
		func(r rune) bool {
			return hostile(r, "")
		}) {
		t.Errorf("%q", out.String())
	}
}

// TestEscape: no text of a server can move the cursor, ring the bell, reverse the direction of text or be invisible.
func TestEscape(t *testing.T) {
	tests := []struct{ in, want string }{
		{"plain Zürich 日本", "plain Zürich 日本"},
		{"a\x1b[31mb\x07\r\n", `a\x1b[31mb\a\r\n`},
		{"a\u202eb\u009bc", `a\u202eb\u009bc`},
		{"bad\xff", "bad\uFFFD"},
		// Finding C9: what cannot be seen.
		{"pay\u200bpal \u00ad\ufeff\u2060", `pay\u200bpal \u00ad\ufeff\u2060`},
		{"a\u3164c\u2028d\U000e0041", `a\u3164c\u2028d\U000e0041`},
		{"pay\u200dpal \u200c", `pay\u200dpal \u200c`},
		{"👩\u200d💻 می\u200cخواهم क्\u200dष", "👩\u200d💻 می\u200cخواهم क्\u200dष"},
	}
	for _, test := range tests {
		if got := Escape(test.in); got != test.want {
			t.Errorf("escape(%q) = %q, want %q", test.in, got, test.want)
		}
	}
	if got := EscapeBut("a\tb\n\x1b", "\n\t"); got != "a\tb\n"+`\x1b` {
		t.Errorf("escapeBut keeps %q", got)
	}
}

// TestJSONLine: one line, no blanks that vary, no HTML escapes, and JSON text of a server as it came.
func TestJSONLine(t *testing.T) {
	got := string(JSONLine(&mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_McpRequestCancelled{
		McpRequestCancelled: &mcphubv1.McpRequestCancelled{RequestId: "r<1>", WireIdJson: ` "a b" `},
	}}))
	want := `{"mcpRequestCancelled":{"requestId":"r<1>","wireIdJson":" \"a b\" "}}`
	if got != want {
		t.Errorf("line %s, want %s", got, want)
	}
	var out bytes.Buffer
	PrintObject(&Output{W: &out}, "error", "no <x>")
	if want := `{"error":"no <x>"}` +
		"\n"; out.String() != want {
		t.Errorf("error line %s, want %s", out.String(), want)
	}
}

// Nothing is written after a write that has failed.
func TestOutputEndsWithAFailure(t *testing.T) {
	kept := 3
	o := &Output{W: writer(func(p []byte) (int, error) {
		if len(p) > kept {
			return 0, errors.New("no space left on device")
		}
		kept -= len(p)
		return len(p), nil
	})}
	fmt.Fprint(o, "abcd")
	fmt.Fprint(o, "ab")
	if o.Failed() == nil || kept != 3 {
		t.Errorf("failed %v, room %d", o.Failed(), kept)
	}
}

type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

func TestShellQuoted(t *testing.T) {
	for word, want := range map[string]string{"a-b=1": "a-b=1", "": "''", "a b": "'a b'", "$x": "'$x'",
		"a'b": `'a'\''b'`} {
		if got := shellQuoted(word); got != want {
			t.Errorf("%q is written %s, want %s", word, got, want)
		}
	}
}
