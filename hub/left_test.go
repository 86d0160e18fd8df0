package hub_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
)

// The requests that the end of a hub has ended are told by the next hub to its windows, once and without arguments.
func TestNextHubTellsWhatTheOneBeforeEnded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		left := filepath.Join(t.TempDir(), "left.json")
		a := asking(elicitation, formParams)
		w := newWorldWith(t, hub.Options{LeftFile: left}, serversOf("s", a.Server), "s:"+allow)
		v := w.everything()
		w.call(hub.CallRequest{ID: "done", Server: "s", Tool: "echo"}).ok(t)
		stopped := w.call(hub.CallRequest{ID: "stopped", Server: "s", Tool: "ask"})
		v.prompt()
		if _, err := v.win.Cancel("stopped", "no"); err != nil {
			t.Fatal(err)
		}
		stopped.want(t, event.CodeCancelled, event.ReasonCancelled)
		time.Sleep(time.Second)
		c := w.call(hub.CallRequest{ID: "asks", Server: "s", Tool: "ask", Arguments: `{"word":"parrot"}`})
		p := v.prompt()
		v.win.Detach(false)
		if err := w.hub.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.want(t, event.CodeCancelled, event.ReasonCancelled)

		text, err := os.ReadFile(left)
		if err != nil || strings.Contains(string(text), "parrot") {
			t.Errorf("the file says %q: %v", text, err)
		}
		if info, err := os.Stat(left); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("the file is not private: %v, %v", info.Mode(), err)
		}
		next := newWorldWith(t, hub.Options{LeftFile: left}, nil)
		got := next.history(1000)
		ids := endedIDs(got)
		slices.Sort(ids) // which of them ends first is not defined
		want := []string{p.RequestID, "asks"}
		slices.Sort(want)
		if !slices.Equal(ids, want) {
			t.Fatalf("the next hub tells of %v", ids)
		}
		for _, e := range got {
			b := e.Body.(*event.RequestCancelled)
			if !e.EarlierHub || e.Time.IsZero() || b.Server != "s" || b.Cancellation.Origin != event.OriginShutdown {
				t.Errorf("it tells of %+v", e)
			}
		}
		synctest.Wait()
		third := newWorldWith(t, hub.Options{LeftFile: left}, nil)
		if ids := endedIDs(third.history(1000)); len(ids) != 0 {
			t.Errorf("it is told again: %v", ids)
		}
	})
}

// What has not ended when the time to shut down is over is told as well, and as what may go on.
func TestNextHubTellsWhatWasStillEnding(t *testing.T) {
	bubble(t, func(t *testing.T) {
		left := filepath.Join(t.TempDir(), "left.json")
		w := newWorldWith(t, hub.Options{LeftFile: left}, serversOf("s", hanging()), "s:"+allow)
		c := w.call(hub.CallRequest{ID: "hangs", Server: "s", Tool: "hang"})
		synctest.Wait()
		over, stop := context.WithCancelCause(t.Context())
		stop(errors.New("no time is left"))
		_ = w.hub.Close(over)
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		next := newWorldWith(t, hub.Options{LeftFile: left}, nil)
		got := next.history(1000)
		if len(got) != 1 || !got[0].Body.(*event.RequestCancelled).ServerMayContinue {
			t.Errorf("the next hub tells of %+v", got)
		}
	})
}

// A host that drains the hub knows which requests this ends, so nothing is left for the next hub to tell.
func TestDrainedHubLeavesNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		left := filepath.Join(t.TempDir(), "left.json")
		w := newWorldWith(t, hub.Options{LeftFile: left}, serversOf("s", hanging()), "s:"+allow)
		c := w.call(hub.CallRequest{ID: "runs", Server: "s", Tool: "hang"})
		synctest.Wait()
		w.hub.Drain(t.Context(), "the user restarts the hub")
		if err := w.hub.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		if _, err := os.Stat(left); !os.IsNotExist(err) {
			t.Errorf("there is a file: %v", err)
		}
	})
}
