package jsonrpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

func isClosed(t *testing.T, err, cause error) {
	t.Helper()
	var c *jsonrpc.ClosedError
	if !errors.As(err, &c) || !errors.Is(err, jsonrpc.ErrClosed) || !errors.Is(err, cause) {
		t.Fatalf("error %v (%T), want a ClosedError of %v", err, err, cause)
	}
}

func TestCloseFailsCallsAndCancelsHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shutdown := errors.New("shutdown")
		causes := make(chan error, 1)
		p, w := start(t, jsonrpc.Options{HandleRequest: func(ctx context.Context, _ *jsonrpc.Request) (json.RawMessage,
			error) {
			<-ctx.Done() // a user who never answers
			causes <- context.Cause(ctx)
			return nil, nil
		}})
		_, got := begin(t, p, t.Context(), "a", "")
		w.send(ask("1", "elicitation/create"))
		w.expect(t, called("1", "a"))
		check(t, "err before", p.Err(), error(nil))
		before := time.Now()
		var closers sync.WaitGroup
		for range 3 {
			closers.Go(func() {
				if err := p.Close(shutdown); err != nil {
					t.Error(err)
				}
			})
		}
		closers.Wait()
		check(t, "time", time.Since(before), time.Duration(0))
		isClosed(t, (<-got).err, shutdown)
		isClosed(t, <-causes, shutdown)
		isClosed(t, p.Err(), shutdown)
		<-p.Done()
		<-p.Ending()
		_, err := p.Begin("b", nil)
		isClosed(t, err, shutdown)
		isClosed(t, p.Notify("b", nil), shutdown)
		isClosed(t, p.Tracker().Register(jsonrpc.Outgoing, jsonrpc.IntID(5), "m", nil), shutdown)
		check(t, "pending", len(p.Tracker().Pending()), 0)
		w.expect(t)
	})
}

// At the end of the input open calls fail and handlers are cancelled; what came before it is still delivered.
func TestEndOfInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := newSlow(), &desk{}
		p, w := start(t, jsonrpc.Options{HandleNotification: s.handle, HandleRequest: d.handle})
		_, answeredCall := begin(t, p, t.Context(), "a", "")
		_, open := begin(t, p, t.Context(), "b", "")
		w.send(ask("1", "elicitation/create"))
		w.expect(t, called("1", "a"), called("2", "b"))
		w.send(note("n", "1"), note("n", "2"), answered("1", "1"))
		close(w.in)
		isClosed(t, (<-open).err, io.EOF)
		synctest.Wait()
		check(t, "handlers", d.ended(), []string{"1: jsonrpc: connection closed: EOF"})
		check(t, "answered too early", len(answeredCall), 0)
		s.pass(2)
		check(t, "result", string((<-answeredCall).result), "1")
		<-p.Done()
		check(t, "seen", s.take(), []string{"n1", "n2"})
		isClosed(t, p.Err(), io.EOF)
	})
}

// Abort delivers a response that was received, even while the notification handler blocks, and drops the notifications
// that wait.
func TestCloseWithResponseInHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlow()
		p, w := start(t, jsonrpc.Options{HandleNotification: s.handle})
		_, got := begin(t, p, t.Context(), "a", "")
		synctest.Wait()
		w.send(note("n", "1"), note("n", "2"), answered("1", "1"))
		synctest.Wait()
		p.Abort(errTestOver)
		check(t, "result", string((<-got).result), "1")
		s.pass(1)
		<-p.Done()
		check(t, "seen", s.take(), []string{"n1"})
	})
}

func TestAbortFromHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("protocol violation")
		var p *jsonrpc.Peer
		ready := make(chan struct{})
		p, w := start(t, jsonrpc.Options{HandleNotification: func(*jsonrpc.Notification) {
			<-ready
			p.Abort(cause)
		}})
		close(ready)
		w.send(note("n", "1"))
		<-p.Done()
		isClosed(t, p.Err(), cause)
	})
}

func TestFullPipeBlocksNobody(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			before := time.Now()
			p, w := start(t, jsonrpc.Options{})
			w.fill()
			fullPipe(t, p)
			check(t, "time", time.Since(before), time.Duration(0))
			check(t, "written", w.written(), []string{})
		})
	})
	t.Run("real", func(t *testing.T) {
		ourR, theirW, err := os.Pipe()
		check(t, "pipe", err, error(nil))
		theirR, ourW, err := os.Pipe() // nobody reads it
		check(t, "pipe", err, error(nil))
		defer theirR.Close()
		defer theirW.Close()
		fullPipe(t, jsonrpc.NewPeer(jsonrpc.NewLineConn(ourR, ourW, jsonrpc.LineConnOptions{}), jsonrpc.Options{}))
	})
}

// fullPipe hangs if a full pipe blocks Begin, a cancel or Close.
func fullPipe(t *testing.T, p *jsonrpc.Peer) {
	big := `"` + strings.Repeat("x", 1<<20) + `"`
	ctx, cancel := cancellable()
	var outcomes []<-chan outcome
	for range 20 {
		_, got := begin(t, p, ctx, "a", big)
		outcomes = append(outcomes, got)
	}
	_, open := begin(t, p, context.Background(), "b", "")
	check(t, "notify", p.Notify("n", nil), error(nil))
	cancel("stop")
	sent := 0
	for _, got := range outcomes {
		var c *jsonrpc.CancelledError
		if err := (<-got).err; !errors.As(err, &c) {
			t.Fatalf("error %v", err)
		} else if c.Sent {
			sent++
		}
	}
	if sent > 1 { // the writer can have taken no more than one
		t.Errorf("%d cancels sent", sent)
	}
	check(t, "close", p.Close(errTestOver), error(nil))
	isClosed(t, (<-open).err, errTestOver)
}

func TestStallEndsConnection(t *testing.T) {
	t.Run("default", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p, w := start(t, jsonrpc.Options{})
			w.fill()
			before := time.Now()
			_, got := begin(t, p, t.Context(), "a", "")
			isClosed(t, (<-got).err, jsonrpc.ErrStalled)
			check(t, "after", time.Since(before), 30*time.Second)
			<-p.Done()
		})
	})
	t.Run("owner is told once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			told := make(chan time.Time, 2)
			p, w := start(t, jsonrpc.Options{StallLimit: time.Second, Stalled: func() { told <- time.Now() }})
			before := time.Now()
			w.fill()
			check(t, "notify", p.Notify("n", nil), error(nil))
			<-time.After(10 * time.Second) // of the fake clock
			check(t, "told", len(told), 1)
			check(t, "after", (<-told).Sub(before), time.Second)
			select {
			case <-p.Ending():
				t.Error("the Peer ended although Options.Stalled is set")
			default:
			}
			w.drain()
			w.expect(t, `{"jsonrpc":"2.0","method":"n"}`)
		})
	})
	t.Run("progress or idleness is no stall", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p, w := start(t, jsonrpc.Options{StallLimit: time.Second, Stalled: func() { t.Error("stalled") }})
			for range 20 {
				w.fill()
				check(t, "notify", p.Notify("n", nil), error(nil))
				<-time.After(900 * time.Millisecond)
				w.drain()
				synctest.Wait()
			}
			<-time.After(time.Minute)
			w.fill()
			check(t, "notify", p.Notify("n", nil), error(nil))
			<-time.After(900 * time.Millisecond)
			w.drain()
			synctest.Wait()
		})
	})
}

// brokenWire fails writes and goes on reading, as when the other side has closed its input only.
type brokenWire struct{ *wire }

func (brokenWire) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestFailedWriteEndsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := brokenWire{newWire()}
		p := jsonrpc.NewPeer(w, jsonrpc.Options{})
		before := time.Now()
		_, got := begin(t, p, t.Context(), "a", "")
		synctest.Wait()
		_, err := p.Begin("b", nil)
		isClosed(t, err, io.ErrClosedPipe)
		w.send(answered("1", "1")) // its last message still counts
		check(t, "result", string((<-got).result), "1")
		<-p.Done()
		check(t, "after", time.Since(before), time.Second)
		isClosed(t, p.Err(), io.ErrClosedPipe)
	})
}
