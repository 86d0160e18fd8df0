package demoserver

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// demo is what the tools share.
type demo struct {
	ctx     context.Context // ends the tools, for transports whose own end does not; see add
	opts    Options
	journal *Journal
	server  *mcp.Server

	// mu guards analyses.
	mu       sync.Mutex
	analyses map[string]analysis // by id
}

// New builds the server, for any transport of the SDK. Options.In and Out are not used. The journal stays the caller's.
func New(o Options, j *Journal) *mcp.Server {
	return build(context.Background(), o, j)
}

// build is New with a context that ends all tools.
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

// witnessCancels writes down each notifications/cancelled. The SDK has then already cancelled the handler's context,
// and told it nothing of the reason; malformed ones it drops before they come here.
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

// watch calls note, once, if ctx ends before done is called. Done waits for it. Whoever wakes from the end of ctx may
// be faster than the note, and calls done before: the end counts all the same.
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

// wait sleeps, or returns the cause of the context's end.
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
