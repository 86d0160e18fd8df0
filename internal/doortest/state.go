package doortest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcphub-go/mcphub/plugin/handshake"
)

// runDir is the directory of this run: the programs that tests start, and the state of their hubs. Begin sets it.
var runDir string

// Begin prepares this process for tests that start programs. The hubs that it and its children start get a state
// directory of their own instead of the user's, so approvals of tests are not stored among the user's, and state that
// an earlier run left behind does not slow the next one down; nothing that the user has set for mcphub counts. The
// binary of BinaryVariable is put where tests can link to it. end must be called after the last test.
func Begin() (end func()) {
	err := begin()
	if err != nil {
		fmt.Fprintln(os.Stderr, "preparing the tests:", err)
		os.Exit(1)
	}
	return func() { _ = os.RemoveAll(runDir) }
}

func begin() (err error) {
	if runDir, err = os.MkdirTemp("", "mcphub-test"); err != nil {
		return err
	}
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		users := strings.HasPrefix(name, "MCPHUB_") && name != BinaryVariable || strings.HasPrefix(name, "PLUGIN_")
		if !users {
			continue
		}
		if err := os.Unsetenv(name); err != nil {
			return err
		}
	}
	if err := os.Setenv(handshake.EnvStateDir, filepath.Join(runDir, "state")); err != nil {
		return err
	}
	built := os.Getenv(BinaryVariable)
	if built == "" {
		return nil
	}
	staged, err := Stage(built, filepath.Base(built))
	if err != nil {
		return err
	}
	return os.Setenv(BinaryVariable, staged)
}
