package main

import (
	"context"
	"errors"

	"fmt"
	"io"
	"os"

	"github.com/mcphub-go/mcphub/internal/demoserver"
	"github.com/spf13/pflag"
)

// demoServerOptions are the flags of mcphub demo-server.
type demoServerOptions struct {
	record      string
	greet       string
	http        string
	overHTTP    bool
	allowRemote bool
	untilEOF    bool
}

func (o *demoServerOptions) flags() *pflag.FlagSet {
	set := newFlags("demo-server")
	set.StringVar(&o.record, "record", "", "FILE\tappend a JSON line for each event to this file")
	set.StringVar(&o.greet, "greet", "", "TEXT\tsay this on stderr at the start")
	set.Func("http",
		"ADDR\tserve over HTTP at HOST:PORT instead, or at a free port of this machine with \"\"; ends on SIGINT or SIGTERM",
		func(v string) error {
			o.http, o.overHTTP = v, true
			return nil
		})
	set.BoolVar(&o.allowRemote, "allow-remote", false,
		"with --http, let other machines in: its tools write files and can end it")
	set.BoolVar(&o.untilEOF, "until-eof", false,
		"with --http, end when the input ends too: a parent that dies leaves nothing behind")
	return set
}

func (o *demoServerOptions) check() error {
	if o.untilEOF && !o.overHTTP {
		return errors.New("--until-eof goes with --http ADDR: without, the input's end is the end anyway")
	}
	if o.allowRemote && !o.overHTTP {
		return errors.New("--allow-remote goes with --http ADDR")
	}
	return nil
}

// runDemoServer serves MCP on the process's own standard streams. It ends when its input ends, as the stdio transport
// requires (MCP 2025-11-25, basic/lifecycle: shutdown). SIGTERM ends it like any other server.
func runDemoServer(env environment, o demoServerOptions) int {
	if err := o.check(); err != nil {
		return usageError(env, "demo-server", err)
	}
	if o.greet != "" {
		env.say("%s", o.greet)
	}
	if o.overHTTP {
		return runDemoServerHTTP(env, o)
	}
	err := demoserver.Run(context.Background(), demoserver.Options{
		In: os.Stdin, Out: os.Stdout, Log: env.stderr, Record: o.record, Version: version,
	})
	if err != nil {
		env.say("mcphub demo-server: %v", err)
		return exitServer
	}
	return exitOK
}

var errInputEnded = errors.New("the input ended")

// runDemoServerHTTP serves until a signal, or with --until-eof until its input ends.
func runDemoServerHTTP(env environment, o demoServerOptions) int {
	ctx, stop := env.interruptible()
	defer stop()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer leaveAtOnce(ctx)()
	err := demoserver.RunHTTP(ctx, demoserver.HTTPOptions{
		Options:     demoserver.Options{Log: env.stderr, Record: o.record, Version: version},
		Addr:        o.http,
		AllowRemote: o.allowRemote,
		Ready: func(url string) {
			fmt.Fprintf(env.stdout, "listening on %s%s (Streamable HTTP) and %s\n", url, demoserver.PathMCP, demoserver.PathSSE)
			if o.untilEOF {
				go func() { // a read cannot be interrupted: the goroutine lives as long as the process
					_, _ = io.Copy(io.Discard, env.stdin)
					end(errInputEnded)
				}()
			}
		},
	})
	switch {
	case errors.Is(err, demoserver.ErrRemote):
		return usageError(env, "demo-server", fmt.Errorf("--http: %w, or say --allow-remote", err))
	case errors.Is(err, demoserver.ErrAddress):
		return usageError(env, "demo-server", fmt.Errorf("--http: %w", err))
	case err != nil:
		env.say("mcphub demo-server: %v", err)
		return exitServer
	}
	return exitOK
}
