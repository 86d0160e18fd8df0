package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/mcphub-go/mcphub/plugin"
)

// version is the version of the binary; a release sets it by the linker.
var version = "0.1.0-dev"

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// environment is what a command is run with.
type environment struct {
	stdin  io.Reader
	stdout *output
	stderr io.Writer
}

// say writes a line for people to stderr.
func (e environment) say(format string, args ...any) { fmt.Fprintf(e.stderr, format+"\n", args...) }

// run carries out one command line and gives its exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	env := environment{stdin, &output{w: stdout}, stderr}
	status := runCommand(env, args)
	if err := env.stdout.failed(); err != nil && status == exitOK {
		env.say("mcphub: the output could not be written: %v", err)
		return exitServer
	}
	return status
}

func runCommand(env environment, args []string) int {
	if len(args) == 0 {
		if plugin.StartedByHost() {
			return plugin.ServeHub(version, "guard")
		}
		fmt.Fprint(env.stderr, introduction)
		return exitUsage
	}
	name, rest := args[0], args[1:]
	switch name {
	case "serve":
		if !plugin.StartedByHost() {
			fmt.Fprint(env.stderr, serveAlone)
			return exitUsage
		}
		return plugin.ServeHub(version, "guard")
	case "call", "read", "prompt":
		return runRequest(env, name, rest)
	case "config":
		return runConfig(env, rest)
	case "servers":
		return runServers(env, rest)
	case "tools":
		return runTools(env, rest)
	case "resources":
		return runResources(env, rest)
	case "prompts":
		return runPrompts(env, rest)
	case "trace":
		return runTrace(env, rest)
	case "demo":
		return runDemo(env, rest)
	case "web":
		return runWeb(env, rest)
	case "demo-server":
		return runDemoServer(env, rest)
	case "guard":
		return runGuard(env, rest)
	case "version", "--version", "-version":
		return runVersion(env)
	case "help", "--help", "-help", "-h":
		return runHelp(env, rest)
	}
	env.say("mcphub: there is no command %q; mcphub help lists what there is", escape(name))
	return exitUsage
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
