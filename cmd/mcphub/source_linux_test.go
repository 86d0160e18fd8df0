package main

import (
	"os"
	"path/filepath"
	"testing"
)

// Finding D2: --stdio runs in the current folder, with the variables that --env gives.
func TestStdioRunsInTheCurrentFolder_real(t *testing.T) {
	t.Parallel()
	p := build(t)
	folder := t.TempDir()
	script := "#!/bin/sh\necho \"$MCPHUB_TEST_GIVEN\" >given\nexec '" + p.path + "' demo-server\n"
	if err := os.WriteFile(filepath.Join(folder, "server"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := p.command("tools", "--stdio", "./server", "--env", "MCPHUB_TEST_GIVEN=here")
	cmd.Dir = folder
	r := p.Run(cmd)
	text, err := os.ReadFile(filepath.Join(folder, "given"))
	if r.Status != 0 || err != nil || string(text) != "here\n" {
		t.Errorf("status %d, the server wrote %q, %v\n%s", r.Status, text, err, r.Stderr)
	}
}
