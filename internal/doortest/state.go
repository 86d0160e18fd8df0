package doortest

import (
	"fmt"
	"os"

	"github.com/mcphub-go/mcphub/plugin/handshake"
)

// OwnState gives every hub that this process and its children start a new state directory instead of the user's. So
// approvals of tests are not stored among the user's, and state that an earlier run left behind does not slow the next
// one down. remove must be called at the end of TestMain.
func OwnState() (remove func()) {
	dir, err := os.MkdirTemp("", "mcphub-test-state")
	if err == nil {
		err = os.Setenv(handshake.EnvStateDir, dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "a state directory for tests:", err)
		os.Exit(1)
	}
	return func() { _ = os.RemoveAll(dir) }
}
