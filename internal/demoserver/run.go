package demoserver

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

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

	server := New(o, j)
	j.note(Event{Event: EventReady})
	session, err := server.Connect(ctx, &transport{ctx: ctx, base: &mcp.IOTransport{Reader: o.In, Writer: o.Out}}, nil)
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
