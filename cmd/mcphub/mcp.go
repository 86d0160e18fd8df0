package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcpserver"
	"github.com/mcphub-go/mcphub/internal/web"
	"github.com/mcphub-go/mcphub/ipc/gateway"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

func (l *commandLine) addGateway() {
	var o mcpOptions
	l.add(l.root, spec{
		group: groupUse, use: "mcp [CONFIG...] [FLAGS]", short: "all your servers as one MCP server, for any MCP client",
		page: `Serves the servers of the config files as one MCP server on its standard input and output, or with --http
on an address of this machine. What the client cancels is cancelled at the server, with the reason; what a server asks
in the course of a call goes to the client, if it answers such questions; and what a server withdraws disappears there.
It ends with its input, or with Ctrl-C.

` + sourceHelp + `
It starts whatever is configured; what is wrong with a config file is said on stderr. Tools are named SERVER__TOOL.
Where the config says that somebody is to be asked before a call, the page of --window asks; without one the call fails
with an error that says so, unless the client asks its user itself (--approval client). What is allowed on the page is
remembered for this command alone, in the directory gateway of mcphub's state directory.

With --http, whoever has the token may call every tool. docs/gateway.md has more.
`,
		example: `  mcphub mcp --print-config claude-code
  mcphub mcp mcp.json --window
  mcphub mcp --http 127.0.0.1:7777`,
		most: manyFiles, flags: o.flags(), run: func(files []string) int { return runMCP(l.env, o, files) },
	})
}

// runMCP serves all servers as one MCP server.
func runMCP(env environment, o mcpOptions, files []string) int {
	o.configs = append(o.configs, files...)
	if o.printConfig != "" {
		return printClientConfig(env, &o)
	}
	if err := o.check(); err != nil {
		return usageError(env, "mcp", err)
	}
	token, err := o.token()
	if err != nil {
		return usageError(env, "mcp", err)
	}
	sources, err := o.sources("")
	if err != nil {
		return usageError(env, "mcp", err)
	}
	ctx, stop := env.interruptible()
	defer stop()
	defer leaveAtOnce(ctx)()
	if err = serveMCP(ctx, env, &o, sources, token); err == nil || errors.Is(err, errInterrupted) {
		return exitOK
	}
	f := asFailure(err)
	env.tell("mcphub mcp: %s", escape(f.Message))
	return exitOf(f)
}

// serveMCP serves the gateway of a hub in this process until the client is gone or ctx ends.
func serveMCP(ctx context.Context, env environment, o *mcpOptions, sources []*mcphubv1.ConfigSource,
	token string) error {
	options := hub.Options{Version: version, StateDir: stateDir("gateway"), Logger: askedLogger(env)}
	if o.single() == "" {
		options.LeaveOut = thisCommand
	}
	inside, err := env.inside(options)
	if err != nil {
		return err
	}
	defer func() {
		ending, done := context.WithTimeoutCause(context.Background(), closeTime,
			errors.New("the servers took too long to end"))
		defer done()
		if err := inside.Close(ending); err != nil {
			env.say("mcphub: closing the hub: %v", err)
		}
	}()
	servers := mcphubv1.NewMcpServerServiceClient(inside.Conn)
	if _, err := loadConfig(ctx, env, servers, sources, ""); err != nil {
		return err
	}
	if o.window {
		s, err := openSite(web.Options{Editor: mcphubv1.NewEditorServiceClient(inside.Conn), Another: startAnew,
			ConfigWrites: true}, o.page.port)
		if err != nil {
			return err
		}
		defer s.close()
		link := s.server.Link()
		env.say("The page is at the address below. It opens one browser, once. %s\n%s", startAnew, link)
		if o.page.open {
			if err := openBrowser(link); err != nil {
				env.say("mcphub: no browser could be opened (%v): open the address by hand", err)
			}
		}
	}
	serve := o.gateway()
	serve.Problem = func(p config.Problem) { env.tell("%s", problemReport(p).line()) }
	serve.NameTaken = func(t gateway.NameTaken) { env.tell("mcphub: %s", escape(t.String())) }
	serve.Trouble = func(server string, e *event.Error) {
		text := event.Advised(e.Message, "no window is open; --window serves a page to answer on")
		env.tell("mcphub: no tools of server %s: %s", shortName(server), escape(text))
	}
	g, err := inside.OpenGateway(serve)
	if err != nil {
		return err
	}
	if o.http == "" {
		defer g.Close(nil)
		return g.Serve(ctx, mcpserver.Standard(env.stdin, env.stdout.w))
	}
	endpoint, err := gateway.Listen(g, o.http, token)
	if err != nil {
		return err
	}
	defer endpoint.Close(nil)
	fmt.Fprintln(env.stdout, endpoint.URL)
	if token == "" {
		fmt.Fprintln(env.stdout, "Authorization: Bearer "+endpoint.Token)
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

// thisCommand returns why mcphub mcp does without an entry that runs mcphub mcp: the user's files name it as a server
// for clients, and it would start itself for ever. What the entry runs decides, and not its name, which a folder may
// have given to something else.
func thisCommand(s config.Server) (why string) {
	if len(s.Args) == 0 || s.Args[0] != "mcp" {
		return ""
	}
	base := strings.ToLower(filepath.Base(strings.ReplaceAll(s.Command, `\`, "/")))
	if strings.TrimSuffix(base, ".exe") != "mcphub" && !leadsHere(s) {
		return ""
	}
	return "it runs mcphub mcp, which is this command itself"
}

// leadsHere reports whether the command of an entry is another path to this executable. A path that a folder brings is
// not looked at, since that alone may contact a machine (a UNC path on Windows).
func leadsHere(s config.Server) bool {
	if s.Origin.OfWorkspace() {
		return false
	}
	path, err := exec.LookPath(s.Command)
	return err == nil && isThisProgram(path)
}
