package doctor

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
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
	l.proc, l.link = proc, mcp.OfProcess(proc, 0)
	l.link.Conn = heard{l.link.Conn.(jsonrpc.Stream), l.wire}
	l.link.Blame("the examination is over")
	return l, nil
}

// heard is a connection whose messages are recorded.
type heard struct {
	jsonrpc.Stream
	wire *wire
}

// ReadMessage returns the next message, or what came in the place of one.
func (h heard) ReadMessage(results *bounds.Account) (jsonrpc.Message, error) {
	m, err := h.Stream.ReadMessage(results)
	if err == nil && len(m.Text) <= lineBytes {
		h.wire.line(m.Text)
	}
	return m, err
}

// await waits for done, or until d has passed.
func await(done <-chan struct{}, d time.Duration) {
	late := time.NewTimer(d)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
	}
}
