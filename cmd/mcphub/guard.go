package main

import (
	"os"

	"golang.org/x/term"

	"github.com/mcphub-go/mcphub/hub/transport"
)

// runGuard is the process that ends a hub's servers if the hub is killed. The hub starts it and writes to its stdin. It
// is not a command for people, so no help mentions it.
func runGuard(env environment, args []string) int {
	if f, ok := env.stdin.(*os.File); ok && term.IsTerminal(int(f.Fd())) || len(args) > 0 {
		env.say("mcphub guard is started by the hub itself, which speaks to it through a pipe")
		return exitUsage
	}
	return transport.RunGuard(env.stdin)
}
