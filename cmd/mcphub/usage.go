package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
)

const introduction = `mcphub is the MCP backend of a code editor. An editor extension spawns it as a plugin; by hand it is used with a command.

` + commands

const serveAlone = `mcphub serve is what a host (an editor extension) spawns: it opens its door on a socket that only its host knows.
A Go host opens it with package plugin/host; by hand, try mcphub demo.
`

const commands = `Usage: mcphub COMMAND [FLAGS]

  demo         watch the whole hub at work: call, progress, cancel, withdraw, approve, crash, drain
  web          the editor's page in a browser, over your own servers
  call         call one tool from outside, end to end
  config       check config files, and tell where applications keep theirs
  servers      list the configured servers
  tools        list their tools
  resources    list the resources of a server
  read         read one resource
  prompts      list the prompt templates of a server
  prompt       fill one prompt template
  trace        show what a --trace file says: the timeline of a request
  demo-server  the MCP server of the demo, on stdin and stdout or over HTTP
  serve        serve a host as its plugin (what no command means when a host spawns it)
  version      print the version
  help         mcphub help COMMAND explains a command

Start with:  mcphub demo, or mcphub demo --web to see and click it in a browser
`

const signInHelp = `Where a server wants a sign-in, the address of a page is printed, for you to open in a browser of this computer. The tokens are
kept in the system's keyring; where there is none, in files that only you can read, in the directory command-line of mcphub's state
directory (MCPHUB_STATE_DIR names another one; set but empty, without a keyring they last as long as the command).
`

const startHelp = `A server of a file with --scope workspace starts only after a yes to what it would run; --approve is about tools and says nothing to
that. Values that a file asks for (${input:ID}) are typed without being shown when they are secret; one that is given with --input
ID=VALUE can be seen by other users of this machine (in ps), one that is given with --input ID=@NAME, as the environment variable NAME,
cannot. (A value that begins with @ is written with @@.) Nothing of it is remembered.
`

const exitHelp = `Exit status: 0 result, 1 result with isError or error of the server, 2 usage, 3 cancelled, 4 timed out, 5 denied, 6 server trouble.`

// synopses are the pages of mcphub help COMMAND, above the flags.
var synopses = map[string]string{
	"demo": `Usage: mcphub demo [--web [--port PORT] [--open]]

Spawns the hub as a plugin with its built-in demo server, as processes of the hub and behind URLs of this machine, and plays what a
user, an editor with two windows, and a server do to each other. On a terminal each step waits for Enter, and at the end the hub is yours: call, cancel and answer by hand. Without a
terminal the script plays to its end. Each step checks what it says: exit status 0 means that all of it happened.

With --web there is no script: the editor's page is served to a browser of this machine over the demo's servers, until Ctrl-C.
`,
	"web": `Usage: mcphub web [CONFIG...] [--port PORT] [--open] [FLAGS]
       mcphub web --stdio 'CMD ARGS' | --url URL [--transport http|sse] [--header NAME:VALUE]...

Serves the editor's page to a browser of this machine, over a hub with the servers of the config files (or the one server): see them,
call tools, cancel, answer what they ask. The address on stdout opens one browser, once; on a terminal Enter prints another one.
Ctrl-C ends everything, a second one at once. What is allowed on the page is remembered for this command alone, in the directory
browser of mcphub's state directory.

--open hands the address to the system's browser; for that moment other users of this machine can see it (in ps).
`,
	"call": `Usage: mcphub call --tool NAME [--args JSON] SOURCE [FLAGS]
       SOURCE: --config FILE... --server NAME | --stdio 'CMD ARGS' | --url URL [--transport http|sse] [--header NAME:VALUE]...

Calls one tool through a hub of its own. The text of the result goes to stdout, everything else to stderr. With --json each event
of the window stream is one line of proto3 JSON on stdout, and the last line is {"callToolResponse":...} or
{"error":{"code":...,"reason":...,"message":...}}. Ctrl-C cancels the request and waits for its end; a second one leaves at once.

` + signInHelp + `
` + startHelp + `
` + exitHelp + `
`,
	"read": `Usage: mcphub read --uri URI SOURCE [FLAGS]
       SOURCE: --config FILE... --server NAME | --stdio 'CMD ARGS' | --url URL [--transport http|sse] [--header NAME:VALUE]...

Reads one resource as mcphub call calls a tool; the last line under --json is {"readResourceResponse":...} or {"error":...}.

` + exitHelp + `
`,
	"prompt": `Usage: mcphub prompt --name NAME [--args JSON] SOURCE [FLAGS]
       SOURCE: --config FILE... --server NAME | --stdio 'CMD ARGS' | --url URL [--transport http|sse] [--header NAME:VALUE]...

Fills one prompt template as mcphub call calls a tool; the last line under --json is {"getMcpPromptResponse":...} or {"error":...}.

` + exitHelp + `
`,
	"trace": `Usage: mcphub trace FILE [--json]

Shows the timelines in FILE ("-" is stdin): what mcphub call, read or prompt wrote with --trace, or an answer of GetTrace in proto3 JSON.
Each entry stands with its milliseconds since the first: states, messages to (->) and from (<-) the server by type and size, prompts,
cancels with origin and reason. There are no arguments, results or other contents in it.
`,
	"resources": `Usage: mcphub resources [SERVER] (--config FILE... | --stdio 'CMD ARGS' | --url URL) [--json]

Starts the server and lists its resources, and the templates for URIs of further ones. With --json each is a line of its own.
`,
	"prompts": `Usage: mcphub prompts [SERVER] (--config FILE... | --stdio 'CMD ARGS' | --url URL) [--json]

Starts the server and lists its prompt templates: texts with arguments for a model. Arguments in brackets may be left out.
`,
	"servers": `Usage: mcphub servers (--config FILE... | --stdio 'CMD ARGS' | --url URL) [--start] [--watch] [--json]

Lists every configured server, broken entries with what is wrong with them included. With --watch it goes on and tells what
changes, the config files among it.
`,
	"config": `Usage: mcphub config check [FILE...] [--scope user|workspace|host] [--dialect NAME] [--folder DIR] [--verbose] [--json]
       mcphub config places [--folder DIR] [--json]

config check reads config files in every dialect and gives its verdict on each server, what is wrong with file, line and column.
No hub is spawned, nothing is run, and no value of an argument, a variable, a header or a query is shown. Without FILE it looks
at those of this user and of the folder that are in known places; a FILE in such a place is read as what it is there.

With --json: {"servers":[{"name","dialect","origin":{"file","line","scope","folder"},"transport","enabled","timeouts":{"connect",
"idle","total"},"problems":[...],...}],"problems":[{"file","line","column","server","key","message","fatal"}],"files":[...]}.
Timeouts are Go durations, those that count, and "0s" is no limit. The outer problems are all of them.

config places lists the files in which applications keep servers, the weakest first, and which of them are there.

Exit status: 0 all can be used, 1 something is broken, 2 usage.
`,
	"tools": `Usage: mcphub tools [SERVER] (--config FILE... | --stdio 'CMD ARGS' | --url URL) [--json]

Starts the servers, or the one named, and lists their tools.
`,
	"demo-server": `Usage: mcphub demo-server [--record FILE] [--greet TEXT] [--http ADDR [--allow-remote] [--until-eof]]

Serves MCP on stdin and stdout: a server with tools for every way in which real servers meet cancellation. With --http it serves
Streamable HTTP of every revision at /mcp and the older HTTP with SSE at /sse, says on stdout where, and lets in this machine alone.
`,
	"serve":   "Usage: mcphub serve\n\n" + serveAlone,
	"version": "Usage: mcphub version\n",
}

// flagsOf builds the flag set of a command, for help as for the command itself. The usage of a flag is the form of its
// value, a tab, and what it does; that of a switch is only the latter.
var flagsOf = map[string]func() *flag.FlagSet{
	"demo":        func() *flag.FlagSet { return new(demoOptions).flags() },
	"web":         func() *flag.FlagSet { return new(webOptions).flags() },
	"call":        func() *flag.FlagSet { return new(callOptions).flags("call") },
	"read":        func() *flag.FlagSet { return new(callOptions).flags("read") },
	"prompt":      func() *flag.FlagSet { return new(callOptions).flags("prompt") },
	"trace":       func() *flag.FlagSet { return new(traceOptions).flags() },
	"resources":   func() *flag.FlagSet { return new(listOptions).flags("resources") },
	"prompts":     func() *flag.FlagSet { return new(listOptions).flags("prompts") },
	"config":      func() *flag.FlagSet { return new(configOptions).flags() },
	"servers":     func() *flag.FlagSet { return new(listOptions).flags("servers") },
	"tools":       func() *flag.FlagSet { return new(listOptions).flags("tools") },
	"demo-server": func() *flag.FlagSet { return new(demoServerOptions).flags() },
}

func newFlags(name string) *flag.FlagSet {
	set := flag.NewFlagSet(name, flag.ContinueOnError)
	set.SetOutput(io.Discard) // parse says what is wrong, in one place and one form
	set.Usage = func() {}
	return set
}

// parse reads args into set. Flags and up to most positional arguments may stand in any order. When the command must
// not go on, done is true and status is its exit status.
func parse(env environment, set *flag.FlagSet, args []string, most int) (positional []string, status int, done bool) {
	for {
		err := set.Parse(args)
		if errors.Is(err, flag.ErrHelp) {
			printHelp(env.stdout, set.Name())
			return nil, exitOK, true
		}
		if err != nil {
			return nil, usageError(env, set.Name(), err), true
		}
		if set.NArg() == 0 {
			return positional, 0, false
		}
		if len(positional) == most {
			return nil, usageError(env, set.Name(), fmt.Errorf("%q is one argument too many", set.Arg(0))), true
		}
		positional, args = append(positional, set.Arg(0)), set.Args()[1:]
	}
}

func usageError(env environment, command string, err error) int {
	env.say("mcphub %s: %s", command, escape(err.Error()))
	env.say("mcphub help %s tells more", command)
	return exitUsage
}

func runHelp(env environment, args []string) int {
	if len(args) == 0 {
		fmt.Fprint(env.stdout, commands)
		return exitOK
	}
	if _, ok := synopses[args[0]]; !ok {
		env.say("mcphub: there is no command %q; mcphub help lists what there is", escape(args[0]))
		return exitUsage
	}
	printHelp(env.stdout, args[0])
	return exitOK
}

func printHelp(w io.Writer, command string) {
	fmt.Fprint(w, synopses[command])
	build, ok := flagsOf[command]
	if !ok {
		return
	}
	first := true
	build().VisitAll(func(f *flag.Flag) {
		if first {
			fmt.Fprint(w, "\nFlags:\n")
			first = false
		}
		value, usage, ok := strings.Cut(f.Usage, "\t")
		if !ok { // a switch
			value, usage = "", value
		}
		name := strings.TrimSpace("--" + f.Name + " " + value)
		if len(name) > helpColumn {
			fmt.Fprintf(w, "  %s\n", name)
			name = ""
		}
		fmt.Fprintf(w, "  %-*s  %s\n", helpColumn, name, usage)
	})
}

// helpColumn is the width of the flags in a help page.
const helpColumn = 32
