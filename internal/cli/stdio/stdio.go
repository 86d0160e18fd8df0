// Package stdio has mcphub stdio: the window stream as lines of JSON on standard input and output, for hosts that
// cannot speak gRPC.
//
// What must not live here: what the messages mean (proto/mcphub/v1), and what a hub does with them.
package stdio

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/mcpserver"
	"github.com/mcphub-go/mcphub/internal/cli/cmd"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/cli/source"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// options are the flags of mcphub stdio.
type options struct {
	*door.Factory
	source.Flags
	host bool
}

// NewStdioCmd returns mcphub stdio.
func NewStdioCmd(f *door.Factory) *cobra.Command {
	o := &options{Factory: f}
	c := &cobra.Command{
		Use: "stdio [CONFIG...] [FLAGS]", Short: "a hub for a host without gRPC: the window stream as lines of JSON",
		GroupID: cmd.GroupUse,
		Long: `Runs a hub and attaches one window, whose stream is standard input and output: each line is one message in
proto3 JSON, AttachRequest there and AttachResponse here. The first line is hello. What is no message is answered with
an error, and changes nothing. The end of the input closes the window and ends the hub.

` + source.Help + `
What comes on the input counts as what a person does in a window. With --host it counts as what the host itself does:
the methods of hosts are there, too (ReloadConfig says which servers there are, the reply of CallTool has the result),
and no config is read unless it is named. What is allowed is remembered for this command alone, and for the program
that MCPHUB_HOST_PROGRAM names. docs/embedding.md shows a whole session.
`,
		Example: `  echo '{"hello":{"title":"try"}}' | mcphub stdio mcp.json
  MCPHUB_HOST_PROGRAM=my-editor mcphub stdio --host`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, files []string) error { return o.run(files) },
	}
	o.Register(c)
	o.Complete(c, nil)
	c.Flags().BoolVar(&o.host, "host", false, "what starts this command is a host: it may do what windows may not")
	return c
}

func (o *options) check() error {
	missing := (*source.NoFileError)(nil) // the hub reports it, and waits for the file
	if err := o.Flags.Check(); err != nil && !o.Own() && !errors.As(err, &missing) {
		return err
	}
	return o.CheckAllServers()
}

// run serves one window until the input or the hub has ended.
func (o *options) run(files []string) error {
	o.Configs = append(o.Configs, files...)
	if err := o.check(); err != nil {
		return exit.Wrong(err)
	}
	var sources []*mcphubv1.ConfigSource
	if !o.host || !o.Own() {
		var err error
		if sources, err = o.Sources(""); err != nil {
			return exit.Wrong(err)
		}
	}
	ctx, stop := o.InterruptibleOnce()
	defer stop()
	if err := o.serve(ctx, sources); context.Cause(ctx) == nil {
		return err
	}
	return nil // interrupted, which is a goodbye, too
}

func (o *options) serve(ctx context.Context, sources []*mcphubv1.ConfigSource) error {
	inside, err := o.Inside(hub.Options{Version: o.Version, Logger: o.Logger(), StateDir: door.StateDir("stdio")})
	if err != nil {
		return err
	}
	defer o.Close(inside, door.CloseTime)
	if len(sources) > 0 {
		_, err := source.Load(ctx, o.Streams, mcphubv1.NewMcpServerServiceClient(inside.Conn), sources, "")
		if err != nil {
			return err
		}
	}
	return serve(ctx, inside.Conn, mcpserver.Standard(o.In, o.Out.W), o.host)
}
