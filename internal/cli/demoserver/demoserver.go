// Package demoserver has mcphub demo-server, the command that is the demo's server.
//
// What must not live here: what the server does (internal/demoserver).
package demoserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcphub-go/mcphub/internal/cli/cmd"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/demoserver"
)

// options are the flags of mcphub demo-server.
type options struct {
	*door.Factory
	record   string
	greet    string
	http     string
	overHTTP bool
	untilEOF bool
}

// NewDemoServerCmd returns mcphub demo-server.
func NewDemoServerCmd(f *door.Factory) *cobra.Command {
	o := &options{Factory: f}
	c := &cobra.Command{
		Use: "demo-server [FLAGS]", GroupID: cmd.GroupTry,
		Short: "the MCP server of the demo, on stdin and stdout or over HTTP",
		Long: `Serves MCP on stdin and stdout: a server with tools for every way in which real servers meet
cancellation. With --http it serves Streamable HTTP of every revision at /mcp and the older HTTP with SSE at /sse,
says on stdout where, and lets in this machine alone.
`,
		RunE: func(*cobra.Command, []string) error { return o.run() },
	}
	o.register(c.Flags())
	return c
}

func (o *options) register(set *pflag.FlagSet) {
	set.StringVar(&o.record, "record", "", "FILE\tappend a JSON line for each event to this file")
	set.StringVar(&o.greet, "greet", "", "TEXT\tsay this on stderr at the start")
	set.Func("http",
		"ADDR\tserve over HTTP at HOST:PORT instead, or at a free port of this machine with \"\"; ends on SIGINT or SIGTERM",
		func(v string) error {
			o.http, o.overHTTP = v, true
			return nil
		})
	set.BoolVar(&o.untilEOF, "until-eof", false,
		"with --http, end when the input ends too: a parent that dies leaves nothing behind")
}

// run serves MCP on the process's own standard streams. It ends when its input ends, as the stdio transport requires
// (MCP 2025-11-25, basic/lifecycle: shutdown). SIGTERM ends it like any other server.
func (o *options) run() error {
	if o.untilEOF && !o.overHTTP {
		return exit.Wrongf("--until-eof goes with --http ADDR: without, the input's end is the end anyway")
	}
	if o.greet != "" {
		o.Say("%s", o.greet)
	}
	if o.overHTTP {
		return o.runHTTP()
	}
	return demoserver.Run(context.Background(), demoserver.Options{
		In: os.Stdin, Out: os.Stdout, Log: o.Err, Record: o.record, Version: o.Version,
	})
}

var errInputEnded = errors.New("the input ended")

// runHTTP serves until a signal, or with --until-eof until its input ends.
func (o *options) runHTTP() error {
	ctx, stop := o.InterruptibleOnce()
	defer stop()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	err := demoserver.RunHTTP(ctx, demoserver.HTTPOptions{
		Options: demoserver.Options{Log: o.Err, Record: o.record, Version: o.Version},
		Addr:    o.http,
		Ready: func(url string) {
			fmt.Fprintf(o.Out, "listening on %s%s (Streamable HTTP) and %s\n", url, demoserver.PathMCP, demoserver.PathSSE)
			if o.untilEOF {
				go func() { // a read cannot be interrupted: the goroutine lives as long as the process
					_, _ = io.Copy(io.Discard, o.In)
					end(errInputEnded)
				}()
			}
		},
	})
	if _, wrong := errors.AsType[*demoserver.AddressError](err); wrong {
		return exit.Wrongf("--http: %w", err)
	}
	return err
}
