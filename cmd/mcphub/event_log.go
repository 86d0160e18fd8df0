package main

import (
	"context"
	"fmt"
	"sync"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// eventLog keeps every event of one window, so that a step can also look at events that came before. It is safe for
// concurrent use.
type eventLog struct {
	// mu guards the fields below.
	mu      sync.Mutex
	events  []*mcphubv1.AttachResponse
	ended   bool
	changed chan struct{} // closed and replaced at every change
}

// follow records the events of w. It returns when the window has ended.
func (l *eventLog) follow(w *window) {
	for event := range w.events {
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

// mark returns the place in the log after which later events are found.
func (l *eventLog) mark() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.events)
}

// since returns the events after a mark, whether the window has ended, and a channel that is closed at the next change.
func (l *eventLog) since(mark int) (events []*mcphubv1.AttachResponse, ended bool, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	return l.events[mark:len(l.events):len(l.events)], l.ended, l.changed
}

// waitFor returns what pick returns for the first event after mark that it picks. If the event does not come before ctx
// or the window ends, the error names it by what.
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
