package plugin

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc/stats"
)

// lifeline decides when a hub has been left alone: no connection for a grace period and the parent process gone, or
// nobody connected in the first place. A missing connection alone is no death: idle channels close, debuggers attach
// anew. A dead parent alone is none either: a launcher may have left after it started the hub for somebody else. And a
// host that dies may be one that restarts and has said that it would come back.
//
// It is a stats.Handler of the server, which tells it about connections: the kernel closes those of a dead host on
// every system. (Standard input would be no sign: go-plugin's Go host passes its own on.)
type lifeline struct {
	grace      time.Duration // without a connection before the parent is looked at
	back       time.Duration // for a host that was connected to come back, though the parent is gone
	poll       time.Duration // between two looks at the parent
	first      time.Duration // for the first connection to come
	parentGone func() bool
	changed    chan struct{} // buffered; a connection came or went

	mu    sync.Mutex
	open  int       // guarded by mu
	ever  bool      // guarded by mu
	since time.Time // guarded by mu; when open became 0
}

func newLifeline(parentGone func() bool, back time.Duration) *lifeline {
	return &lifeline{
		grace:      time.Second,
		back:       back,
		poll:       time.Second,
		first:      time.Minute,
		parentGone: parentGone,
		changed:    make(chan struct{}, 1),
		since:      time.Now(),
	}
}

// watch waits until the hub is abandoned, and returns why and true. It returns false when ctx ends before.
func (l *lifeline) watch(ctx context.Context) (why string, over bool) {
	for {
		why, again := l.verdict(time.Now())
		if why != "" {
			return why, true
		}
		var timer <-chan time.Time // nil while connected: nothing to look at
		if again > 0 {
			timer = time.After(again)
		}
		select {
		case <-timer:
		case <-l.changed:
		case <-ctx.Done():
			return "", false
		}
	}
}

// verdict returns why the hub is abandoned at this time, or when to look again (0: not before a connection opens or
// closes).
func (l *lifeline) verdict(now time.Time) (why string, again time.Duration) {
	l.mu.Lock()
	open, ever, alone := l.open, l.ever, now.Sub(l.since)
	l.mu.Unlock()
	if open > 0 {
		return "", 0
	}
	grace := l.grace
	if ever { // a host that never came cannot come back
		grace = max(grace, l.back)
	}
	if alone < grace {
		return "", grace - alone
	}
	if l.parentGone() {
		return "the host process is gone", 0
	}
	if ever {
		return "", l.poll
	}
	if alone >= l.first {
		return "no host connected within " + l.first.String(), 0
	}
	return "", min(l.poll, l.first-alone)
}

func (l *lifeline) everConnected() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ever
}

// connection counts a connection that was opened (+1) or closed (-1).
func (l *lifeline) connection(delta int) {
	l.mu.Lock()
	l.open += delta
	if delta > 0 {
		l.ever = true
	}
	if l.open == 0 {
		l.since = time.Now()
	}
	l.mu.Unlock()
	select {
	case l.changed <- struct{}{}:
	default: // a look is due already
	}
}

// HandleConn counts connections. A connection whose TLS handshake failed is never seen here.
func (l *lifeline) HandleConn(_ context.Context, s stats.ConnStats) {
	switch s.(type) {
	case *stats.ConnBegin:
		l.connection(+1)
	case *stats.ConnEnd:
		l.connection(-1)
	}
}

// TagConn does nothing.
func (l *lifeline) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// TagRPC does nothing.
func (l *lifeline) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// HandleRPC does nothing.
func (l *lifeline) HandleRPC(context.Context, stats.RPCStats) {}
