package transport

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// If the server is gone for good, the transport ends, but not before its open calls have ended; if the server comes
// back in time, the transport goes on.
func TestStandaloneStreamLost(t *testing.T) {
	for name, c := range map[string]struct {
		back  time.Duration // 0: never
		call  bool          // one that still gets its answer, after a minute
		after time.Duration // when the transport ends: with the first try beyond the limit; 0: it does not
	}{
		"for good":              {after: 15 * time.Second},
		"while a call goes on":  {call: true, after: 61 * time.Second},
		"back before the limit": {back: 6 * time.Second},
		"back, with a call":     {back: 20 * time.Second, call: true},
	} {
		t.Run(name, func(t *testing.T) {
			on := map[string]func(*exchangeSeen){}
			inWebWorld(t, on, func(w *webWorld) {
				leave := make(chan struct{})
				var since time.Time
				gone := func() bool { return !since.IsZero() && (c.back == 0 || time.Since(since) < c.back) }
				on["GET"] = func(x *exchangeSeen) {
					switch {
					case gone():
						panic(http.ErrAbortHandler) // over a connection that was kept
					case since.IsZero():
						x.events(": open\n\n")
						<-leave
					default:
						x.events(": open\n\n")
						x.left()
					}
				}
				on["slow"] = func(x *exchangeSeen) {
					x.events(": open\n\n")
					elapse(time.Minute)
					x.events("data: " + `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n\n")
				}
				w.legacy("2025-11-25")
				if c.call {
					w.send("1", "slow")
				}
				synctest.Wait()
				w.net.dial = func(context.Context) error {
					if gone() {
						return errors.New("connection refused")
					}
					return nil
				}
				since = time.Now()
				close(leave)
				var ended time.Duration
				select {
				case err := <-w.over:
					ended = time.Since(since)
					if !errors.Is(err, ErrServerLost) {
						w.Errorf("it ended with %v", err)
					}
				case <-time.After(5 * time.Minute):
				}
				if ended != c.after {
					w.Errorf("it ended after %v, want %v", ended, c.after)
				}
				if c.call {
					w.wantBody("1", `{"jsonrpc":"2.0","id":1,"result":{}}`)
				}
			})
		})
	}
}
