package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestJudge(t *testing.T) {
	failed := errors.New("exit status 1")
	list := skipped{
		{"p", "TestListed", false, "why"},
		{"p", "TestOut", true, "why"},
		{"p", whole, true, "why"},
		{"other", "TestGone", false, "why"},
	}
	const listed, out = "\x16--- FAIL: TestListed (0.1s)\n", ""
	names := []string{"TestA", "TestListed", "TestOut"}
	for _, test := range []struct {
		name   string
		text   string
		err    error
		names  []string
		faults []string
	}{
		{"as listed", "\x16--- PASS: TestA (0.00s)\n" + listed + out, failed, names, nil},
		{"in the middle of a line", "no end of line\x16--- PASS: TestA (0.00s)\n" + listed, failed, names, nil},
		{"a listed one skips itself", "\x16--- PASS: TestA (0.00s)\n\x16--- SKIP: TestListed (0.1s)\n", nil, names, nil},
		{"a listed one passes", "\x16--- PASS: TestA (0.00s)\n\x16--- PASS: TestListed (0.1s)\n", nil, names,
			[]string{"TestListed passes: remove it from skipped.txt"}},
		{"a listed one is gone", "\x16--- PASS: TestA (0.00s)\n" + listed, failed, names[:2],
			[]string{"TestOut does not exist: remove it from skipped.txt"}},
		{"one fails", "\x16--- FAIL: TestA (0.00s)\n" + listed, failed, names, []string{"FAIL: TestA"}},
		{"one skips itself", "\x16--- SKIP: TestA (0.00s)\n" + listed, failed, names, []string{"SKIP: TestA"}},
		{"a part of one fails", "\x16    --- FAIL: TestA/x (0.00s)\n" + listed, failed, names,
			[]string{"TestA has no result"}},
		{"a crash", "panic: x\n", failed, names, []string{"TestA has no result", "TestListed has no result"}},
		{"all pass and the process fails", "\x16--- PASS: TestA (0.00s)\n\x16--- SKIP: TestListed (0.1s)\n", failed, names,
			[]string{"it ended with: exit status 1"}},
		{"killed", "\x16--- PASS: TestA (0.00s)\n" + listed, errors.New("signal: killed"), names,
			[]string{"it ended with: signal: killed"}},
	} {
		v := judge("p", test.names, []byte(test.text), test.err, list, false)
		if diff := cmp.Diff(test.faults, v.faults); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestNotStarted(t *testing.T) {
	refused := []string{"mcphub demo: server x did not start: command y: the system refused: Internal error."}
	for _, test := range []struct {
		v    verdict
		want bool
	}{
		{verdict{faults: []string{"FAIL: TestA"}, output: refused}, true},
		{verdict{passed: 1, output: refused}, false}, // a test that expects it
		{verdict{faults: []string{"FAIL: TestA"}, output: []string{"the system refused: Access is denied."}}, false},
	} {
		if got := notStarted(test.v); got != test.want {
			t.Errorf("%+v: %v", test.v, got)
		}
	}
}

func TestWrote(t *testing.T) {
	text := "\x16=== RUN   TestA\na1\n\x16=== RUN   TestA/part\na2\n\x16=== RUN   TestB\nb\n\x16=== NAME  TestA\na3\n"
	if got := strings.Join(wrote([]byte(text), "TestA"), ","); got != "a1,a2,a3" {
		t.Errorf("wrote %q", got)
	}
}

func TestSkippedLines(t *testing.T) {
	for text, fits := range map[string]bool{
		"# words\n\np TestA fails a reason\n":              true,
		"p * left-out a reason\n":                          true,
		"p TestA fails\n":                                  false,
		"p TestA maybe a reason\n":                         false,
		"p * fails a reason\n":                             false,
		"p TestA fails a reason\np TestA left-out other\n": false,
	} {
		file := filepath.Join(t.TempDir(), "skipped.txt")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readSkipped(file); (err == nil) != fits {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := readSkipped("skipped.txt"); err != nil {
		t.Error(err)
	}
	list := skipped{{"p", "TestA", true, "why"}, {"p", "TestB", true, "why"}, {"q", whole, true, "why"}}
	if got := list.leftOut("p"); got != "^(TestA|TestB)$" {
		t.Errorf("left out: %q", got)
	}
	if got := list.unknown([]string{"o"}, false); len(got) != 2 {
		t.Errorf("unknown: %q", got)
	}
}

func TestBinaries(t *testing.T) {
	got := binaries([]string{"hub", "hub/mcp", "internal/cli/mcp", "internal/cli/config", "hub/config"})
	want := map[string]string{"hub": "0/hub.test.exe", "hub/mcp": "0/mcp.test.exe", "internal/cli/mcp": "1/mcp.test.exe",
		"internal/cli/config": "0/config.test.exe", "hub/config": "1/config.test.exe"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
