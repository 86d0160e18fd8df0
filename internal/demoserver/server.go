package demoserver

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// demo is the state that the tools share.
type demo struct {
	ctx     context.Context // ends the tools, for transports whose end does not; see add
	opts    Options
	journal *Journal
	server  *mcp.Server

	// mu guards analyses.
	mu       sync.Mutex
	analyses map[string]analysis // by id
}

// New returns the server, for any transport of the SDK. It does not use Options.In and Out. The caller keeps ownership
// of the journal.
func New(o Options, j *Journal) *mcp.Server {
	return build(context.Background(), o, j)
}

// build does what New does, with a context that ends all tools.
func build(ctx context.Context, o Options, j *Journal) *mcp.Server {
	o = o.withDefaults()
	d := &demo{ctx: ctx, opts: o, journal: j, analyses: make(map[string]analysis)}
	d.server = mcp.NewServer(
		&mcp.Implementation{Name: Name, Title: "McpHub demo server", Version: o.Version},
		&mcp.ServerOptions{Instructions: "Every tool here shows one way in which a server meets cancellation. Nothing that it answers is meant to be useful."},
	)
	d.server.AddReceivingMiddleware(d.witnessCancels)
	d.addTimed()
	d.addFiles()
	d.addBatches()
	d.addAnalysis()
	d.addQuestions()
	d.addWithdrawals()
	d.addTroubles()
	return d.server
}

// witnessCancels records each notifications/cancelled. The SDK has already cancelled the handler's context by then,
// without the reason. It drops malformed notifications before this middleware.
func (d *demo) witnessCancels(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if p, ok := req.GetParams().(*mcp.CancelledParams); ok && p != nil {
			id, err := json.Marshal(p.RequestID)
			if err != nil {
				id = nil
			}
			d.journal.note(Event{Event: EventCancelReceived, ID: id, Reason: p.Reason})
		}
		return next(ctx, method, req)
	}
}

// watch calls note once if ctx ends before done is called, and done waits for note. A goroutine that is woken by the
// end of ctx may call done before note has begun: the end counts nevertheless, and done calls note itself.
func watch(ctx context.Context, note func()) (done func()) {
	noted := make(chan struct{})
	unwatch := context.AfterFunc(ctx, func() {
		defer close(noted)
		note()
	})
	return func() {
		switch {
		case !unwatch():
			<-noted
		case ctx.Err() != nil:
			note()
		}
	}
}

// wait waits for the time d. It returns the cause if the context ends first.
func wait(ctx context.Context, d time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }
