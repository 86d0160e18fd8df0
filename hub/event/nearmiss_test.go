package event

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Names with slips, with swapped letters, and those that begin with the word are near; 100,000 long names of a stranger
// are not.
func TestOf(t *testing.T) {
	words := []string{"servers", "serve", "tools", "echo", "Sleep", "ask_name", "ask_then_withdraw"}
	for word, want := range map[string][]string{
		"server":                {"servers", "serve"},
		"toosl":                 {"tools"}, // two letters swapped are one mistake
		"sleep":                 {"Sleep"},
		"ask":                   {"ask_name", "ask_then_withdraw"},
		"echoing_of_texts":      {"echo"},
		"xyz":                   nil,
		"":                      nil,
		strings.Repeat("x", 99): nil,
	} {
		if diff := cmp.Diff(want, NearMiss(word, words)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", word, diff)
		}
	}
	long, name := make([]string, 100_000), strings.Repeat("y", 10_000) // names of a stranger
	for i := range long {
		long[i] = name
	}
	if near := NearMiss("tools", long); near != nil {
		t.Errorf("%d long names count as near", len(near))
	}
}

func TestHint(t *testing.T) {
	if got := Hint("toosl", []string{"tools", "x"}); got != `; did you mean "tools"?` {
		t.Error(got)
	}
	if got := Hint("xyz", []string{"tools", "tool\x1b"}) + Hint("tol", nil); got != "" {
		t.Error(got)
	}
	if got := Hint("tool", []string{"tool\x1b"}); got != `; did you mean "tool\u001b"?` {
		t.Error(got)
	}
}
