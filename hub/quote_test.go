package hub

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// A quote of a server is cut between two code points: half of one would be invalid UTF-8 in windows and logs.
func TestQuoteIsCutBetweenCodePoints(t *testing.T) {
	s := New(Options{}).bareServer("s")
	for n := range 4 {
		text := strings.Repeat("x", n) + strings.Repeat("😀", 2000)
		if got := s.quote(text); !utf8.ValidString(got) || !strings.HasPrefix(text, strings.TrimSuffix(got, "... (cut)")) {
			t.Errorf("after %d bytes: %q", n, got[len(got)-20:])
		}
	}
}
