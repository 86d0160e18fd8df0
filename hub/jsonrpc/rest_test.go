package jsonrpc_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

// countingReader counts how often it is read.
type countingReader struct {
	r io.Reader
	n atomic.Int64
}

func (c *countingReader) Read(b []byte) (int, error) {
	c.n.Add(1)
	return c.r.Read(b)
}

// roomyPipe is a pipe with a buffer, like a pipe of the operating system.
type roomyPipe struct{ c chan string }

func (p roomyPipe) Read(b []byte) (int, error) {
	s, ok := <-p.c
	if !ok {
		return 0, io.EOF
	}
	n := copy(b, s)
	for {
		select {
		case more, ok := <-p.c:
			if !ok {
				return n, nil
			}
			n += copy(b[n:], more)
		default:
			return n, nil
		}
	}
}

// stormy is a Peer over a LineConn that takes progress notifications with Options.Direct or, if they are queued, as
// lossy ones.
type stormy struct {
	peer  *jsonrpc.Peer
	pipe  roomyPipe
	reads *countingReader
	seen  atomic.Int64
}

func newStormy(t *testing.T, queued bool) *stormy {
	s := &stormy{pipe: roomyPipe{make(chan string, 1<<16)}}
	s.reads = &countingReader{r: s.pipe}
	conn := jsonrpc.NewLineConn(s.reads, io.Discard, jsonrpc.LineConnOptions{Close: func() error {
		close(s.pipe.c)
		return nil
	}})
	s.peer = jsonrpc.NewPeer(conn, jsonrpc.Options{
		Direct: func(n *jsonrpc.Notification) bool {
			if n.Method != "progress" || queued {
				return false
			}
			s.seen.Add(1)
			return true
		},
		Classify:           func(*jsonrpc.Notification) (jsonrpc.Class, string) { return jsonrpc.Lossy, "" },
		HandleNotification: func(*jsonrpc.Notification) { s.seen.Add(1) },
	})
	t.Cleanup(func() { s.peer.Close(errors.New("test over")) })
	return s
}

const progressLine = `{"jsonrpc":"2.0","method":"progress","params":{"x":1}}` + "\n"

func (s *stormy) storm(n int, pause func()) {
	for range n {
		s.pipe.c <- progressLine
		pause()
	}
}

// answer begins a call, sends its answer behind the lines before, and returns how long the answer took.
func (s *stormy) answer(t *testing.T, before ...string) time.Duration {
	t.Helper()
	c, err := s.peer.Begin("m", nil)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	s.pipe.c <- strings.Join(before, "") + fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`+"\n", c.ID())
	if _, err := c.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	return time.Since(start)
}

// During a storm the reader reads once per tick. An answer is at most one tick late, and only during a storm.
func TestReaderRestsDuringAStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStormy(t, false)
		short := func() { time.Sleep(2 * time.Millisecond) }
		if d := s.answer(t, strings.Repeat(progressLine, 50)); d != 0 {
			t.Errorf("behind a burst an answer came after %v", d)
		}
		s.storm(10, func() { time.Sleep(time.Second) })
		if d := s.answer(t); d != 0 {
			t.Errorf("amid slow progress an answer came after %v", d)
		}

		s.storm(200, short) // until the reader rests
		before, seen := s.reads.n.Load(), s.seen.Load()
		s.storm(1000, short)
		if n := s.reads.n.Load() - before; n > 110 {
			t.Errorf("a storm of two seconds was read %d times", n)
		}
		if n := s.seen.Load() - seen; n < 990 {
			t.Errorf("%d of 1,000 were delivered", n)
		}
		if d := s.answer(t); d > 20*time.Millisecond {
			t.Errorf("during a storm an answer came after %v", d)
		}
		if d := s.answer(t, progressLine); d != 0 {
			t.Errorf("behind that answer another came after %v", d)
		}

		s.storm(200, short)
		time.Sleep(time.Second)
		if d := s.answer(t, progressLine); d != 0 {
			t.Errorf("after a storm an answer came after %v", d)
		}

		s.storm(10, func() { time.Sleep(time.Second) }) // slow progress becomes a storm, with nothing between
		s.storm(200, short)
		before = s.reads.n.Load()
		s.storm(1000, short)
		if n := s.reads.n.Load() - before; n > 110 {
			t.Errorf("a storm of two seconds after slow progress was read %d times", n)
		}
	})
}

// It also rests while the messages of a storm are queued, if they may be lost.
func TestReaderRestsDuringAStormOfQueuedMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStormy(t, true)
		short := func() { time.Sleep(2 * time.Millisecond) }
		s.storm(200, short)
		before, seen := s.reads.n.Load(), s.seen.Load()
		s.storm(1000, short)
		if n := s.reads.n.Load() - before; n > 110 {
			t.Errorf("a storm of two seconds was read %d times", n)
		}
		if n := s.seen.Load() - seen; n < 990 {
			t.Errorf("%d of 1,000 were delivered", n)
		}
	})
}

// The reader does not rest when so much comes that the other side may be blocked by a full pipe.
func TestReaderDoesNotRestWhenMuchComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStormy(t, false)
		long := strings.Replace(progressLine, "1", `"`+strings.Repeat("x", 1000)+`"`, 1)
		var seen int64
		for range 1000 {
			s.pipe.c <- long
			time.Sleep(2 * time.Millisecond)
			seen = s.seen.Load()
		}
		if d := s.answer(t); seen != 1000 || d != 0 {
			t.Errorf("%d of 1,000 were delivered, and the answer came after %v", seen, d)
		}
	})
}

// Close does not wait for the end of a pause.
func TestRestEndsWithThePeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStormy(t, false)
		s.storm(301, func() { time.Sleep(2 * time.Millisecond) })
		start := time.Now()
		s.peer.Close(errors.New("over"))
		if d := time.Since(start); d != 0 {
			t.Errorf("Close took %v", d)
		}
	})
}

// Direct keeps the order: while a notification is being handled, later ones wait behind it, even if Direct would take
// them, and an answer waits behind them all.
func TestDirectKeepsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := newSlow()
		var direct atomic.Int64
		p, w := start(t, jsonrpc.Options{
			HandleNotification: slow.handle,
			Direct: func(n *jsonrpc.Notification) bool {
				if n.Method != "progress" {
					return false
				}
				direct.Add(1)
				return true
			},
			Classify: func(n *jsonrpc.Notification) (jsonrpc.Class, string) {
				if n.Method == "progress" {
					return jsonrpc.Coalesce, "key"
				}
				return jsonrpc.MustDeliver, ""
			},
		})
		_, done := begin(t, p, t.Context(), "a", "")
		synctest.Wait()
		w.send(note("progress", "1"))
		synctest.Wait()
		check(t, "with nothing before it", direct.Load(), int64(1))
		w.send(note("n", "2"), note("progress", "3"), note("progress", "4"), answered("1", "1"))
		synctest.Wait()
		check(t, "behind another", direct.Load(), int64(1))
		slow.pass(1)
		check(t, "the answer", len(done), 0)
		slow.pass(1)
		check(t, "the answer", len(done), 1)
		check(t, "seen", slow.take(), []string{"n2", "progress4"})
		w.send(note("progress", "5"))
		synctest.Wait()
		check(t, "after all", direct.Load(), int64(2))
	})
}
