//go:build unix

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// marked matches the commands of a page that are marked as ones that run as they are written.
var marked = regexp.MustCompile("(?s)<!-- run -->\n```sh\n(.*?)```")

// README's commands run as they are written, one block after the other, in an empty folder with the binary in PATH.
func TestReadmeRuns(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := marked.FindAllStringSubmatch(string(page), -1)
	if len(blocks) < 3 {
		t.Fatalf("README.md has %d blocks that are marked to be run", len(blocks))
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	p := newPlace(t)
	dir := p.file("empty")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, block := range blocks {
		cmd := exec.Command(bash, "-euo", "pipefail", "-c", block[1])
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+p.dir+string(os.PathListSeparator)+os.Getenv("PATH"),
			"MCPHUB_STATE_DIR="+filepath.Join(dir, "state"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v:\n%s\nsays:\n%s", err, block[1], out)
		}
		if strings.Contains(block[1], "--cancel-after") && !strings.Contains(string(out), "took too long") {
			t.Errorf("the reason of the cancel is not told:\n%s", out)
		}
	}
}
