// Package demoserver is the MCP server behind "mcphub demo-server". It has a tool for every way in which real servers
// handle cancellation.
//
// It uses the server half of the official Go SDK, a peer that this project did not write. Otherwise the engine would
// only be tested against itself. [New] builds the server, [Run] serves it over stdio, and [RunHTTP] serves it over
// Streamable HTTP of both eras and over the older HTTP with SSE.
//
// What must not live here: any import of the hub, its engine or its contract, and any behaviour that hides what the SDK
// does on the wire (for example, it answers cancelled requests). The only exception is the reason of a withdrawn
// question, which the SDK cannot send: see conn and answerWriter.
package demoserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Name is the name under which the server introduces itself.
const Name = "mcphub-demo"

// Options configures the server.
type Options struct {
	In      io.ReadCloser  // messages of the client; closed by Run once it serves
	Out     io.WriteCloser // messages to the client; closed by Run once it serves
	Log     io.Writer      // one line for each event, without arguments; nil discards
	Record  string         // path of a file to which a JSON line for each event is appended; "" for none
	Version string         // self-reported; "" is "dev"
	TempDir string         // for process_file; "" is the system's
	Exit    func(code int) // called by the tool crash; nil is os.Exit
}

func (o Options) withDefaults() Options {
	if o.Log == nil {
		o.Log = io.Discard
	}
	if o.Version == "" {
		o.Version = "dev"
	}
	if o.TempDir == "" {
		o.TempDir = os.TempDir()
	}
	if o.Exit == nil {
		o.Exit = os.Exit
	}
	return o
}

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

// build returns the server, whose tools end with ctx. The caller keeps ownership of the journal.
func build(ctx context.Context, o Options, j *Journal) *mcp.Server {
	o = o.withDefaults()
	d := &demo{ctx: ctx, opts: o, journal: j, analyses: make(map[string]analysis)}
	d.server = mcp.NewServer(
		&mcp.Implementation{Name: Name, Title: "McpHub demo server", Version: o.Version},
		&mcp.ServerOptions{Instructions: "Every tool here shows one way in which a server meets cancellation. Nothing that it answers is meant to be useful."},
	)
	d.addTimed()
	d.addFiles()
	d.addBatches()
	d.addAnalysis()
	d.addQuestions()
	d.addWithdrawals()
	d.addTroubles()
	return d.server
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

// Run serves one client over o.In and o.Out until the input or ctx ends, and waits for all running tools. Tools that
// honour cancellation end at once; "stubborn" runs to its end. Run returns nil if the input ended, and the cause of ctx
// if ctx ended first.
func Run(ctx context.Context, o Options) (err error) {
	o = o.withDefaults()
	if o.In == nil || o.Out == nil {
		return errors.New("demo server: Options.In and Options.Out are required")
	}
	j, err := OpenJournal(o.Log, o.Record)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()

	server := build(context.Background(), o, j)
	j.note(Event{Event: EventReady})
	base := &mcp.IOTransport{Reader: o.In, Writer: o.Out}
	session, err := server.Connect(ctx, &transport{ctx: ctx, journal: j, base: base}, nil)
	if err != nil {
		return fmt.Errorf("demo server: %w", err)
	}
	err = session.Wait()
	j.note(Event{Event: EventClosed})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, io.ErrClosedPipe):
		return nil // the client closed both directions; the last answers found no reader
	case err != nil:
		return fmt.Errorf("demo server: %w", err)
	}
	return nil
}
