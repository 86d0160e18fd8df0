package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/userenv"
	"github.com/mcphub-go/mcphub/plugin"
	"github.com/mcphub-go/mcphub/plugin/host"
)

// version is the version of the program. `mcphub version` prints it, and GetInfo returns it to hosts. A release sets it
// by the linker, without the -dev. A rule keeps the packages under editors/ at the same number.
var version = "0.1.0-dev"

func main() {
	os.Exit(run(os.Args[1:], environment{os.Stdin, &output{w: os.Stdout}, os.Stderr, notifyInterrupts, spawn, openInside}))
}

// environment is what a command has from outside: the standard streams, interrupts, and the hubs that it opens.
type environment struct {
	stdin  io.Reader
	stdout *output
	stderr io.Writer
	// interrupts returns a channel that gets the interrupts of the user until stop is called.
	interrupts func() (signals <-chan os.Signal, stop func())
	// spawn opens a hub in a process of its own, inside one in this process.
	spawn  func(ctx context.Context, o host.Options) (*hubClient, error)
	inside func(o hub.Options) (*plugin.Inside, error)
}

// say writes a line for people to stderr.
func (e environment) say(format string, args ...any) { fmt.Fprintf(e.stderr, format+"\n", args...) }

// tell is say for a line that may be long: on a terminal it is broken at blanks, and all lines but the first are
// indented.
func (e environment) tell(format string, args ...any) {
	fmt.Fprint(e.stderr, toRead(e.stderr, fmt.Sprintf(format, args...)))
}

// toRead returns a line in the form for w: on a terminal it is broken at blanks before the terminal would break it in
// the middle of a word. For other outputs it is not broken.
func toRead(w io.Writer, line string) string {
	width := terminalWidth(w)
	if width == 0 {
		return line + "\n"
	}
	indent := len(line) - len(strings.TrimLeft(line, " ")) + 2
	return hung(line, indent, max(width, leastWidth))
}

// run carries out one command line and returns its exit status.
func run(args []string, env environment) int {
	status := runCommand(env, args)
	if err := env.stdout.failed(); err != nil && status == exitOK {
		env.say("mcphub: the output could not be written: %v", err)
		return exitServer
	}
	return status
}

// runCommand carries out commands that programs start, perhaps very often, without building the tree of commands, which
// with its help and completion is only for people.
func runCommand(env environment, args []string) int {
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	switch {
	case name == "" && len(args) == 0 && plugin.StartedByHost(), name == "serve" && len(args) == 1:
		return runServe(env)
	case name == "guard":
		return runGuard(env, args[1:])
	case name == plugin.EnvironmentCommand && len(args) == 2: // run by the login shell, for the hub
		_ = userenv.Print(env.stdout, args[1], os.Environ()) // run reports a failed write
		return exitOK
	case (name == "version" || name == "--version" || name == "-version") && len(args) == 1:
		return runVersion(env)
	case name == "-help":
		args[0] = "--help"
	}
	return runCommandLine(env, args)
}

// runServe serves the host that has spawned this process.
func runServe(env environment) int {
	if !plugin.StartedByHost() {
		fmt.Fprint(env.stderr, wrapped(serveAlone, helpWidth(env.stderr)))
		return exitUsage
	}
	return plugin.ServeHub(version, "guard")
}

func runVersion(env environment) int {
	revision := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				revision = " " + s.Value[:12]
			}
		}
	}
	fmt.Fprintf(env.stdout, "mcphub %s%s (%s, %s/%s)\n", version, revision, runtime.Version(), runtime.GOOS,
		runtime.GOARCH)
	return exitOK
}
