package hub_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

const noiseText = `it wrote on stdout what is no message of the protocol: Listening on port 3000 | ` +
	`{"level":"info","msg":"up, [redacted]"}; stdout is for messages alone: logs belong on stderr, `

// noisy is a server that writes two lines and an empty one on stdout, and answers initialize after the given time.
func noisy(after time.Duration) *fakeserver.Server {
	s := hanging(fakeserver.WithSilentProbe())
	s.Handle("initialize", func(c *fakeserver.CallContext) {
		for _, line := range []string{"Listening on port 3000", "", `{"level":"info","msg":"up, hunter22"}`} {
			_ = s.SendLine(line)
		}
		select {
		case <-time.After(after):
		case <-c.Context().Done():
		}
		c.Result(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`)
	})
	return s
}

// After two seconds the windows are told what a server writes on stdout in place of an answer, while its start goes on;
// the error at the end says it again, and does not advise more time. Finding D5.
func TestStartTellsWhatIsOnStdout(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, serversOf("s", noisy(time.Hour)),
			`s:"era":"legacy","timeouts":{"connect":"20s"},"env":{"KEY":"hunter22"},`+allow)
		v := w.everything()
		c := w.echo()
		pass(2*time.Second - time.Millisecond)
		if info := w.server("s"); info.LastError != "" || info.State != event.ServerConnecting {
			t.Errorf("before: %+v", info)
		}
		pass(time.Millisecond)
		told := last[*event.ServerChanged](v).Server
		if told.State != event.ServerConnecting || !strings.HasPrefix(told.LastError, noiseText) {
			t.Errorf("told: %v %s", told.State, told.LastError)
		}
		e := c.want(t, event.CodeDeadlineExceeded, event.ReasonConnectTimeout)
		if !strings.HasPrefix(e.Message, `server "s" was not ready within 20s; `+noiseText) ||
			strings.Count(e.Message, "Listening") != 1 {
			t.Error(e.Message)
		}
	})
}

// A server that logs on stdout and starts well ends without a LastError. Windows are told one meanwhile only when the
// start takes longer than two seconds.
func TestNoiseOfAGoodStartIsForgotten(t *testing.T) {
	for name, after := range map[string]time.Duration{"fast": time.Second, "slow": 10 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, serversOf("s", noisy(after)), `s:"era":"legacy",`+allow)
				v := w.everything()
				w.echo().ok(t)
				synctest.Wait()
				var told int
				for _, e := range eventsOf[*event.ServerChanged](v) {
					if e.Server.LastError != "" {
						told++
					}
				}
				if info := w.server("s"); info.LastError != "" || (told > 0) != (after > 2*time.Second) || told > 1 {
					t.Errorf("told %d times, %+v", told, info)
				}
			})
		})
	}
}

// What a server that works writes on stdout among its messages is told once: the lines of its start, or else the first
// line of its work.
func TestStrayLinesAreToldOnce(t *testing.T) {
	for name, s := range map[string]*fakeserver.Server{"at the start": noisy(time.Second), "in a call": hanging()} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, serversOf("s", s), `s:"era":"legacy","env":{"KEY":"hunter22"},`+allow)
				v := w.everything()
				w.echo().ok(t)
				for range 3 {
					_ = s.SendLine("Listening on port 3000")
					_ = s.SendLine("more")
				}
				w.echo().ok(t)
				synctest.Wait()
				var told []string
				for _, e := range eventsOf[*event.LogMessage](v) {
					if strings.Contains(e.Data, `"event":"noMessage"`) {
						told = append(told, e.Data)
					}
				}
				if len(told) != 1 || !strings.Contains(told[0], "no message of the protocol: Listening on port 3000") ||
					strings.Contains(told[0], "hunter22") {
					t.Errorf("told %q", told)
				}
			})
		})
	}
}
