package mcp

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mcphub-go/mcphub/hub/complaint"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// Link is one open connection to a server. The session owns it from the moment that Opener returned it.
type Link struct {
	Conn jsonrpc.Conn
	// PID is the process that was started for this link; 0 when there is none.
	PID int
	// Exchanges is set when each request is an exchange of its own; nil for one ordered stream. With it nothing is started
	// anew when the link ends on the probe: there is no process.
	Exchanges Exchanges
	// Speak tells the transport what is spoken from now on: before the probe (Modern), before initialize (Legacy, with no
	// revision yet), and after its answer. It never blocks. nil where the transport need not know.
	Speak func(era Era, revision string)
	// LegacyOnly says that the transport exists in the legacy era alone (HTTP+SSE): there is no probe.
	LegacyOnly bool
	// SignedIn is how long people have been signing in for this link so far: no clock of the start counts that. May be
	// nil.
	SignedIn func() time.Duration
	// Fallback is another way to the same address, for a server that refuses initialize on this one as servers do that do
	// not know this transport. nil: none.
	Fallback Opener
	// Kill ends at once a server that has taken no byte for Options.StallLimit. The link itself ends with
	// jsonrpc.ErrStalled, which closes Conn; Kill spares that the patience. It may block; may be nil.
	Kill func(why string)
	// Blame says why Conn is about to be closed, so that Exit can tell it. It does not block; may be nil.
	Blame func(why string)
	// Ended tells, once Conn is closed, how the server ended: exit status and last stderr lines, for people. "" when
	// unknown; may be nil.
	Ended func() string
	// Exit tells, once Conn is closed, how the process of the server ended, in one line without its stderr. "" when
	// unknown; nil when there is none.
	Exit func() string
	// Memory tells, once Conn is closed, by how much the server went beyond its memory limit, when that is what ended it.
	// May be nil.
	Memory func() transport.MemoryUse
}

// Opener opens a link. ctx bounds the opening alone.
type Opener func(ctx context.Context) (*Link, error)

// Stdio opens a link by starting a process and speaking over its pipes. maxMessageBytes bounds a line of the server; 0
// means the default of jsonrpc. Closing the link stops the process in stages and takes as long as its graces at most.
func Stdio(cmd transport.Command, maxMessageBytes int) Opener {
	return func(ctx context.Context) (*Link, error) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		p, err := transport.Start(cmd)
		if err != nil {
			return nil, err
		}
		var why atomic.Pointer[string]
		blame := func(text string) { why.Store(&text) }
		blame("the connection was closed")
		stdout := &endNoter{Reader: p.Stdout()}
		conn := jsonrpc.NewLineConn(stdout, p.Stdin(), jsonrpc.LineConnOptions{
			MaxLine: maxMessageBytes,
			Close: func() error {
				if stdout.ended.Load() {
					awaitExit(p)
				}
				p.Stop(*why.Load())
				return nil
			},
		})
		return &Link{
			PID:   p.PID(),
			Conn:  conn,
			Kill:  func(why string) { p.Kill(why) },
			Blame: blame,
			Ended: func() string {
				select {
				case <-p.Done():
					return lastWords(p.Exit(), p.Stderr())
				default:
					return ""
				}
			},
			Exit: func() string {
				select {
				case <-p.Done():
					return p.Exit().String()
				default:
					return ""
				}
			},
			Memory: func() transport.MemoryUse {
				select {
				case <-p.Done():
					return p.Exit().Memory
				default:
					return transport.MemoryUse{}
				}
			},
		}, nil
	}
}

// endNoter notes that what it reads has ended.
type endNoter struct {
	io.Reader
	ended atomic.Bool
}

func (n *endNoter) Read(b []byte) (int, error) {
	count, err := n.Reader.Read(b)
	if err != nil {
		n.ended.Store(true)
	}
	return count, err
}

// exitWait is how long a server may take from the end of its stdout to its exit.
const exitWait = 100 * time.Millisecond

// awaitExit gives a process whose stdout has ended the time to exit by itself. The kernel closes the pipes of a process
// that exits before it tells of the exit; who is stopped in between would look as if its end were our doing.
func awaitExit(p *transport.Process) {
	late := time.NewTimer(exitWait)
	defer late.Stop()
	select {
	case <-p.Done():
	case <-late.C:
	}
}

// How much of the end of stderr an error shows.
const (
	stderrLines = 5
	stderrBytes = 4 << 10
)

// lastWords is how a process ended, in words, with what matters of its stderr. What signals of ours did to it is of no
// interest. A process that exits by itself may be seen to do so before or after its stdin was closed for that: its
// status counts in both cases.
func lastWords(exit transport.Exit, stderr []string) string {
	var b strings.Builder
	switch {
	case exit.Stage == transport.StageTerminated, exit.Stage == transport.StageKilled:
	case exit.Signal != "":
		fmt.Fprintf(&b, "the process was ended by signal %s", exit.Signal)
	default:
		fmt.Fprintf(&b, "the process exited with status %d", exit.Code)
	}
	quoted := complaint.Quote(stderr, stderrLines, stderrBytes)
	if quoted != "" && b.Len() > 0 {
		b.WriteString("; ")
	}
	b.WriteString(quoted)
	return b.String()
}
