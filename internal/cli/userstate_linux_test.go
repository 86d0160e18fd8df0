package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
)

// TestTestsLeaveTheUsersStateAlone_real: the tests of this package start hubs with a state directory of their own.
// Otherwise each later command of the user would find and read what the tests kept.
func TestTestsLeaveTheUsersStateAlone_real(t *testing.T) {
	t.Parallel()
	p := clitest.Build(t)
	home := filepath.Join(p.Folder, "home")
	p.Setenv("XDG_STATE_HOME", home)
	commandLine, _ := p.DemoServer()
	if e := p.Run("call", "--stdio", commandLine, "--tool", "echo", "-a", "text=hi", "--approve", "allow"); e.Status != 0 {
		t.Fatalf("%+v", e)
	}
	if _, err := os.Stat(home); !os.IsNotExist(err) {
		t.Errorf("%s is there: %v", home, err)
	}
}
