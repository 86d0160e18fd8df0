// Package cli is the command line of mcphub: it finds the command of a process and runs it.
//
// Each command, or family of commands, has a folder with New...Cmd, its flags, its help and its tests. A command gets
// what it shares with others from a door.Factory. The rooms that commands share import one way: console, exit, cmd,
// door, then source, toolargs and questions, then events, session, browser and proposals. Commands import no other
// command.
//
// The commands that need a hub are hosts: they spawn this same executable as the plugin, as an editor would, and call
// it by gRPC. So what works here works in an editor. mcp is an exception: it has the hub and the gateway in its own
// process, but calls the hub by the same services. Commands that need no hub, such as those for config files,
// registries and doctor, use the packages below hub directly. No command bypasses the contract to reach a hub.
//
// What must not live here: what a command does, besides serve, guard and version.
package cli

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphub-go/mcphub/hub/process"
	"github.com/mcphub-go/mcphub/internal/cli/call"
	"github.com/mcphub-go/mcphub/internal/cli/cmd"
	"github.com/mcphub-go/mcphub/internal/cli/config"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/demo"
	"github.com/mcphub-go/mcphub/internal/cli/demoserver"
	"github.com/mcphub-go/mcphub/internal/cli/docs"
	"github.com/mcphub-go/mcphub/internal/cli/doctor"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/cli/list"
	"github.com/mcphub-go/mcphub/internal/cli/mcp"
	"github.com/mcphub-go/mcphub/internal/cli/registry"
	"github.com/mcphub-go/mcphub/internal/cli/stdio"
	"github.com/mcphub-go/mcphub/internal/cli/trace"
	"github.com/mcphub-go/mcphub/internal/cli/web"
	"github.com/mcphub-go/mcphub/plugin"
)

// Main carries out the command line of a process, and returns its exit status.
func Main(version string, args []string) int { return int(Run(door.NewFactory(version), args)) }

// Run carries out one command line and returns its exit status.
func Run(f *door.Factory, args []string) exit.Status {
	status := runCommand(f, args)
	if err := f.Out.Failed(); err != nil && status == exit.OK {
		f.Say("mcphub: the output could not be written: %v", err)
		return exit.Server
	}
	return status
}

// runCommand carries out commands that programs start, perhaps very often, without building the tree of commands, which
// with its help and completion is only for people.
func runCommand(f *door.Factory, args []string) exit.Status {
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	switch {
	case name == "" && len(args) == 0 && plugin.StartedByHost(), name == "serve" && len(args) == 1:
		return runServe(f)
	case name == "guard":
		return runGuard(f, args[1:])
	case name == plugin.EnvironmentCommand && len(args) == 2: // run by the login shell, for the hub
		_ = process.PrintEnvironment(f.Out, args[1], os.Environ()) // run reports a failed write
		return exit.OK
	case (name == "version" || name == "--version" || name == "-version") && len(args) == 1:
		printVersion(f)
		return exit.OK
	case name == "-help":
		args[0] = "--help"
	}
	return runTree(f, args)
}

// runTree finds the command of args and runs it.
func runTree(f *door.Factory, args []string) exit.Status {
	root := NewTree(f)
	if c, err := cmd.UnknownCommand(root, args); err != nil {
		f.Tell("mcphub: %s", console.Escape(err.Error()))
		f.Say("%s lists what there is", strings.TrimSpace("mcphub help "+cmd.PathOf(c)))
		return exit.Usage
	}
	root.SetArgs(append([]string{}, args...)) // with nil, cobra would use the arguments of the process
	c, err := root.ExecuteC()
	if lost := f.Out.Failed(); lost != nil && errors.Is(err, lost) {
		err = nil // run says it
	}
	return exit.Report(f.Streams, cmd.PathOf(c), err)
}

// NewTree returns the tree of all commands.
func NewTree(f *door.Factory) *cobra.Command {
	root := cmd.NewRoot(f.Streams)
	root.AddCommand(
		demo.NewDemoCmd(f), web.NewWebCmd(f),
		call.NewCallCmd(f), call.NewReadCmd(f), call.NewPromptCmd(f), mcp.NewMCPCmd(f), stdio.NewStdioCmd(f),
		doctor.NewDoctorCmd(f), list.NewServersCmd(f), list.NewToolsCmd(f), list.NewResourcesCmd(f), list.NewPromptsCmd(f),
		config.NewConfigCmd(f), registry.NewRegistryCmd(f),
		trace.NewTraceCmd(f), demoserver.NewDemoServerCmd(f), newServeCmd(f), newVersionCmd(f), docs.NewDocsCmd(f),
	)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	cmd.Finish(root)
	return root
}

const serveAlone = `mcphub serve is what a host (an editor extension) spawns: it opens its door on a socket that only
its host knows. A Go host opens it with package plugin/host; by hand, try mcphub demo.
`

// newServeCmd returns mcphub serve, which runCommand carries out.
func newServeCmd(f *door.Factory) *cobra.Command {
	return &cobra.Command{
		Use: "serve", Short: "serve a host as its plugin (what no command means when a host spawns it)", Long: serveAlone,
		GroupID: cmd.GroupMore,
		RunE:    func(*cobra.Command, []string) error { return runServe(f) },
	}
}

// runServe serves the host that has spawned this process.
func runServe(f *door.Factory) exit.Status {
	if !plugin.StartedByHost() {
		fmt.Fprint(f.Err, console.Wrap(serveAlone, console.PageWidth(f.Err)))
		return exit.Usage
	}
	return exit.Status(plugin.ServeHub(f.Version, "guard"))
}

// runGuard is the process that ends a hub's servers if the hub is killed. The hub starts it and writes to its stdin. It
// is not a command for people, so no help mentions it.
func runGuard(f *door.Factory, args []string) exit.Status {
	if console.IsTerminal(f.In) || len(args) > 0 {
		f.Say("mcphub guard is started by the hub itself, which speaks to it through a pipe")
		return exit.Usage
	}
	return exit.Status(process.RunGuard(f.In))
}

// newVersionCmd returns mcphub version.
func newVersionCmd(f *door.Factory) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "print the version", GroupID: cmd.GroupMore,
		Run: func(*cobra.Command, []string) { printVersion(f) },
	}
}

func printVersion(f *door.Factory) {
	revision := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				revision = " " + s.Value[:12]
			}
		}
	}
	fmt.Fprintf(f.Out, "mcphub %s%s (%s, %s/%s)\n", f.Version, revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
