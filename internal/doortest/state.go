package doortest

import (
	"fmt"
	"os"

	"github.com/mcphub-go/mcphub/plugin/handshake"
)

// OwnState gives every hub that this process and its children start a state directory of its own, in place of the
// user's: what tests are allowed and show is not kept among a person's approvals, and what an earlier run left there
// does not make the next one slow. remove is for the end of TestMain.
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
