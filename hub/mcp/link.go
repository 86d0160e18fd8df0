package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// Link is one open connection to a server. The session owns it from the moment that Opener returned it.
type Link struct {
	Conn jsonrpc.Conn
	// PID is the process that was started for this link; 0 when there is none.
	PID int
	// Route is how a cancel travels here; nil means what routeFor says for stdio.
	Route jsonrpc.CancelRoute
	// Kill ends at once a server that has taken no byte for Options.StallLimit. The link itself ends with jsonrpc.ErrStalled, which closes Conn;
	// Kill spares that the patience. It may block; may be nil.
	Kill func(why string)
	// Ended tells, once Conn is closed, how the server ended: exit status and last stderr lines, for people. "" when unknown; may be nil.
	Ended func() string
}

// Opener opens a link. ctx bounds the opening alone.
type Opener func(ctx context.Context) (*Link, error)

// Stdio opens a link by starting a process and speaking over its pipes. maxMessageBytes bounds a line of the server; 0 means the default of jsonrpc.
// Closing the link stops the process in stages and takes as long as its graces at most.
func Stdio(cmd transport.Command, maxMessageBytes int) Opener {
	return func(ctx context.Context) (*Link, error) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		p, err := transport.Start(cmd)
		if err != nil {
			return nil, err
		}
		conn := jsonrpc.NewLineConn(p.Stdout(), p.Stdin(), jsonrpc.LineConnOptions{
			MaxLine: maxMessageBytes,
			Close: func() error {
				p.Stop("the connection was closed")
				return nil
			},
		})
		return &Link{
			PID:  p.PID(),
			Conn: conn,
			Kill: func(why string) { p.Kill(why) },
			Ended: func() string {
				select {
				case <-p.Done():
					return lastWords(p.Exit(), p.Stderr())
				default:
					return ""
				}
			},
		}, nil
	}
}

// stderrLines is how many of the last stderr lines an error shows.
const stderrLines = 5

// lastWords is how a process ended, in words, with its last stderr lines. What signals of ours did to it is of no interest. A process that exits
// by itself may be seen to do so before or after its stdin was closed for that: its status counts in both cases.
func lastWords(exit transport.Exit, stderr []string) string {
	var b strings.Builder
	switch {
	case exit.Stage == transport.StageTerminated, exit.Stage == transport.StageKilled:
	case exit.Signal != "":
		fmt.Fprintf(&b, "the process was ended by signal %s", exit.Signal)
	default:
		fmt.Fprintf(&b, "the process exited with status %d", exit.Code)
	}
	if len(stderr) == 0 {
		return b.String()
	}
	if b.Len() > 0 {
		b.WriteString("; ")
	}
	b.WriteString("last lines on stderr: ")
	for i, line := range stderr[max(0, len(stderr)-stderrLines):] {
		if i > 0 {
			b.WriteString(" | ")
		}
		b.WriteString(printable(line))
	}
	return b.String()
}
