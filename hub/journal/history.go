package journal

import (
	"math"
	"sort"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
)

// Bounds of what is kept of the requests that are over.
const (
	maxHistory     = 1000      // requests
	maxShownResult = 256 << 10 // of one request
)

// Bounds of what one snapshot holds of it. With both, and a thousand ended requests besides, a snapshot stays below the
// 4 MiB that a gRPC client accepts by default. A page has to receive all of it before it shows anything.
const (
	maxSentResults = 2 << 20
	maxSentErrors  = 1 << 20
)

// endedOverhead is about how many bytes an ended request takes besides its event: its place in History, and the parts
// that every end has.
const endedOverhead = 512 - event.Overhead

// History keeps the terminal events of the requests that ended last, for windows that attach later. [Missed] holds the
// same events for windows that resume. Add returns the events whose results History no longer keeps, so that Missed
// does not keep those results in memory.
type History struct {
	ended   queue[endedEvent]
	bytes   int
	results int // how many of the events have a result
}

type endedEvent struct {
	event   event.Event
	size    int
	earlier bool
}

// Add keeps a terminal event. If the results take too much room, it drops the oldest ones, and returns the events that
// have lost their result: as new events without it, since the bodies of events are never changed. Others may be
// encoding them.
func (y *History) Add(e event.Event) (without []event.Event) {
	y.keep(e)
	if len(y.ended.items) > maxHistory {
		without = y.dropOldest(without)
	}
	for i := 0; y.bytes > bounds.HistoryBytes && y.results > 0; i++ {
		bare, had := bared(y.ended.items[i].event)
		if !had {
			continue
		}
		y.drop(i)
		y.ended.items[i] = endedEvent{event: bare, size: endedSize(bare.Body)}
		y.bytes += y.ended.items[i].size
		without = append(without, bare)
	}
	for y.bytes > bounds.HistoryBytes { // no result is left: the errors take that much
		without = y.dropOldest(without)
	}
	return without
}

// Recall adds the requests that the hub before this one left, before any request of this hub.
func (y *History) Recall(left []event.Ended) {
	for _, e := range left {
		y.keep(event.Event{Time: e.Time, Body: e.Body})
		y.ended.items[len(y.ended.items)-1].earlier = true
	}
}

// Delivered sets the outcome of a cancel in the terminal event with that Seq, if it is still kept.
func (y *History) Delivered(seq uint64, s event.Sending) {
	i := sort.Search(len(y.ended.items), func(i int) bool { return y.ended.items[i].event.Seq >= seq })
	if i == len(y.ended.items) || y.ended.items[i].event.Seq != seq {
		return
	}
	e := y.ended.items[i].event
	c, ok := e.Body.(*event.RequestCancelled)
	if !ok {
		return
	}
	now := *c
	now.Sending = s
	e.Body = &now
	y.bytes -= y.ended.items[i].size
	y.ended.items[i] = endedEvent{event: e, size: endedSize(e.Body)}
	y.bytes += y.ended.items[i].size
}

// dropOldest forgets the oldest end. It appends the event to without, without its result, if it had one.
func (y *History) dropOldest(without []event.Event) []event.Event {
	y.drop(0)
	if bare, had := bared(y.ended.pop().event); had {
		without = append(without, bare)
	}
	return without
}

func (y *History) keep(e event.Event) {
	size := endedSize(e.Body)
	y.bytes += size
	if _, has := bared(e); has {
		y.results++
	}
	y.ended.push(endedEvent{event: e, size: size})
}

// drop subtracts the i-th entry from bytes and results, but does not remove it.
func (y *History) drop(i int) {
	y.bytes -= y.ended.items[i].size
	if _, had := bared(y.ended.items[i].event); had {
		y.results--
	}
}

// bared returns an event without the result of its request. had reports whether it had one.
func bared(e event.Event) (bare event.Event, had bool) {
	f, ok := e.Body.(*event.RequestFinished)
	if !ok || f.Result == "" {
		return e, false
	}
	without := *f
	without.Result = ""
	e.Body = &without
	return e, true
}

// Latest returns the n requests that ended last, oldest first. Results and errors are limited to what one snapshot
// holds; those of the latest requests take precedence.
func (y *History) Latest(n int) []event.Ended { return y.within(n, maxSentResults, maxSentErrors) }

// All returns every end that is kept, oldest first.
func (y *History) All() []event.Ended { return y.within(len(y.ended.items), math.MaxInt, math.MaxInt) }

// within returns the n requests that ended last, oldest first, with at most so many bytes of results and of errors.
func (y *History) within(n, results, errors int) []event.Ended {
	n = min(n, len(y.ended.items))
	if n <= 0 {
		return nil
	}
	list := make([]event.Ended, n)
	for i := n - 1; i >= 0; i-- {
		kept := y.ended.items[len(y.ended.items)-n+i]
		e := kept.event
		if f, ok := e.Body.(*event.RequestFinished); ok {
			if results -= len(f.Result); results < 0 { // and of all requests before it
				e, _ = bared(e)
			}
			if size := f.ErrorSize(); size > 0 {
				if errors -= size; errors < 0 {
					e = briefed(e)
				}
			}
		}
		list[i] = event.Ended{Time: e.Time, Body: e.Body, EarlierHub: kept.earlier}
	}
	return list
}

// briefed returns the event of an end with its error cut to its kind and the beginning of its message.
func briefed(e event.Event) event.Event {
	brief := *e.Body.(*event.RequestFinished)
	if m := brief.McpError; m != nil {
		brief.McpError = &event.McpError{Code: m.Code, Message: bounds.Printable(m.Message)}
	}
	if own := brief.Err; own != nil {
		brief.Err = &event.Error{Code: own.Code, Reason: own.Reason, Message: bounds.Printable(own.Message)}
	}
	e.Body = &brief
	return e
}

// ShownResult returns the result in the form that windows are sent: as text, or "" if it is too long.
func ShownResult(raw []byte) string {
	if len(raw) > maxShownResult {
		return ""
	}
	return string(raw)
}

// endedSize returns about how many bytes a terminal event takes, with its place in History.
func endedSize(b event.Body) int { return endedOverhead + event.PayloadSize(b) }
