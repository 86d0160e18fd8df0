// Package mcp has mcphub mcp: all servers as one MCP server, and what to paste into the settings of its clients.
//
// What must not live here: the gateway (ipc/gateway).
package mcp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcpserver"
	"github.com/mcphub-go/mcphub/internal/cli/browser"
	"github.com/mcphub-go/mcphub/internal/cli/cmd"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/cli/source"
	"github.com/mcphub-go/mcphub/internal/web"
	"github.com/mcphub-go/mcphub/ipc/gateway"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// NewMCPCmd returns mcphub mcp.
func NewMCPCmd(f *door.Factory) *cobra.Command {
	o := &options{Factory: f}
	c := &cobra.Command{
		Use: "mcp [CONFIG...] [FLAGS]", Short: "all your servers as one MCP server, for any MCP client",
		GroupID: cmd.GroupUse,
		Long: `Serves the servers of the config files as one MCP server on its standard input and output, or with --http
on an address of this machine. What the client cancels is cancelled at the server, with the reason; what a server asks
in the course of a call goes to the client, if it answers such questions; and what a server withdraws disappears there.
It ends with its input, or with Ctrl-C.

` + source.Help + `
It starts whatever is configured; what is wrong with a config file is said on stderr. Tools are named SERVER__TOOL.
Where the config says that somebody is to be asked before a call, the page of --window asks; without one the call fails
with an error that says so, unless the client asks its user itself (--approval client). What is allowed on the page is
remembered for this command alone, in the directory gateway of mcphub's state directory.

With --http, whoever has the token may call every tool. docs/gateway.md has more.
`,
		Example: `  mcphub mcp --print-config claude-code
  mcphub mcp mcp.json --window
  mcphub mcp --http 127.0.0.1:7777`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, files []string) error { return o.run(files) },
	}
	o.register(c)
	return c
}

// run serves all servers as one MCP server.
func (o *options) run(files []string) error {
	o.Configs = append(o.Configs, files...)
	if o.printConfig != "" {
		return exit.Wrong(printClientConfig(o))
	}
	if err := o.check(); err != nil {
		return exit.Wrong(err)
	}
	token, err := o.token()
	if err != nil {
		return exit.Wrong(err)
	}
	sources, err := o.Sources("")
	if err != nil {
		return exit.Wrong(err)
	}
	ctx, stop := o.InterruptibleOnce()
	defer stop()
	if err = o.serve(ctx, sources, token); errors.Is(err, door.ErrInterrupted) {
		return nil
	}
	return err
}

// serve serves the gateway of a hub in this process until the client is gone or ctx ends.
func (o *options) serve(ctx context.Context, sources []*mcphubv1.ConfigSource, token string) error {
	options := hub.Options{Version: o.Version, StateDir: door.StateDir("gateway"), Logger: o.Logger()}
	if o.Single() == "" {
		options.LeaveOut = thisCommand
	}
	inside, err := o.Inside(options)
	if err != nil {
		return err
	}
	defer o.Close(inside, door.CloseTime)
	servers := mcphubv1.NewMcpServerServiceClient(inside.Conn)
	if _, err := source.Load(ctx, o.Streams, servers, sources, ""); err != nil {
		return err
	}
	if o.window {
		s, err := browser.Open(web.Options{Editor: mcphubv1.NewEditorServiceClient(inside.Conn), Another: browser.StartAnew,
			ConfigWrites: true}, o.page.Port)
		if err != nil {
			return err
		}
		defer s.Close()
		s.Announce(o.Streams, o.Err, browser.StartAnew, o.page.Open)
	}
	serve := o.gateway
	serve.Title = "mcphub mcp"
	serve.Problem = func(p config.Problem) { o.Tell("%s", source.ProblemLine(p)) }
	serve.NameTaken = func(t gateway.NameTaken) { o.Tell("mcphub: %s", console.Escape(t.String())) }
	serve.Trouble = func(server string, e *event.Error) {
		text := event.Advised(e.Message, "no window is open; --window serves a page to answer on")
		o.Tell("mcphub: no tools of server %s: %s", console.ShortName(server), console.Escape(text))
	}
	g, err := inside.OpenGateway(serve)
	if err != nil {
		return err
	}
	if o.http == "" {
		defer g.Close(nil)
		return g.Serve(ctx, mcpserver.Standard(o.In, o.Out.W))
	}
	endpoint, err := gateway.Listen(g, o.http, token)
	if err != nil {
		return err
	}
	defer endpoint.Close(nil)
	fmt.Fprintln(o.Out, endpoint.URL)
	if token == "" {
		fmt.Fprintln(o.Out, "Authorization: Bearer "+endpoint.Token)
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

// options are the flags of mcphub mcp.
type options struct {
	*door.Factory
	source.Flags
	page        browser.Flags
	window      bool
	http        string
	tokenFile   string
	gateway     gateway.Options
	printConfig string
}

func (o *options) register(c *cobra.Command) {
	o.Flags.Register(c)
	o.Complete(c, nil)
	set := c.Flags()
	set.StringVar(&o.http, "http", "", "ADDRESS\tserve Streamable HTTP at this loopback address, such as 127.0.0.1:7777 "+
		"(port 0: a free one), in place of stdin and stdout")
	set.StringVar(&o.tokenFile, "token-file", "", "FILE\twith --http: take the token from this file; default: a new one, "+
		"which is printed once")
	set.StringVar(&o.gateway.Profile, "profile", "", "NAME\ta profile of the config: which servers and tools there are, and what "+
		"the other flags do not say")
	cmd.ChoiceFlag(set, &o.gateway.Approval, "approval", "window|client", "who agrees to calls where the config says ask: a window "+
		"(the default), or the client, which has asked its user itself")
	cmd.ChoiceFlag(set, &o.gateway.Questions, "questions", "client|window|either", "who is asked what servers ask in the course of a "+
		"call; default client")
	cmd.ChoiceFlag(set, &o.gateway.Tools, "tools", "all|search|auto", "list all tools (the default), or three that find and call them; "+
		"auto: from 100 tools or 10,000 tokens on")
	set.IntVar(&o.gateway.MaxTokens, "max-tokens", 0, "N\tbound the results of tools; the client reads the rest in pieces")
	set.BoolVar(&o.gateway.PlainNames, "plain-names", false, "tools and prompts keep their servers' names where no two are alike")
	set.BoolVar(&o.window, "window", false, "serve the page as well, to approve, answer and cancel on; its address is "+
		"printed on stderr")
	o.page.Register(set)
	set.StringVar(&o.printConfig, "print-config", "", "CLIENT\tprint what to paste into the settings of a client, and "+
		"end; with --http and --token-file what leads it to that address: "+
		strings.Join(clientNames(), ", "))
}

// check returns an error if the flags themselves are wrong. It is no error that there are no servers yet: a client that
// starts the gateway must not see it fail.
func (o *options) check() error {
	if !o.Own() {
		missing := (*source.NoFileError)(nil) // the hub reports it, and waits for the file
		if err := o.Flags.Check(); err != nil && !errors.As(err, &missing) {
			return err
		}
	}
	if err := o.page.Check(); err != nil {
		return err
	}
	if err := o.CheckAllServers(); err != nil {
		return err
	}
	switch {
	case o.gateway.MaxTokens < 0:
		return fmt.Errorf("--max-tokens %d: it is a number of tokens, or 0 for no bound", o.gateway.MaxTokens)
	case o.tokenFile != "" && o.http == "":
		return errors.New("--token-file goes with --http")
	case !o.window && (o.page.Open || o.page.Port != 0):
		return errors.New("--open and --port say how the page of --window is served")
	}
	return nil
}

// minToken is the least length of a token. A shorter one could be guessed.
const minToken = 16

// token returns the token of --token-file, "" without the flag.
func (o *options) token() (string, error) {
	if o.tokenFile == "" {
		return "", nil
	}
	text, err := os.ReadFile(o.tokenFile)
	if err != nil {
		return "", fmt.Errorf("--token-file: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if len(token) < minToken || strings.ContainsAny(token, " \t\r\n") {
		return "", fmt.Errorf("--token-file %s: a token is one word of at least %d characters", o.tokenFile, minToken)
	}
	return token, nil
}
