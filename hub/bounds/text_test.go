package bounds

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCutKeepsWholeCodePoints(t *testing.T) {
	if got := Cut("short", 5); got != "short" {
		t.Error(got)
	}
	for n := 9; n < 60; n++ {
		got := Cut(strings.Repeat("ä€😀", 20), n)
		if len(got) > n || !utf8.ValidString(got) || !strings.HasSuffix(got, "(cut)") {
			t.Errorf("%d: %q", n, got)
		}
	}
}
