package main

import (
	"context"
	"fmt"
	"sync"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// eventLog keeps every event of one window, so that a step can look back as well as wait. Safe for concurrent use.
type eventLog struct {
	// mu guards what follows.
	mu      sync.Mutex
	events  []*mcphubv1.AttachResponse
	ended   bool
	changed chan struct{} // closed and replaced with every change
}

// follow keeps the events of w until it ends. Each is first handed to show, when that is set: whoever waits for an
// event knows that it was shown. It returns when the window has ended.
func (l *eventLog) follow(w *window, show func(*mcphubv1.AttachResponse)) {
	for event := range w.events {
		if show != nil {
			show(event)
		}
		l.change(func() { l.events = append(l.events, event) })
	}
	l.change(func() { l.ended = true })
}

func (l *eventLog) change(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
	if l.changed != nil {
		close(l.changed)
	}
	l.changed = make(chan struct{})
}

// mark gives the place to look from for what happens from now on.
func (l *eventLog) mark() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.events)
}

// since gives the events after a mark, whether the window has ended, and what tells of the next change.
func (l *eventLog) since(mark int) (events []*mcphubv1.AttachResponse, ended bool, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	return l.events[mark:len(l.events):len(l.events)], l.ended, l.changed
}

// waitFor gives the first event after mark that pick picks. what names it for the error, when it does not come before
// ctx or the window ends.
func waitFor[T any](ctx context.Context, l *eventLog, mark int, what string,
	pick func(*mcphubv1.AttachResponse) (T, bool)) (T, error) {
	for {
		events, ended, changed := l.since(mark)
		for _, event := range events {
			if v, ok := pick(event); ok {
				return v, nil
			}
		}
		mark += len(events)
		var none T
		if ended {
			return none, fmt.Errorf("the window ended before %s", what)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return none, fmt.Errorf("%s did not come: %w", what, context.Cause(ctx))
		}
	}
}
