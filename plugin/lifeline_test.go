package plugin

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/stats"

	"github.com/mcphub-go/mcphub/internal/faketime"
)

// connects and disconnects report the begin and the end of a connection, as the gRPC server does.
func connects(l *lifeline)    { l.HandleConn(context.Background(), &stats.ConnBegin{}) }
func disconnects(l *lifeline) { l.HandleConn(context.Background(), &stats.ConnEnd{}) }

// TestOrphanWatch plays connections and the parent's exit in fake time, and checks the exact moment at which the hub
// ends, if it does, and the reason.
func TestOrphanWatch(t *testing.T) {
	const hostGone, nobody, never = "the host process is gone", "no host connected within 1m0s", ""
	type step struct {
		at time.Duration
		do func(l *lifeline, parentGone *atomic.Bool)
	}
	connect := func(l *lifeline, _ *atomic.Bool) { connects(l) }
	disconnect := func(l *lifeline, _ *atomic.Bool) { disconnects(l) }
	parentDies := func(_ *lifeline, gone *atomic.Bool) { gone.Store(true) }
	const back = 20 * time.Second
	tests := []struct {
		name  string
		steps []step
		why   string
		at    time.Duration
		back  time.Duration
	}{
		{"the host is killed", []step{{0, connect}, {time.Minute, parentDies}, {time.Minute, disconnect}}, hostGone,
			time.Minute + time.Second, 0},
		{"the parent dies while nobody is connected", []step{{0, connect}, {10 * time.Second, disconnect},
			{15500 * time.Millisecond, parentDies}}, hostGone, 16 * time.Second, 0},
		{"an idle channel closes, the parent lives", []step{{0, connect}, {30 * time.Minute, disconnect}}, never, 0, 0},
		{"the parent goes, the connection stays", []step{{0, connect}, {time.Second, parentDies}}, never, 0, 0},
		{"one of two connections stays", []step{{0, connect}, {0, connect}, {0, parentDies}, {time.Minute, disconnect}},
			never, 0, 0},
		{"somebody connects anew within the grace", []step{{0, connect}, {time.Minute, parentDies}, {time.Minute, disconnect},
			{time.Minute + 900*time.Millisecond, connect}}, never, 0, 0},
		{"nobody connects", nil, nobody, time.Minute, 0},
		{"the parent dies before it connects", []step{{300 * time.Millisecond, parentDies}}, hostGone, time.Second, 0},
		{"the first connection comes late", []step{{59 * time.Second, connect}}, never, 0, 0},
		{"the minute counts for the first connection only", []step{{0, connect}, {time.Second, disconnect}}, never, 0, 0},
		{"nobody comes back", []step{{0, connect}, {time.Minute, parentDies}, {time.Minute, disconnect}}, hostGone,
			time.Minute + back, back},
		{"another host comes back in the last moment", []step{{0, connect}, {0, parentDies}, {time.Minute, disconnect},
			{time.Minute + back - 1, connect}}, never, 0, back},
		{"the host that came back goes, too", []step{{0, connect}, {0, parentDies}, {time.Second, disconnect},
			{10 * time.Second, connect}, {time.Minute, disconnect}}, hostGone, time.Minute + back, back},
		{"it goes and comes back for ever", []step{{0, connect}, {0, parentDies}, {10 * time.Second, disconnect},
			{20 * time.Second, connect}, {30 * time.Second, disconnect}, {40 * time.Second, connect}}, never, 0, back},
		{"no host ever connected: no grace", []step{{300 * time.Millisecond, parentDies}}, hostGone, time.Second, back},
		{"a grace below the second of before changes nothing", []step{{0, connect}, {0, parentDies},
			{time.Minute, disconnect}}, hostGone, time.Minute + time.Second, time.Millisecond},
		{"the parent lives, the connection is idle", []step{{0, connect}, {30 * time.Minute, disconnect}}, never, 0, back},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start, parentGone := time.Now(), new(atomic.Bool)
				l := newLifeline(parentGone.Load, test.back)
				ctx, cancel := context.WithCancelCause(t.Context())
				var why string
				var at time.Duration
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					if reason, over := l.watch(ctx); over {
						why, at = reason, time.Since(start)
					}
				}()
				for _, s := range test.steps {
					faketime.Pass(s.at - time.Since(start))
					synctest.Wait() // the watch always handles this moment before the step does
					s.do(l, parentGone)
				}
				select {
				case <-ended:
				case <-time.After(3 * time.Hour):
				}
				cancel(errors.New("the test is over"))
				<-ended
				if why != test.why || at != test.at {
					t.Errorf("ended at %v with %q, want %v with %q", at, why, test.at, test.why)
				}
			})
		})
	}
}

// TestNobodyConnected: a hub that nobody ever connected to ends after a minute, even if its parent still runs.
func TestNobodyConnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		l := newLifeline(func() bool { return false }, 0)
		why, over := l.watch(t.Context())
		if !over || time.Since(start) != time.Minute || l.everConnected() {
			t.Errorf("watch = %q, %v after %v; want the end after one minute", why, over, time.Since(start))
		}
	})
}
