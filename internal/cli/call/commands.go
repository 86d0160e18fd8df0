package call

import (
	"github.com/spf13/cobra"

	"github.com/mcphub-go/mcphub/internal/cli/cmd"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/cli/source"
)

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

// NewCallCmd returns mcphub call.
func NewCallCmd(f *door.Factory) *cobra.Command {
	return newRequestCmd(f, &cobra.Command{
		Use: "call [FILE...] [SERVER] TOOL [-a NAME=VALUE]... [FLAGS]", Short: "call one tool from outside, end to end",
		Long: `Calls one tool through a hub of its own. The text of the result goes to stdout, everything else to stderr.
With --json each event of the window stream is one line of proto3 JSON on stdout, and the last line is
{"callToolResponse":...} or {"error":{"code":...,"reason":...,"message":...}}. Ctrl-C cancels the request and waits
for its end; a second one leaves at once.

` + source.Help + `A name that no server has is the tool's; the server may be left out where there is one.

On a terminal, without a tool, it asks for the server, the tool and its arguments, and prints the command line that
says the same.

--cancel-after counts from the moment in which the request is at the server, so that the cancel reaches it;
--cancel-at counts from the start of the command.

` + signInHelp + `
` + startHelp + `
` + exitHelp + `
`,
		Example: `  mcphub call --stdio 'npx -y @modelcontextprotocol/server-everything' \
      echo -a message=hi
  mcphub call mcp.json demo sleep -a seconds=60 \
      --cancel-after 2s --reason 'took too long'
  mcphub call demo echo --args @arguments.json`,
	})
}

// NewReadCmd returns mcphub read.
func NewReadCmd(f *door.Factory) *cobra.Command {
	return newRequestCmd(f, &cobra.Command{
		Use: "read [FILE...] [SERVER] URI [FLAGS]", Short: "read one resource",
		Long: `Reads one resource as mcphub call calls a tool; the last line under --json is {"readResourceResponse":...} or
{"error":...}.

` + exitHelp + `
`,
	})
}

// NewPromptCmd returns mcphub prompt.
func NewPromptCmd(f *door.Factory) *cobra.Command {
	return newRequestCmd(f, &cobra.Command{
		Use: "prompt [FILE...] [SERVER] NAME [--args JSON] [FLAGS]", Short: "fill one prompt template",
		Long: `Fills one prompt template as mcphub call calls a tool; the last line under --json is
{"getMcpPromptResponse":...} or {"error":...}.

` + exitHelp + `
`,
	})
}

// newRequestCmd completes c to a command that makes one request.
func newRequestCmd(f *door.Factory, c *cobra.Command) *cobra.Command {
	o := &options{Factory: f}
	c.GroupID, c.Args = cmd.GroupUse, cobra.ArbitraryArgs
	c.RunE = func(_ *cobra.Command, words []string) error { return o.run(words) }
	o.register(c)
	o.complete(c)
	return c
}
