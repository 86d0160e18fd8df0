package fakeserver_test

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// When the server pauses reading, the writes of its client block as on a full stdin pipe.
func TestPauseReadingBlocksTheClient(t *testing.T) {
	in(t, with(), func(t *testing.T, s *fakeserver.Server, c *client) {
		c.initialize()
		received(t, s, fakeserver.Method("notifications/initialized"))
		resume := s.PauseReading()
		c.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`) // read from the pipe, but not handled
		wrote := make(chan struct{})
		go func() {
			defer close(wrote)
			c.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		}()
		c.quiet()
		select {
		case <-wrote:
			t.Error("the second write went through")
		default:
		}
		resume()
		c.wantPart(`"id":1`)
		c.wantPart(`"id":2`)
		<-wrote
	})
}

func TestProcessEnds(t *testing.T) {
	start := func(t *testing.T) (*fakeserver.Server, *fakeserver.Process) {
		s := fakeserver.New(fakeserver.WithLenientOrder())
		s.Tool("hang", func(c *fakeserver.CallContext) { _ = c.Hang(); c.Text("late") })
		p := s.Start(t.Context())
		if _, err := io.WriteString(p.Stdin, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hang"}}`+
			"\n"); err != nil {
			t.Fatal(err)
		}
		received(t, s, fakeserver.Method("tools/call"))
		return s, p
	}
	t.Run("after its input, once the late answer is read", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			_, p := start(t)
			_ = p.Stdin.Close()
			out, err := io.ReadAll(p.Stdout)
			if err != nil || len(out) == 0 {
				t.Errorf("read %q, %v; want the late answer", out, err)
			}
			if err := p.Wait(); err != nil {
				t.Error(err)
			}
		})
	})
	t.Run("killed, with nobody reading", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, p := start(t)
			_ = s.SendLine("nobody reads this")
			p.Kill()
			if err := p.Wait(); !errors.Is(err, fakeserver.ErrKilled) {
				t.Errorf("Wait: %v", err)
			}
		})
	})
	t.Run("by its own crash in a call", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, p := start(t)
			s.Disconnect()
			if err := p.Wait(); err != nil {
				t.Error(err)
			}
			if _, err := io.WriteString(p.Stdin, "{}\n"); err == nil {
				t.Error("a write to a dead server went through")
			}
		})
	})
}
