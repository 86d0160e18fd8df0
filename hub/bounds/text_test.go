package bounds

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPrintableBoundsAndEscapes(t *testing.T) {
	for s, want := range map[string]string{
		"": "", "plain \u00e4 \U0001f600": "plain \u00e4 \U0001f600", "a\nb\x1b[2J": `a\nb\u001b[2J`,
		"\u202e": `\u202e`, "\t\U000e0001": `\t\U000e0001`, "\xff": "\ufffd",
		strings.Repeat("\u00e4", 256): strings.Repeat("\u00e4", 256),
		strings.Repeat("é", 257):      strings.Repeat("é", 256) + "…",
		strings.Repeat("\n", 1<<20):   strings.Repeat(`\n`, 256) + "…",
	} {
		if got := Printable(s); got != want {
			t.Errorf("%.40q: %.80q, want %.80q", s, got, want)
		}
	}
}

func TestReasonIsWordForWord(t *testing.T) {
	for s, want := range map[string]string{
		"": "", "a\nb\x1b[2J": "a\nb\x1b[2J", "a\xff\xfeb": "a\ufffdb",
		strings.Repeat("ä", 256): strings.Repeat("ä", 256),
		strings.Repeat("ä", 257): strings.Repeat("ä", 256),
	} {
		if got := Reason(s); got != want {
			t.Errorf("%.40q: %.80q, want %.80q", s, got, want)
		}
	}
}

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
