//go:build unix

package conformance

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// required returns the client scenarios that a revision requires, as the suite has frozen them, and those that the
// suite runs unscored.
func (s suite) required(t testing.TB, revision string) (scored, unscored []string) {
	t.Helper()
	out, log, err := s.command(t.Context(), "list", "--requirements", revision)
	if err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	scored, unscored = parseRequired(out)
	return scored, unscored
}

// all returns every client scenario of the release, with the revisions that it applies to.
func (s suite) all(t testing.TB) map[string][]string {
	t.Helper()
	out, log, err := s.command(t.Context(), "list", "--client")
	if err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	return parseAll(out)
}

func parseRequired(out string) (scored, unscored []string) {
	client := false
	for line := range strings.Lines(out) {
		name, item := strings.CutPrefix(strings.TrimSpace(line), "- ")
		switch {
		case !item && strings.TrimSpace(line) != "":
			client = strings.HasPrefix(line, "Client scenarios")
		case item && client:
			scored = append(scored, name)
		case item:
			if name, ok := strings.CutSuffix(name, " [client]"); ok {
				unscored = append(unscored, name)
			}
		}
	}
	return scored, unscored
}

var listed = regexp.MustCompile(`(?m)^\s+- (\S+) \[(\S+)\]$`)

func parseAll(out string) map[string][]string {
	all := map[string][]string{}
	for _, m := range listed.FindAllStringSubmatch(out, -1) {
		all[m[1]] = strings.Split(m[2], ",")
	}
	return all
}

// TestListsAreUnderstood_nightly: the output of the suite is parsed completely. A list that is read as empty would let
// every test pass.
func TestListsAreUnderstood_nightly(t *testing.T) {
	for revision, count := range map[string]int{"2025-11-25": 18, "2026-07-28": 32} {
		scored, unscored := newest(t).required(t, revision)
		if len(scored) != count || !slices.Contains(scored, "tools_call") || slices.Contains(scored, "ping") {
			t.Errorf("%s requires %d scenarios, known are %d: %q", revision, len(scored), count, scored)
		}
		if !slices.Contains(unscored, "auth/dpop") || slices.Contains(unscored, "json-schema-2020-12") {
			t.Errorf("%s runs unscored: %q", revision, unscored)
		}
	}
	if all := newest(t).all(t); len(all) != 48 || !slices.Equal(all["tools_call"],
		[]string{"2025-06-18", "2025-11-25", "2026-07-28"}) {
		t.Errorf("the newest release has %d scenarios: %q", len(all), all)
	}
	if all := first(t).all(t); len(all) != 26 {
		t.Errorf("the first release has %d scenarios: %q", len(all), all)
	}
}
