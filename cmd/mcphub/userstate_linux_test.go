package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestTestsLeaveTheUsersStateAlone_real: the tests of this package start hubs with a state directory of their own.
// Otherwise each later command of the user would find and read what the tests kept.
func TestTestsLeaveTheUsersStateAlone_real(t *testing.T) {
	t.Parallel()
	p := build(t)
	home := filepath.Join(p.dir, "home")
	p.setenv("XDG_STATE_HOME", home)
	commandLine, _ := p.demoServer()
	if e := p.run("call", "--stdio", commandLine, "--tool", "echo", "-a", "text=hi", "--approve", "allow"); e.status != 0 {
		t.Fatalf("%+v", e)
	}
	if _, err := os.Stat(home); !os.IsNotExist(err) {
		t.Errorf("%s is there: %v", home, err)
	}
}
