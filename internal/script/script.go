// Package script plays conversations that are stored as txtar archives, in fake time. The test defines the meaning of
// the steps. There are two forms: archives that are one conversation, whose output is a file of its own ([Play]), and
// archives of conversations whose lines are steps, each with what follows from it below ([Converse]).
package script

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// Update is set by -update: the actual output is written into the archives instead of being compared.
var Update = flag.Bool("update", false, "write what happens into the scripts under testdata")

// Play plays each archive that matches pattern, in its own bubble. All files of an archive except "want" are its steps.
// play returns the actual output, and "want" holds the expected one.
func Play(t *testing.T, pattern string, play func(t *testing.T, steps []txtar.File) string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var want, got string
			var steps []txtar.File
			for _, f := range archive.Files {
				if f.Name == "want" {
					want = string(f.Data)
				} else {
					steps = append(steps, f)
				}
			}
			synctest.Test(t, func(t *testing.T) { got = play(t, steps) })
			if *Update {
				archive.Files = append(steps, txtar.File{Name: "want", Data: []byte(got)})
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", file, diff)
			}
		})
	}
}

// Converse plays each file of each archive that matches pattern, in its own bubble. An unindented line is a step, and
// the indented lines below it are what follows from it; lines that are empty or begin with # are for readers. A step
// whose line ends with a backslash goes on in the next one. begin is given the text, and returns what plays a
// step and returns what follows; if it returns nil, the conversation cannot be played on this system, and is left out.
func Converse(t *testing.T, pattern string, begin func(t *testing.T, text string) (play func(step string) []string)) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i := range archive.Files {
			f := &archive.Files[i]
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar")+"/"+f.Name, func(t *testing.T) {
				got, played := "", false
				synctest.Test(t, func(t *testing.T) {
					if play := begin(t, string(f.Data)); play != nil {
						got, played = converse(string(f.Data), play), true
					}
				})
				if !played && !t.Failed() {
					t.Skip("it cannot be played on this system")
				}
				if *Update {
					f.Data = []byte(got)
				} else if diff := cmp.Diff(strings.Split(string(f.Data), "\n"), strings.Split(got, "\n")); diff != "" {
					t.Errorf("%s, %s (-want +got):\n%s", file, f.Name, diff)
				}
			})
		}
		if *Update {
			if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// converse plays the steps of a conversation, and returns it with what followed.
func converse(text string, play func(step string) []string) string {
	var got strings.Builder
	step := ""
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "  ") && step == "" {
			continue
		}
		got.WriteString(line)
		step += strings.TrimSpace(line)
		if begun, more := strings.CutSuffix(step, "\\"); more {
			step = begun
			continue
		}
		if step != "" && step[0] != '#' {
			for _, follows := range play(step) {
				got.WriteString("  " + follows + "\n")
			}
		}
		step = ""
	}
	return got.String()
}
