package jsonrpc_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

// slowPeer is a Peer over a pipe without a buffer: a write blocks until the test reads.
func slowPeer(t *testing.T) (*jsonrpc.Peer, *io.PipeReader) {
	in, silent := io.Pipe()
	out, w := io.Pipe()
	p := jsonrpc.NewPeer(jsonrpc.NewLineConn(in, w, jsonrpc.LineConnOptions{}), jsonrpc.Options{StallLimit: -1})
	t.Cleanup(func() {
		_ = p.Close(errors.New("the test is over"))
		_ = silent.Close()
	})
	return p, out
}

// Flush before Close: messages that were queued while nobody read the pipe still reach the other side.
func TestFlushIsHeardBeforeClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, out := slowPeer(t)
		for _, method := range []string{"one", "two", "three"} {
			if err := p.Notify(method, nil); err != nil {
				t.Fatal(err)
			}
		}
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			ctx, stop := context.WithTimeoutCause(context.Background(), time.Minute, errors.New("too long"))
			defer stop()
			p.Flush(ctx)
			_ = p.Close(errors.New("enough"))
		}()
		text, err := io.ReadAll(out)
		<-closed
		if n := strings.Count(string(text), "\n"); n != 3 {
			t.Errorf("%d messages were heard (%v), want 3: %s", n, err, text)
		}
	})
}

// Flush to a peer that reads nothing returns when its context ends, and at once when the connection ends.
func TestFlushIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := slowPeer(t)
		if err := p.Notify("one", nil); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		ctx, stop := context.WithTimeoutCause(context.Background(), time.Second, errors.New("too long"))
		defer stop()
		p.Flush(ctx)
		if took := time.Since(began); took != time.Second {
			t.Errorf("the flush took %v", took)
		}
		over := make(chan struct{})
		go func() {
			defer close(over)
			p.Flush(context.Background())
		}()
		synctest.Wait()
		_ = p.Close(errors.New("enough"))
		<-over
		p.Flush(context.Background()) // nothing is queued any more
	})
}
