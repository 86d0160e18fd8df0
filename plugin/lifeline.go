package plugin

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc/stats"
)

// lifeline decides when a hub is abandoned: if there has been no connection for a grace period and the parent process
// is gone, or if nobody has connected at all. A missing connection alone is not enough, since idle channels close and
// debuggers connect again. A dead parent alone is not enough either: a launcher may have exited after it started the
// hub for another program. And a host that dies may be restarting, and may have said that it will come back.
//
// It is a stats.Handler of the server, which calls it for each connection: on every system, the kernel closes the
// connections of a dead host. (The end of standard input would be no sign: go-plugin's Go host passes on its own.)
type lifeline struct {
	grace      time.Duration // how long there must be no connection before the parent is checked
	back       time.Duration // how long a host that was connected may have no connection, even if the parent is gone
	poll       time.Duration // the time between two checks of the parent
	first      time.Duration // how long the first connection may take to come
	parentGone func() bool
	changed    chan struct{} // buffered; gets a token when a connection came or went

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

// watch waits until the hub is abandoned, and returns the reason and true. It returns false if ctx ends first.
func (l *lifeline) watch(ctx context.Context) (why string, over bool) {
	for {
		why, again := l.verdict(time.Now())
		if why != "" {
			return why, true
		}
		var timer <-chan time.Time // nil while there is a connection, since nothing has to be checked then
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

// verdict returns why the hub is abandoned at now, or after which time to check again (0: when a connection opens or
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
	default: // a check is due already
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
