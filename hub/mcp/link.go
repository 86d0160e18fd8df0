package mcp

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/process"
)

// Link is one open connection to a server. The session owns it once Opener has returned it.
type Link struct {
	Conn jsonrpc.Conn
	// PID is the id of the process that was started for this link; 0 if there is none.
	PID int
	// Exchanges is set if each request is a separate exchange; it is nil for one ordered stream. With it the link is not
	// opened again when it ends on the probe: there is no process.
	Exchanges Exchanges
	// Speak tells the transport the era and revision of the messages from now on: before the probe (Modern), before
	// initialize (Legacy, with no revision yet), and after its answer. It never blocks. nil if the transport need not
	// know.
	Speak func(era Era, revision string)
	// LegacyOnly says that the transport exists only in the legacy era (HTTP+SSE): there is no probe.
	LegacyOnly bool
	// SignedIn returns how long users have spent on signing in for this link so far: no time limit of the start counts
	// that time. May be nil.
	SignedIn func() time.Duration
	// Fallback opens an older transport to the same address. It is used if the server refuses initialize in the way of
	// servers that do not know this transport. nil: none.
	Fallback Opener
	// Kill ends at once a server that has accepted no byte for Options.StallLimit. The link itself ends with
	// jsonrpc.ErrStalled, which closes Conn; after Kill, closing need not wait for the server. It may block; may be nil.
	Kill func(why string)
	// Blame sets the reason why Conn is about to be closed, for Exit. It does not block; may be nil.
	Blame func(why string)
	// Ended returns, once Conn is closed, how the server ended: exit status and last stderr lines, for people. "" if
	// unknown; may be nil.
	Ended func() string
	// Exit returns, once Conn is closed, how the process of the server ended, in one line without its stderr. "" if
	// unknown; nil if there is no process.
	Exit func() string
}

// Opener opens a link. ctx bounds only the opening.
type Opener func(ctx context.Context) (*Link, error)

// Stdio returns an Opener that starts a process and uses its pipes. maxMessageBytes bounds a line of the server; 0
// means the default of jsonrpc. Closing the link stops the process in stages and takes no longer than their graces.
func Stdio(cmd process.Command, maxMessageBytes int) Opener {
	return func(ctx context.Context) (*Link, error) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		p, err := process.Start(cmd)
		if err != nil {
			return nil, err
		}
		return OfProcess(p, maxMessageBytes), nil
	}
}

// OfProcess returns the link of a process that was started for it, as Stdio does.
func OfProcess(p *process.Process, maxMessageBytes int) *Link {
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
	ended := func(how func() string) func() string {
		return func() string {
			select {
			case <-p.Done():
				return how()
			default:
				return ""
			}
		}
	}
	return &Link{
		PID:   p.PID(),
		Conn:  conn,
		Kill:  func(why string) { p.Kill(why) },
		Blame: blame,
		Ended: ended(func() string { return lastWords(p.Exit(), p.Stderr()) }),
		Exit:  ended(func() string { return p.Exit().String() }),
	}
}

// signedIn is SignedIn, if that is set.
func (l *Link) signedIn() time.Duration {
	if l.SignedIn == nil {
		return 0
	}
	return l.SignedIn()
}

// endNoter records that its Reader has ended.
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

// awaitExit waits until a process whose stdout has ended exits by itself. The kernel closes the pipes of a process
// before it reports the exit; a process that is stopped in between would seem to have ended because of us.
func awaitExit(p *process.Process) {
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

// QuoteStderr returns what an error says about the stderr of a server: the line that most likely says why it failed,
// and the last ones. It returns "" if there is nothing to say.
func QuoteStderr(stderr []string) string {
	return process.QuoteStderr(stderr, stderrLines, stderrBytes)
}

// lastWords describes how a process ended, with the relevant lines of its stderr. It does not mention signals that we
// sent. The status of a process that exits by itself counts whether it exits before or after its stdin was closed.
func lastWords(exit process.Exit, stderr []string) string {
	var b strings.Builder
	switch {
	case exit.Stage == process.StageTerminated, exit.Stage == process.StageKilled:
	case exit.Signal != "":
		fmt.Fprintf(&b, "the process was ended by signal %s", exit.Signal)
	default:
		fmt.Fprintf(&b, "the process exited with status %d", exit.Code)
	}
	quoted := QuoteStderr(stderr)
	if quoted != "" && b.Len() > 0 {
		b.WriteString("; ")
	}
	b.WriteString(quoted)
	return b.String()
}
