package doctor

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/process"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// Names of the transports in reports.
const (
	Stdio = "stdio"
	HTTP  = "http"
	SSE   = "sse"
)

// Way is one way to reach the server: a command, or an address behind a transport.
type Way struct {
	Transport string
	Command   process.Command       // of Stdio
	HTTP      transport.HTTPOptions // of HTTP and SSE
	// OrSSE means that the transport of the address is not known: HTTP is tried first, as by a hub, and then SSE.
	OrSSE bool
}

// Target is the server to examine.
type Target struct {
	Name string
	Way  Way
	// Hide removes secrets from a text before it is stored. nil means that there are none.
	Hide func(text string) string
}

// Options of an examination. The zero value calls no tool.
type Options struct {
	Client mcp.Implementation
	// Tool is called with Arguments, and the call is cancelled, in each era. "" calls no tool.
	Tool      string
	Arguments json.RawMessage
	// Connect bounds each start. Default 30 s.
	Connect time.Duration
	// Patience bounds each request. Default 30 s.
	Patience time.Duration
	// Before is how long a call runs before it is cancelled. A call that reports progress is cancelled at its first
	// report. Default 1 s.
	Before time.Duration
	// Watch is how long the server is observed after a cancel. Default 3 s.
	Watch time.Duration
	// Reason is sent with each cancel. Default: "mcphub doctor".
	Reason string
	// Doing is called with the present step, for a line on a terminal. It may be nil.
	Doing func(text string)
}

func (o Options) withDefaults() Options {
	preset := func(d *time.Duration, to time.Duration) {
		if *d <= 0 {
			*d = to
		}
	}
	preset(&o.Connect, 30*time.Second)
	preset(&o.Patience, 30*time.Second)
	preset(&o.Before, time.Second)
	preset(&o.Watch, 3*time.Second)
	if o.Reason == "" {
		o.Reason = "mcphub doctor"
	}
	if o.Doing == nil {
		o.Doing = func(string) {}
	}
	if o.Client.Name == "" {
		o.Client = mcp.Implementation{Name: "mcphub-doctor", Version: "0"}
	}
	return o
}

// Calls returns how often the tool is called at most: twice in each era. The second call shows whether the first one
// has left anything behind.
func Calls(t Target, o Options) int {
	if o.Tool == "" {
		return 0
	}
	return 2 * len(t.Way.eras())
}

// eras returns the eras that can be spoken on the way. HTTP+SSE exists only in the legacy era.
func (w Way) eras() []string {
	if w.Transport == SSE {
		return []string{mcp.EraLegacy}
	}
	return []string{mcp.EraLegacy, mcp.EraModern}
}

// line is one open connection and what was observed on it. The process is nil for a URL.
type line struct {
	link *mcp.Link
	wire *wire
	proc *process.Process
}

// open connects. grace limits the time for the end of a process.
func (w Way) open(ctx context.Context, grace process.Grace, f *encoding) (*line, error) {
	l := &line{wire: newWire(f)}
	if w.Transport != Stdio {
		opener := mcp.HTTP(w.HTTP)
		if w.Transport == SSE {
			opener = mcp.SSE(w.HTTP)
		}
		link, err := opener(ctx)
		l.link = link
		return l, err
	}
	command := w.Command
	command.Grace, command.OnStderr = grace, l.wire.stderr
	proc, err := process.Start(command)
	if err != nil {
		return nil, err
	}
	l.proc = proc
	var blame atomic.Pointer[string]
	why := "the examination is over"
	blame.Store(&why)
	stdout := &tap{from: proc.Stdout(), wire: l.wire}
	conn := jsonrpc.NewLineConn(stdout, proc.Stdin(), jsonrpc.LineConnOptions{
		Close: func() error {
			if stdout.ended.Load() { // the process is about to exit by itself, and the report must not say that it was ended
				await(proc.Done(), exiting)
			}
			proc.Stop(*blame.Load())
			return nil
		},
	})
	l.link = &mcp.Link{
		Conn: conn, PID: proc.PID(),
		Kill:  func(why string) { proc.Kill(why) },
		Blame: func(why string) { blame.Store(&why) },
		Ended: l.ended,
	}
	return l, nil
}

// exiting is how long a process may take from the end of its stdout to its exit.
const exiting = 100 * time.Millisecond

// await waits for done, or until d has passed.
func await(done <-chan struct{}, d time.Duration) {
	late := time.NewTimer(d)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
	}
}

// ended returns how the process ended, with what it said on stderr, or "" while it runs.
func (l *line) ended() string {
	if l.proc == nil {
		return ""
	}
	select {
	case <-l.proc.Done():
		text := "the process ended: " + l.proc.Exit().String()
		if said := l.wire.saidOnStderr(); said != "" {
			text += "; " + said
		}
		return text
	default:
		return ""
	}
}
