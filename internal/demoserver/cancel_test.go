package demoserver_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/internal/demoserver"
)

var errStop = errors.New("the user pressed stop")

func TestCancelStopsTools(t *testing.T) {
	for _, tc := range []struct {
		tool    string
		args    map[string]any
		partial string // "" when the tool writes none
	}{
		{"sleep", map[string]any{"seconds": 3600}, ""},
		{"long_task", map[string]any{"steps": 10, "step_ms": 1000}, "2 of 10 steps done"},
		{"scan_directory", map[string]any{"path": "testdata/tree", "timeout_ms": 600000, "entry_ms": 1000},
			"2 directories, 1 files, 0 unreadable"},
	} {
		t.Run(tc.tool, func(t *testing.T) {
			inBubble(t, clientOptions{}, func(t *testing.T, s *served, c *client) {
				begin := time.Now()
				ctx, stop := context.WithTimeoutCause(t.Context(), 2500*time.Millisecond, errStop)
				defer stop()
				if _, err := c.call(ctx, tc.tool, tc.args); err == nil {
					t.Fatal("the call was not cancelled")
				}
				synctest.Wait()
				finished := s.event(demoserver.EventFinished, tc.tool)
				if d := finished.Time.Sub(begin); d != 2500*time.Millisecond {
					t.Errorf("finished after %v, want at the cancel", d)
				}
				if finished.Detail != "error" {
					t.Errorf("outcome %q", finished.Detail)
				}
				s.event(demoserver.EventCancelled, tc.tool)
				if tc.partial != "" {
					if e := s.event(demoserver.EventPartial, tc.tool); e.Detail != tc.partial {
						t.Errorf("partial summary %q, want %q", e.Detail, tc.partial)
					}
				}
			})
		})
	}
}

// The journal has the reason of the client's cancel in both eras, although the SDK does not pass it on to the tool.
func TestCancelIsHeardWithItsReason(t *testing.T) {
	for _, rev := range []string{legacy, modern} {
		t.Run(rev, func(t *testing.T) {
			rawBubble(t, func(t *testing.T, s *served, r *raw) {
				meta := ""
				if rev == modern {
					meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
				} else {
					r.initialize(`{}`)
				}
				r.send(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"sleep","arguments":{"seconds":60}` + meta +
					`}}`)
				synctest.Wait()
				r.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"no longer needed"}}`)
				r.want(`"id":7`, `"isError":true`) // the SDK answers what was cancelled
				synctest.Wait()
				if e := s.event(demoserver.EventCancelReceived, ""); e.Reason != "no longer needed" || string(e.ID) != "7" {
					t.Errorf("the event is %+v, want the id 7 and the reason of the client", e)
				}
				s.event(demoserver.EventCancelled, "sleep")
				if log := s.log.String(); !strings.Contains(log, `cancel_received id=7 reason="no longer needed"`) {
					t.Errorf("log: %s", log)
				}
			})
		})
	}
}

func TestProcessFileRemovesItsTemporaryFile(t *testing.T) {
	left := func(t *testing.T, s *served) []string {
		t.Helper()
		names, err := filepath.Glob(filepath.Join(s.tmp, "*"))
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	t.Run("at the end", func(t *testing.T) {
		inBubble(t, clientOptions{}, func(t *testing.T, s *served, c *client) {
			if got, isErr := c.text("process_file", map[string]any{"content": "a\nb\n"}); got != "4 bytes, 2 lines" || isErr {
				t.Errorf("got %q, isError %v", got, isErr)
			}
			if names := left(t, s); len(names) != 0 {
				t.Errorf("left behind: %v", names)
			}
			s.event(demoserver.EventTempFile, "process_file")
			if got,
				isErr := c.text("process_file", map[string]any{"path": "testdata/tree/one.txt"}); got != "4 bytes, 1 lines" ||
				isErr {
				t.Errorf("got %q, isError %v", got, isErr)
			}
		})
	})
	t.Run("on a cancel", func(t *testing.T) {
		inBubble(t, clientOptions{}, func(t *testing.T, s *served, c *client) {
			ctx, stop := context.WithTimeoutCause(t.Context(), time.Second, errStop)
			defer stop()
			called := make(chan error, 1)
			go func() {
				_, err := c.call(ctx, "process_file", map[string]any{"content": "x", "hold_ms": 60000})
				called <- err
			}()
			synctest.Wait()
			if path := s.event(demoserver.EventTempFile, "process_file").Detail; !slices.Contains(left(t, s), path) {
				t.Errorf("%s is not there while the call runs", path)
			}
			if err := <-called; err == nil {
				t.Error("the call was not cancelled")
			}
			synctest.Wait()
			if names := left(t, s); len(names) != 0 {
				t.Errorf("left behind: %v", names)
			}
		})
	})
	t.Run("at the end of input", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := serve(t)
			r := s.dial()
			r.initialize(`{}`)
			r.send(
				`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"process_file","arguments":{"content":"x","hold_ms":60000}}}`)
			synctest.Wait()
			if len(left(t, s)) != 1 {
				t.Fatal("there is no temporary file while the call runs")
			}
			s.endRaw()
			if names := left(t, s); len(names) != 0 {
				t.Errorf("left behind: %v", names)
			}
		})
	})
}

// A cancel in the middle of a chunk takes effect at the end of the chunk.
func TestProcessDatasetStopsBetweenChunks(t *testing.T) {
	inBubble(t, clientOptions{}, func(t *testing.T, s *served, c *client) {
		if got, _ := c.text("process_dataset", map[string]any{"rows": 25, "chunk": 10,
			"chunk_ms": 1000}); got != "all 25 rows done" {
			t.Errorf("got %q", got)
		}
	})
	inBubble(t, clientOptions{}, func(t *testing.T, s *served, c *client) {
		begin := time.Now()
		ctx, stop := context.WithTimeoutCause(t.Context(), 1500*time.Millisecond, errStop)
		defer stop()
		if _, err := c.call(ctx, "process_dataset", map[string]any{"rows": 100, "chunk": 10, "chunk_ms": 1000}); err == nil {
			t.Error("the call was not cancelled")
		}
		if err := sleep(t, time.Second); err != nil {
			t.Fatal(err)
		}
		if e := s.event(demoserver.EventPartial, "process_dataset"); e.Detail != "20 of 100 rows done" ||
			e.Time.Sub(begin) != 2*time.Second {
			t.Errorf("partial summary %q after %v", e.Detail, e.Time.Sub(begin))
		}
	})
}

func TestStubbornAnswersLate(t *testing.T) {
	rawBubble(t, func(t *testing.T, s *served, r *raw) {
		r.initialize(`{}`)
		begin := time.Now()
		r.send(`{"jsonrpc":"2.0","id":"s","method":"tools/call","params":{"name":"stubborn","arguments":{"ms":5000}}}`)
		synctest.Wait()
		r.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"s","reason":"stop"}}`)
		synctest.Wait()
		s.event(demoserver.EventCancelled, "stubborn") // written down when it came, not when the tool was done
		r.want(`"id":"s"`, "worked on for 5000 ms although it was cancelled")
		if d := time.Since(begin); d != 5*time.Second {
			t.Errorf("answered after %v, want 5s", d)
		}
	})
}

// sleep waits in fake time, unless the test ends first.
func sleep(t *testing.T, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-t.Context().Done():
		return context.Cause(t.Context())
	}
}
