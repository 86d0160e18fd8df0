package call_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
)

// Finding D2: --stdio runs in the current folder, with the variables that --env gives.
func TestStdioRunsInTheCurrentFolder_real(t *testing.T) {
	t.Parallel()
	p := clitest.Build(t)
	folder := t.TempDir()
	script := "#!/bin/sh\necho \"$MCPHUB_TEST_GIVEN\" >given\nexec '" + p.Binary + "' demo-server\n"
	if err := os.WriteFile(filepath.Join(folder, "server"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := p.Command("tools", "--stdio", "./server", "--env", "MCPHUB_TEST_GIVEN=here")
	cmd.Dir = folder
	r := p.Place.Run(cmd)
	text, err := os.ReadFile(filepath.Join(folder, "given"))
	if r.Status != 0 || err != nil || string(text) != "here\n" {
		t.Errorf("status %d, the server wrote %q, %v\n%s", r.Status, text, err, r.Stderr)
	}
}
