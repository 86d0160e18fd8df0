package rules

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// marks are patterns of unfinished work and of text that does not belong in the repository. No pattern matches its own
// text.
var marks = []struct {
	what    string
	pattern *regexp.Regexp
}{
	{"a path of somebody's machine",
		regexp.MustCompile(`/(?:[w]ork/(?:main|shared|\.)|[r]oot/|[h]ome/[a-z]|[U]sers/[A-Za-z]|[t]mp/(?:brief|bash_jobs))`)},
	{"unfinished work: finish it, or open an issue", regexp.MustCompile(`\b(?:[T]ODO|[F]IXME|[X]XX|[H]ACK)\b`)},
	{"how the work was handed out is no part of the project",
		regexp.MustCompile(`(?i)\b(?:the [b]rief\b|[i]ssues? #?\d|[i]ssues show\b|[h]elper session)`)},
	{"a page that is not in the repository", regexp.MustCompile(`\b[s]hared/(?:design|reference)\b`)},
	{"a merge that was not ended", regexp.MustCompile(`^(?:[<]{7} |[>]{7} |[=]{7}$)`)},
}

// unmarked are files with text that other tools have written.
var unmarked = []string{"go.sum", "package-lock.json", "LICENSE", "released.json"}

func leftovers(t *tree) []violation {
	var bad []violation
	for _, p := range t.files {
		if slices.ContainsFunc(unmarked, func(name string) bool { return p == name || strings.HasSuffix(p, "/"+name) }) {
			continue
		}
		for i, line := range strings.Split(string(t.text[p]), "\n") {
			for _, m := range marks {
				if found := m.pattern.FindString(line); found != "" {
					bad = append(bad, violation{p, i + 1, fmt.Sprintf("%q: %s", found, m.what)})
				}
			}
		}
	}
	return bad
}

func TestNothingIsLeftOver(t *testing.T) {
	report(t, leftovers(repository(t)))
}

func TestNothingIsLeftOverFindsViolations(t *testing.T) {
	// The strings are concatenated, so that this file does not match the patterns itself.
	dirty := []string{
		"/wo" + "rk/main/hub", "see /ro" + "ot/x", "/ho" + "me/ada", "/Us" + "ers/Ada", "/tm" + "p/brief/x",
		"// TO" + "DO: later", "FIX" + "ME", "XX" + "X", "HA" + "CK",
		"as the bri" + "ef says", "Issu" + "e 12", "iss" + "ue #3", "iss" + "ues show", "the hel" + "per session",
		"see sha" + "red/design.md", "<<<" + "<<<< HEAD", "===" + "====",
	}
	var want []string
	for i := range dirty {
		want = append(want, fmt.Sprintf("docs/a.md:%d", i+1))
	}
	clean := strings.Join([]string{
		"/workspace/main", "https://example.com/roots", "$HOME/.config", "/tmp/socket", "todos", "XXXL", "in brief",
		"an issue of trust", "a tissue 3", "shared/state", "==========", "a session's task",
	}, "\n")
	finds(t, leftovers(made(t, map[string]string{
		"docs/a.md":         strings.Join(dirty, "\n"),
		"docs/b.md":         clean,
		"LICENSE":           "XX" + "X",
		"node_modules/x.md": "TO" + "DO",
	})), want...)
}

// front lists files that a visitor looks for, with words that they must contain.
var front = map[string][]string{
	"LICENSE":      {"Apache License", "Version 2.0, January 2004"},
	"CHANGELOG.md": {"#"},
	"README.md":    {"make test", ".ci/run", "go run ./cmd/mcphub demo"},
}

func frontDoor(t *tree) []violation {
	var bad []violation
	for name, words := range front {
		text, ok := t.text[name]
		if !ok {
			bad = append(bad, violation{path: name, text: "is missing"})
			continue
		}
		for _, w := range words {
			if !strings.Contains(string(text), w) {
				bad = append(bad, violation{path: name, text: fmt.Sprintf("does not say %q", w)})
			}
		}
	}
	return bad
}

func TestFrontDoor(t *testing.T) {
	report(t, frontDoor(repository(t)))
}

func TestFrontDoorFindsViolations(t *testing.T) {
	finds(t, frontDoor(made(t, map[string]string{
		"LICENSE":      "Apache License\nVersion 2.0, January 2004",
		"README.md":    "run `make test`, then `go run ./cmd/mcphub demo`",
		"docs/LICENSE": "",
	})), "README.md", "CHANGELOG.md")
}
