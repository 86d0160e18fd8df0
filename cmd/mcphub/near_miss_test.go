package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNearest(t *testing.T) {
	words := []string{"servers", "serve", "tools", "echo", "Sleep", "ask_name", "ask_then_withdraw"}
	for word, want := range map[string][]string{
		"server":                {"servers", "serve"},
		"toosl":                 {"tools"}, // two letters swapped are one mistake
		"sleep":                 {"Sleep"},
		"ask":                   {"ask_name", "ask_then_withdraw"},
		"xyz":                   nil,
		"":                      nil,
		strings.Repeat("x", 99): nil,
	} {
		if diff := cmp.Diff(want, nearest(word, words)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", word, diff)
		}
	}
	long := make([]string, 100_000) // names of a stranger: what is looked at is bounded
	for i := range long {
		long[i] = strings.Repeat("y", 10_000)
	}
	if near := nearest("tools", long); near != nil {
		t.Errorf("near %d", len(near))
	}
}
