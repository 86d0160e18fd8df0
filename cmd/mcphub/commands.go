package main

import "cmp"

const introduction = `mcphub is the MCP backend of a code editor. An editor extension spawns it as a plugin; by hand
it is used with a command.`

const serveAlone = `mcphub serve is what a host (an editor extension) spawns: it opens its door on a socket that only
its host knows. A Go host opens it with package plugin/host; by hand, try mcphub demo.
`

// Groups of the commands, in the order in which the overview shows them.
const (
	groupTry  = "See it"
	groupUse  = "Use servers"
	groupLook = "Look at servers"
	groupMore = "More"
)

var commandGroups = []string{groupTry, groupUse, groupLook, groupMore}

const signInHelp = `Where a server wants a sign-in, the address of a page is printed, for you to open in a browser of
this computer. The tokens are kept in the system's keyring; where there is none, in files that only you can read, in
the directory command-line of mcphub's state directory (MCPHUB_STATE_DIR names another one; set but empty, without a
keyring they last as long as the command).
`

const startHelp = `A server of a file with --scope workspace starts only after a yes to what it would run; --approve
is about tools and says nothing to that. Values that a file asks for (${input:ID}) are typed without being shown when
they are secret; one that is given with --input ID=VALUE can be seen by other users of this machine (in ps), one that
is given with --input ID=@NAME, as the environment variable NAME, cannot. (A value that begins with @ is written with
@@.) Nothing of it is remembered.
`

const exitHelp = `Exit status: 0 result, 1 result with isError or error of the server, 2 usage, 3 cancelled, 4 timed
out, 5 denied or nobody to ask, 6 server trouble.`

// addCommands adds all commands to the tree.
func (l *commandLine) addCommands() {
	l.addTrial()
	l.addRequests()
	l.addGateway()
	l.addLists()
	l.addConfig()
	l.addRegistry()
	l.addMore()
}

// addTrial adds the commands that try the hub with demo servers, and the page.
func (l *commandLine) addTrial() {
	var demo demoOptions
	l.add(l.root, spec{
		group: groupTry, use: "demo [--web [--port PORT] [--open]]",
		short: "watch the whole hub at work: call, progress, cancel, withdraw, approve, crash, drain",
		page: `Spawns the hub as a plugin with its built-in demo server, as processes of the hub and behind URLs of
this machine, and plays what a user, an editor with two windows, and a server do to each other. On a terminal each
step waits for Enter. Each step checks what it says: exit status 0 means that all of it happened.

With --web the hub is yours: the editor's page is served to a browser of this machine over the demo's servers, until
Ctrl-C.
`,
		flags: demo.flags(),
		run:   func([]string) int { return runDemo(l.env, demo) },
	})
	var web webOptions
	l.add(l.root, spec{
		group: groupTry, use: "web [CONFIG...] [FLAGS]",
		short: "the editor's page in a browser, over your own servers",
		page: `Serves the editor's page to a browser of this machine, over a hub with the servers of the config files
(or the one server): see them, call tools, cancel, answer what they ask. The address on stdout opens one browser,
once; on a terminal Enter prints another one. Ctrl-C ends everything, a second one at once. What is allowed on the
page is remembered for this command alone, in the directory browser of mcphub's state directory. Where no application
of yours keeps servers, the page shows how to begin, and writes what you add into .mcp.json of the folder.

--open hands the address to the system's browser; for that moment other users of this machine can see it (in ps).
`,
		most: manyFiles, flags: web.flags(),
		run: func(files []string) int { return runWeb(l.env, web, files) },
	})
}

const sourceHelp = `The servers are those of the config files that are named, as arguments or with --config; of
--stdio; of --url; or else those of this user and of the folder, as mcphub config check finds them. An argument is a
file when it has a path separator in it or ends in .json, .jsonc or .toml.
`

// addRequests adds the commands that make one request.
func (l *commandLine) addRequests() {
	request := func(name, use, short, page, example string) {
		o := new(callOptions)
		named := func(words []string) (server string, n int) {
			s := o.sourceFlags
			names := s.take(words)
			server = cmp.Or(o.server, o.single())
			if server == "" && len(names) > 0 {
				server, names = names[0], names[1:]
			}
			return server, len(names)
		}
		l.add(l.root, spec{
			group: groupUse, use: use, short: short, page: page, example: example, flags: o.flags(name), most: manyFiles,
			source: &o.sourceFlags,
			server: func(words []string) string {
				server, _ := named(words)
				return server
			},
			words: func(words []string) []string {
				switch server, n := named(words); {
				case server == "":
					return serverNames(&o.sourceFlags)
				case name == "call" && n == 0 && o.tool == "":
					return toolNames(server)
				}
				return nil
			},
			run: func(words []string) int { return runRequest(l.env, o, words) },
		})
	}
	request("call", "call [FILE...] [SERVER] TOOL [-a NAME=VALUE]... [FLAGS]", "call one tool from outside, end to end",
		`Calls one tool through a hub of its own. The text of the result goes to stdout, everything else to stderr.
With --json each event of the window stream is one line of proto3 JSON on stdout, and the last line is
{"callToolResponse":...} or {"error":{"code":...,"reason":...,"message":...}}. Ctrl-C cancels the request and waits
for its end; a second one leaves at once.

`+sourceHelp+`A name that no server has is the tool's; the server may be left out where there is one.

On a terminal, without a tool, it asks for the server, the tool and its arguments, and prints the command line that
says the same.

--cancel-after counts from the moment in which the request is at the server, so that the cancel reaches it;
--cancel-at counts from the start of the command.

`+signInHelp+`
`+startHelp+`
`+exitHelp+`
`, `  mcphub call --stdio 'npx -y @modelcontextprotocol/server-everything' \
      echo -a message=hi
  mcphub call mcp.json demo sleep -a seconds=60 \
      --cancel-after 2s --reason 'took too long'
  mcphub call demo echo --args @arguments.json`)
	request("read", "read [FILE...] [SERVER] URI [FLAGS]", "read one resource",
		`Reads one resource as mcphub call calls a tool; the last line under --json is {"readResourceResponse":...} or
{"error":...}.

`+exitHelp+`
`, "")
	request("prompt", "prompt [FILE...] [SERVER] NAME [--args JSON] [FLAGS]", "fill one prompt template",
		`Fills one prompt template as mcphub call calls a tool; the last line under --json is
{"getMcpPromptResponse":...} or {"error":...}.

`+exitHelp+`
`, "")
}

// addLists adds the commands that list.
func (l *commandLine) addLists() {
	list := func(name, use, short, page string, run func(environment, *listOptions, []string) int) {
		o := new(listOptions)
		l.add(l.root, spec{
			group: groupLook, use: use, short: short, page: page, most: manyFiles, flags: o.flags(name),
			source: &o.sourceFlags,
			words: func(words []string) []string {
				s := o.sourceFlags
				switch names := s.take(words); {
				case name == "servers":
					return serverNames(&s)
				case name == "tools" && o.single() != "":
					return toolNames(o.single())
				case name == "tools" && len(names) == 1:
					return toolNames(names[0])
				case len(names) == 0:
					return serverNames(&s)
				}
				return nil
			},
			run: func(words []string) int { return run(l.env, o, words) },
		})
	}
	doctor := new(doctorOptions)
	l.add(l.root, spec{
		group: groupLook, use: "doctor [FILE...] [SERVER] [--tool NAME --args JSON] [FLAGS]",
		short: "tell what is wrong with a server, and what becomes of a call that is cancelled",
		page: `Starts the server several times, as the hub would, and tells its author or user how it starts and ends,
which revisions of MCP it speaks, whether it does what it declares, and which of its tools models refuse. With --tool
the tool is called and cancelled in each era that the server speaks, twice, and what comes afterwards is looked at: does
the work stop, does progress go on, are its own questions withdrawn, does the next call work. The tool has its effects,
so that is asked about first.

Each finding says what was seen, what the specification says, and what to do. --report FILE writes all of it in
Markdown, for an issue of the server's project; values from the environment, from inputs and of headers are taken out.

Exit status: 0 nothing must be mended, 1 something must, 2 usage, 3 interrupted, 5 not agreed to, 6 other trouble.
`,
		example: "mcphub doctor files --all",
		most:    manyFiles, flags: doctor.flags(), source: &doctor.sourceFlags,
		words: func(args []string) []string {
			if len(args) > 0 {
				return nil
			}
			return serverNames(&doctor.sourceFlags)
		},
		server: func(args []string) string {
			if len(args) > 0 {
				return args[0]
			}
			return doctor.single()
		},
		run: func(args []string) int { return runDoctor(l.env, doctor, args) },
	})
	list("servers", "servers [FILE...] [SERVER...] [--start] [--watch] [FLAGS]", "list the configured servers",
		`Lists every configured server, or those that are named, broken entries with what is wrong with them included.
With --watch it goes on and tells what changes, the config files among it. Exit status 6: a config file could not be
read, or with --start a server did not start.

`+sourceHelp, runServers)
	list("tools", "tools [FILE...] [SERVER [TOOL]] [FLAGS]", "list their tools, or the arguments of one",
		`Starts the servers, or the one named, and lists their tools; of the tool that is named it tells the
arguments, and a line that calls it. Exit status 6: a server could not be asked, or a config file not be read.

`+sourceHelp, runTools)
	list("resources", "resources [FILE...] [SERVER] [FLAGS]", "list the resources of a server",
		`Starts the server and lists its resources, and the templates for URIs of further ones. With --json each is a
line of its own.
`, runResources)
	list("prompts", "prompts [FILE...] [SERVER] [FLAGS]", "list the prompt templates of a server",
		`Starts the server and lists its prompt templates: texts with arguments for a model. Arguments in brackets may
be left out.
`, runPrompts)
}

// addConfig adds mcphub config and its subcommands.
func (l *commandLine) addConfig() {
	var o configOptions
	set := o.flags()
	set.VisitAll(setForm)
	c := l.add(l.root, spec{
		group: groupLook, use: "config COMMAND [FLAGS]",
		short: "check and change config files, and tell where applications keep theirs",
		page: `Looks at config files, and changes them. No hub is spawned, and nothing that a file names is run or
connected to.`,
		run: func([]string) int { return usageError(l.env, "config", errNoConfigCommand) },
	})
	c.PersistentFlags().SortFlags = false
	c.PersistentFlags().AddFlagSet(set)
	completeValues(c, set, nil, nil)
	l.add(c, spec{
		use:   "check [FILE...] [FLAGS]",
		short: "the verdict on each server of the files",
		page: `Reads config files in every dialect and gives its verdict on each server, what is wrong with file, line
and column. Each is looked at as its start would: references are resolved, the program, the working directory and
envFile are looked for. An error is what would make the start fail. No hub is spawned, nothing that a file names is
run, and no value of an argument, a variable, a header or a query is shown; for a program that is not found without
it, the login shell is asked for its PATH.

With --start each server that can be started is, by a hub, several at once and each within its connect timeout: it is
connected to, initialized and stopped again. What a start asks (a workspace's server, an input, a sign-in) is asked as
mcphub servers --start does.

Without FILE it looks at those of this user and of the folder that are in known places; a FILE in such a place is read
as what it is there.

With --json: {"servers": [{"name", "dialect", "origin": {"file", "line", "scope", "folder"}, "transport", "enabled",
"timeouts": {"connect", "idle", "total"}, "problems": [...], ...}], "problems": [{"file", "line", "column", "server",
"key", "message", "fatal"}], "files": [...]}. Timeouts are Go durations, those that count, and "0s" is no limit. The
outer problems are all of them.

Exit status: 0 all can be used, warnings or not; 1 something is broken, or with --start did not start;
2 usage; with --start also 3 interrupted, 6 trouble with the hub.
`,
		most: manyFiles,
		run:  func(files []string) int { return runConfigCheck(l.env, &o, files) },
	})
	l.add(c, spec{
		use:   "places [--folder DIR] [--json]",
		short: "the files in which applications keep servers",
		page:  "Lists the files in which applications keep servers, the weakest first, and which of them are there.",
		run:   func([]string) int { return runConfigPlaces(l.env, &o) },
	})
	l.addConfigWrites(c, &o)
}

// addMore adds the other commands.
func (l *commandLine) addMore() {
	var trace traceOptions
	l.add(l.root, spec{
		group: groupUse, use: "trace FILE [--json]",
		short: "show what a --trace file says: the timeline of a request",
		page: `Shows the timelines in FILE ("-" is stdin): what mcphub call, read or prompt wrote with --trace, or an
answer of GetTrace in proto3 JSON. Each entry stands with its milliseconds since the first: states, messages to (->)
and from (<-) the server by type and size, prompts, cancels with origin and reason. There are no arguments, results or
other contents in it.
`,
		most: 1, flags: trace.flags(),
		run: func(files []string) int { return runTrace(l.env, trace, files) },
	})
	var server demoServerOptions
	l.add(l.root, spec{
		group: groupTry, use: "demo-server [FLAGS]",
		short: "the MCP server of the demo, on stdin and stdout or over HTTP",
		page: `Serves MCP on stdin and stdout: a server with tools for every way in which real servers meet
cancellation. With --http it serves Streamable HTTP of every revision at /mcp and the older HTTP with SSE at /sse,
says on stdout where, and lets in this machine alone.
`,
		flags: server.flags(),
		run:   func([]string) int { return runDemoServer(l.env, server) },
	})
	l.add(l.root, spec{
		group: groupMore, use: "serve",
		short: "serve a host as its plugin (what no command means when a host spawns it)",
		page:  serveAlone,
		run:   func([]string) int { return runServe(l.env) },
	})
	l.add(l.root, spec{
		group: groupMore, use: "version", short: "print the version",
		run: func([]string) int { return runVersion(l.env) },
	})
	docs := l.add(l.root, spec{
		use: "docs", short: "write this help in other forms", hidden: true,
		run: func([]string) int { return usageError(l.env, "docs", errNoDocsCommand) },
	})
	l.add(docs, spec{
		use: "markdown", short: "write the page of all commands to stdout",
		run: func([]string) int { return runMarkdown(l) },
	})
	l.add(docs, spec{
		use: "man DIR", short: "write a man page for each command into a folder", most: 1,
		run: func(args []string) int { return runMan(l, args) },
	})
}
