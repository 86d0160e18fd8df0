// Package script plays conversations that are stored as txtar archives, in fake time. The test defines the meaning of
// the steps.
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
