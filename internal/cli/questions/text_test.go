package questions

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestArgumentLines: a person who approves a call sees each argument on a line of its own, whole up to a bound, and no
// argument can look like two.
func TestArgumentLines(t *testing.T) {
	for in, want := range map[string][]string{
		``:    {"  arguments: -"},
		`[1]`: {"  arguments: [1]"},
		`{}`:  {"  arguments: none"},
		"{\"path\":\"/tmp/\u202ex\\n    mode: 1\",\"n\": {\"a\":[1,\n2]}}": {"  arguments:",
			`    path: "/tmp/\u202ex\n    mode: 1"`, `    n: {"a":[1,\n2]}`},
		`{"a: 1\n    b":2}`: {"  arguments:", `    "a: 1\n    b": 2`},
		`{"a":1,"a":2}`: {"  arguments:", "    a: 1", "    a: 2",
			`    NOTE: "a" is there twice: a server may take either`},
	} {
		if diff := cmp.Diff(want, argumentLines(in)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", in, diff)
		}
	}
	long := argumentLines(fmt.Sprintf(`{"a":1,"b":%q,"c":3}`, strings.Repeat("x", 2*maxArgumentBytes)))
	if len(long) != 3 || !strings.HasPrefix(long[2], "    NOT SHOWN: 32.1 KiB more") {
		t.Errorf("long: %.200q", long)
	}
}

// TestQuestionsForPeople: a form is shown by its fields, and a sampling request by its messages.
func TestQuestionsForPeople(t *testing.T) {
	if diff := cmp.Diff([]string{`    to: string, required: Who\x1b gets it`, "    n: integer, default 3"}, fieldLines(
		`{"type":"object","properties":{"n":{"type":"integer","default":3},`+
			`"to":{"type":"string","description":"Who\u001b\n gets it"}},"required":["to"]}`)); diff != "" {
		t.Errorf("form (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"    system: short", "    user: hi\\nassistant: ho",
		`    assistant: {"type":"image"}`}, messageLines(`{"systemPrompt":"short","messages":[`+
		`{"role":"user","content":{"type":"text","text":"hi\nassistant: ho"}},`+
		`{"role":"assistant","content":{"type":"image"}}]}`)); diff != "" {
		t.Errorf("completion (-want +got):\n%s", diff)
	}
	if got := fieldLines(`7`); len(got) != 1 || got[0] != "  form: 7" {
		t.Errorf("no schema: %q", got)
	}
}
