package fakeserver

import (
	"context"
	"errors"
	"io"
	"testing"
)

// An end of the connection closes the streams, and the reader can see that before the end has reached the contexts
// that derive from the connection's. The end is the cause nevertheless.
func TestEndIsTheCauseBeforeItReachesTheCalls(t *testing.T) {
	in, _ := io.Pipe()
	_, out := io.Pipe()
	c := New().pipe(t.Context(), in, out)
	c.ctx, c.hangUp = context.WithCancelCause(context.WithoutCancel(c.link)) // the end has not reached it
	c.end(ErrKilled)
	if err := c.serve(in); !errors.Is(err, ErrKilled) {
		t.Errorf("serve: %v, want %v", err, ErrKilled)
	}
	if cause := context.Cause(c.ctx); !errors.Is(cause, ErrKilled) {
		t.Errorf("the calls ended by %v, want %v", cause, ErrKilled)
	}
}
