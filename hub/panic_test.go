package hub_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
)

// A panic in a window's call ends that call and nothing else: the caller is told INTERNAL without a word of the panic,
// the request has its one end in every window, nothing is left, and the hub goes on.
func TestPanicInAWindowCall(t *testing.T) {
	for _, before := range []string{"", "cancelled"} {
		t.Run("request "+before, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var log strings.Builder
				w := newWorldWith(t, hub.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}, serversOf("s", hanging()), "s:"+
					allow)
				gate := make(chan struct{})
				w.hub.PanicInCalls(gate, struct{ secret string }{"hunter2"})
				v, other := w.everything(), w.everything()
				over := make(chan error, 1)
				if err := v.win.CallTool(hub.CallRequest{ID: "r1", Server: "s", Tool: "hang"}, func(_ *hub.CallResult, err error) {
					over <- err
				}); err != nil {
					t.Fatal(err)
				}
				var err error
				if before == "cancelled" {
					_, err = v.win.Cancel("r1", "no")
				}
				if err != nil {
					t.Fatal(err)
				}
				close(gate)
				if e := event.AsError(<-over); e == nil || e.Code != event.CodeInternal ||
					strings.Contains(fmt.Sprint(e), "hunter2") {
					t.Errorf("it ended with %v", e)
				}
				if before == "" {
					if end, _ := other.terminalOf("r1").(*event.RequestFinished); end == nil || end.State != event.StateFailed ||
						end.Err == nil || end.Err.Code != event.CodeInternal {
						t.Errorf("the other window was told %+v", end)
					}
				} else if end, _ := other.terminalOf("r1").(*event.RequestCancelled); end == nil || end.ServerMayContinue {
					t.Errorf("the other window was told %+v", end)
				}
				synctest.Wait()
				w.nothingLeft()
				if text := log.String(); !strings.Contains(text, "panic_test.go") && !strings.Contains(text, "export_test.go") ||
					strings.Contains(text, "hunter2") {
					t.Errorf("the log says\n%s", text)
				}
			})
		})
	}
}

// A panic in a host's call reaches the caller, which has to recover it (the gRPC services do). The request ends all the
// same.
func TestPanicInAHostCall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, serversOf("s", hanging()), "s:"+allow)
		gate := make(chan struct{})
		close(gate)
		w.hub.PanicInCalls(gate, "a fault")
		v := w.everything()
		var recovered any
		func() {
			defer func() { recovered = recover() }()
			_, _ = w.hub.CallTool(t.Context(), hub.CallRequest{ID: "r1", Server: "s", Tool: "hang"})
		}()
		if recovered != "a fault" {
			t.Errorf("the caller recovered %v", recovered)
		}
		if end, _ := v.terminalOf("r1").(*event.RequestFinished); end == nil || end.State != event.StateFailed {
			t.Errorf("the window was told %+v", end)
		}
		w.nothingLeft()
	})
}
