package source

import (
	"strings"
	"testing"
)

// A command line that is printed to be pasted calls what it shows: a name that a server or a folder chose is never a
// flag or a config file in it.
func TestPastedLinesHoldNames(t *testing.T) {
	for name, want := range map[string]string{
		"sleep":                " demo sleep",
		"--stdio=sh -c 'evil'": " demo --tool '--stdio=sh",
		"files/read":           " demo --tool files/read",
		"/tmp/evil.json":       " demo --tool /tmp/evil.json",
		"x://y":                " demo --tool x://y",
		"$(evil)":              " demo '$(evil)'",
	} {
		line := (&Flags{}).CallLine("demo", name, nil)
		if !strings.Contains(line, want) {
			t.Errorf("%q: %s, want %q in it", name, line, want)
		}
	}
	if words := strings.Join((&Flags{}).words("--stdio=evil"), " "); words != "--server --stdio=evil" {
		t.Errorf("a server of that name: %s", words)
	}
}
