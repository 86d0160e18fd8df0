package jsonrpc_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

func TestTrackerCancelFiresHandle(t *testing.T) {
	var tr jsonrpc.RequestTracker
	stop := errors.New("stop")
	var fired []error
	check(t, "register", tr.Register(jsonrpc.Outgoing, jsonrpc.IntID(1), "tools/call", func(cause error) {
		fired = append(fired, cause)
	}), error(nil))
	check(t, "pending", tr.IsPending(jsonrpc.Outgoing, jsonrpc.IntID(1)), true)
	for i, want := range []bool{true, false} {
		ok, err := tr.Cancel(jsonrpc.Outgoing, jsonrpc.IntID(1), stop)
		if ok != want || err != nil {
			t.Errorf("cancel %d: %v, %v", i, ok, err)
		}
	}
	if len(fired) != 1 || fired[0] != stop {
		t.Errorf("fired %v", fired)
	}
	if got := tr.Pending(); len(got) != 1 || got[0].Cause != stop {
		t.Errorf("pending %v", got)
	}
}

func TestTrackerCancelWithoutCause(t *testing.T) {
	var tr jsonrpc.RequestTracker
	var got error
	check(t, "register", tr.Register(jsonrpc.Incoming, jsonrpc.IntID(1), "m", func(cause error) {
		got = cause
	}), error(nil))
	tr.Cancel(jsonrpc.Incoming, jsonrpc.IntID(1), nil)
	check(t, "cause", got == context.Canceled, true)
	check(t, "no handle", tr.Register(jsonrpc.Incoming, jsonrpc.IntID(2), "m", nil), error(nil))
	ok, err := tr.Cancel(jsonrpc.Incoming, jsonrpc.IntID(2), nil)
	check(t, "cancel without handle", ok && err == nil, true)
}

func TestTrackerUnknownID(t *testing.T) {
	var tr jsonrpc.RequestTracker
	ok, err := tr.Cancel(jsonrpc.Outgoing, jsonrpc.IntID(1), errors.New("x"))
	check(t, "cancel", ok, false)
	check(t, "error", err, error(nil))
	check(t, "cleanup", tr.Cleanup(jsonrpc.Outgoing, jsonrpc.IntID(1)), false)
	check(t, "zero id", errors.Is(tr.Register(jsonrpc.Outgoing, jsonrpc.ID{}, "m", nil), jsonrpc.ErrInvalidID), true)
}

func TestTrackerCleanup(t *testing.T) {
	var tr jsonrpc.RequestTracker
	fired := false
	check(t, "register", tr.Register(jsonrpc.Outgoing, jsonrpc.IntID(1), "m", func(error) { fired = true }), error(nil))
	check(t, "cleanup", tr.Cleanup(jsonrpc.Outgoing, jsonrpc.IntID(1)), true)
	check(t, "pending", tr.IsPending(jsonrpc.Outgoing, jsonrpc.IntID(1)), false)
	ok, _ := tr.Cancel(jsonrpc.Outgoing, jsonrpc.IntID(1), errors.New("x"))
	check(t, "cancel", ok || fired, false)
	check(t, "register again", tr.Register(jsonrpc.Outgoing, jsonrpc.IntID(1), "m", nil), error(nil))
}

func TestTrackerDuplicateID(t *testing.T) {
	var tr jsonrpc.RequestTracker
	check(t, "first", tr.Register(jsonrpc.Incoming, jsonrpc.IntID(1), "m", nil), error(nil))
	check(t, "second", errors.Is(tr.Register(jsonrpc.Incoming, jsonrpc.IntID(1), "m", nil), jsonrpc.ErrDuplicateID), true)
	check(t, "other direction", tr.Register(jsonrpc.Outgoing, jsonrpc.IntID(1), "m", nil), error(nil))
	quoted, err := jsonrpc.ParseID([]byte(`"1"`))
	check(t, "parse", err, error(nil))
	check(t, "other type", tr.Register(jsonrpc.Incoming, quoted, "m", nil), error(nil))
}

func TestTrackerDirectionsAreSeparate(t *testing.T) {
	var tr jsonrpc.RequestTracker
	var fired []string
	check(t, "out", tr.Register(jsonrpc.Outgoing, jsonrpc.IntID(1), "m", func(error) {
		fired = append(fired, "out")
	}), error(nil))
	check(t, "in", tr.Register(jsonrpc.Incoming, jsonrpc.IntID(1), "m", func(error) {
		fired = append(fired, "in")
	}), error(nil))
	tr.Cancel(jsonrpc.Incoming, jsonrpc.IntID(1), nil)
	check(t, "fired", fired, []string{"in"})
	tr.Cleanup(jsonrpc.Incoming, jsonrpc.IntID(1))
	check(t, "out pending", tr.IsPending(jsonrpc.Outgoing, jsonrpc.IntID(1)), true)
}

func TestTrackerUncancellable(t *testing.T) {
	var tr jsonrpc.RequestTracker
	for i, method := range []string{"initialize", "server/discover"} {
		id := jsonrpc.IntID(int64(i))
		check(t, "register", tr.Register(jsonrpc.Outgoing, id, method, func(error) { t.Error("fired") }), error(nil))
		ok, err := tr.Cancel(jsonrpc.Outgoing, id, errors.New("x"))
		check(t, "cancel", ok, false)
		check(t, "error", errors.Is(err, jsonrpc.ErrUncancellable), true)
		check(t, "pending", tr.IsPending(jsonrpc.Outgoing, id), true)
	}
}

func TestTrackerPendingListsBothDirections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{}
		p, w := start(t, jsonrpc.Options{Server: "files", HandleRequest: d.handle})
		began := time.Now()
		begin(t, p, t.Context(), "tools/call", "")
		<-time.After(time.Second)
		w.send(ask(`"q"`, "sampling/createMessage"))
		synctest.Wait()
		begin(t, p, t.Context(), "tools/list", "")
		quoted, _ := jsonrpc.ParseID([]byte(`"q"`))
		want := []jsonrpc.Entry{
			{ID: jsonrpc.IntID(1), Method: "tools/call", Server: "files", Direction: jsonrpc.Outgoing, Started: began},
			{ID: quoted, Method: "sampling/createMessage", Server: "files", Direction: jsonrpc.Incoming,
				Started: began.Add(time.Second)},
			{ID: jsonrpc.IntID(2), Method: "tools/list", Server: "files", Direction: jsonrpc.Outgoing,
				Started: began.Add(time.Second)},
		}
		got := p.Tracker().Pending()
		if len(got) != len(want) {
			t.Fatalf("%d entries", len(got))
		}
		for i := range want {
			if g := got[i]; g.ID != want[i].ID || g.Method != want[i].Method || g.Server != want[i].Server ||
				g.Direction != want[i].Direction || !g.Started.Equal(want[i].Started) || g.Cause != nil {
				t.Errorf("entry %d: %+v, want %+v", i, g, want[i])
			}
		}
	})
}

func TestTrackerConcurrentCancelFiresOnce(t *testing.T) {
	var tr jsonrpc.RequestTracker
	for i := range int64(200) {
		var fired, won atomic.Int64
		check(t, "register", tr.Register(jsonrpc.Outgoing, jsonrpc.IntID(i), "m", func(error) { fired.Add(1) }), error(nil))
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if ok, _ := tr.Cancel(jsonrpc.Outgoing, jsonrpc.IntID(i), errors.New("x")); ok {
					won.Add(1)
				}
			})
		}
		wg.Go(func() { tr.Cleanup(jsonrpc.Outgoing, jsonrpc.IntID(i)) })
		wg.Go(func() { tr.Pending() })
		wg.Wait()
		if fired.Load() > 1 || fired.Load() != won.Load() {
			t.Fatalf("fired %d, won %d", fired.Load(), won.Load())
		}
	}
}
