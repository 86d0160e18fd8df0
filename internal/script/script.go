// Package script plays conversations that are stored as files. The test defines the meaning of the steps. There are
// archives (txtar) of conversations whose lines are steps, each with what follows from it below ([Converse]), archives
// that are one conversation, whose output is a file of its own ([Play]), and texts of a notation that has a player of
// its own ([Texts]).
package script

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// Update is set by -update: the actual output is written into the archives instead of being compared.
var Update = flag.Bool("update", false, "write what happens into the scripts under testdata")

// each runs a subtest for each file that matches pattern, all at the same time: play writes nothing that is shared.
func each(t *testing.T, pattern string, play func(t *testing.T, file string)) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(strings.TrimSuffix(name, filepath.Ext(name)), func(t *testing.T) {
			t.Parallel()
			play(t, file)
		})
	}
}

// Texts plays each file that matches pattern. play returns the file as it is to be.
func Texts(t *testing.T, pattern string, play func(t *testing.T, text string) string) {
	t.Helper()
	each(t, pattern, func(t *testing.T, file string) {
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got := play(t, string(want))
		if *Update && !t.Failed() {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	})
}

// Play plays each archive that matches pattern, in its own bubble. All files of an archive except "want" are its steps.
// play returns the actual output, and "want" holds the expected one.
func Play(t *testing.T, pattern string, play func(t *testing.T, steps []txtar.File) string) {
	t.Helper()
	Texts(t, pattern, func(t *testing.T, text string) string {
		archive := txtar.Parse([]byte(text))
		archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool { return f.Name == "want" })
		var got string
		synctest.Test(t, func(t *testing.T) { got = play(t, archive.Files) })
		archive.Files = append(archive.Files, txtar.File{Name: "want", Data: []byte(got)})
		return string(txtar.Format(archive))
	})
}

// Begin begins a conversation. It is given the text and what it is played for, and returns what plays a step and
// returns what follows; nil if the conversation cannot be played on this system, which leaves it out.
type Begin func(t *testing.T, text, of string) (play func(step string) []string)

// Converse plays each file of each archive that matches pattern, in its own bubble. An unindented line is a step, and
// the indented lines below it are what follows from it; lines that are empty or begin with # are for readers. A step
// whose line ends with a backslash goes on in the next one. The step "each A B" is Converse's own: the conversation is
// played for A and for B, and what follows in one of them alone is marked with its name. A conversation in which
// something fails is not written anew.
func Converse(t *testing.T, pattern string, begin Begin) {
	t.Helper()
	each(t, pattern, func(t *testing.T, file string) {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i := range archive.Files {
			f := &archive.Files[i]
			t.Run(f.Name, func(t *testing.T) {
				got, played := converse(t, string(f.Data), begin)
				switch {
				case t.Failed(): // what stands stays, also with -update
					return
				case !played:
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
	})
}

// line is a step, or a line for readers.
type line struct {
	text string // as it stands
	step string // "" for readers
}

// read returns the lines of a conversation without what followed, and what it is played for.
func read(text string) (lines []line, all []string) {
	all = []string{""}
	for one := range strings.Lines(text) {
		last := max(0, len(lines)-1)
		begun, more := "", false
		if len(lines) > 0 {
			begun, more = strings.CutSuffix(lines[last].step, "\\")
		}
		switch step := strings.TrimSpace(one); {
		case more:
			lines[last] = line{lines[last].text + one, begun + step}
		case strings.HasPrefix(one, "  "):
		case strings.HasPrefix(step, "each "):
			all = strings.Fields(step)[1:]
			lines = append(lines, line{text: one})
		case strings.HasPrefix(step, "#"):
			lines = append(lines, line{text: one})
		default:
			lines = append(lines, line{one, step})
		}
	}
	return lines, all
}

// converse plays a conversation, and returns it with what followed.
func converse(t *testing.T, text string, begin Begin) (string, bool) {
	lines, all := read(text)
	follows := make([][][]string, len(all))
	for n, of := range all {
		synctest.Test(t, func(t *testing.T) {
			play := begin(t, text, of)
			if play == nil {
				return
			}
			for _, l := range lines {
				var follow []string
				if l.step != "" {
					follow = play(l.step)
				}
				follows[n] = append(follows[n], follow)
			}
		})
		if len(follows[n]) < len(lines) {
			return "", false
		}
	}
	var got strings.Builder
	for i, l := range lines {
		got.WriteString(l.text)
		for n := range all {
			for _, follow := range follows[n][i] {
				switch other := follows[len(all)-1-n][i]; {
				case !slices.Contains(other, follow):
					got.WriteString("  " + all[n] + ": " + follow + "\n")
				case n == 0:
					got.WriteString("  " + follow + "\n")
				}
			}
		}
	}
	return got.String(), true
}
