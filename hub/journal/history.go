package journal

import (
	"math"
	"sort"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
)

// Bounds of what is remembered of requests that are over.
const (
	maxHistory     = 1000      // requests
	maxShownResult = 256 << 10 // of one request
)

// Bounds of what one snapshot brings of it. With both, and a thousand ends besides, a snapshot stays below the 4 MiB
// that a gRPC client takes who has not said otherwise; a page has to take it all before it shows anything.
const (
	maxSentResults = 2 << 20
	maxSentErrors  = 1 << 20
)

// endedOverhead is about what an ended request takes besides its event: its place here, and the parts that every end
// has.
const endedOverhead = 512 - event.Overhead

// History keeps the terminal events of the requests that ended last, for windows that attach later. [Missed] holds
// the same events for those that resume; so that it pins no result that is no longer kept here, Add tells which are.
type History struct {
	ended   queue[endedEvent]
	bytes   int
	results int // how many of them have one
}

type endedEvent struct {
	event   event.Event
	size    int
	earlier bool
}

// Add keeps a terminal event. The bodies of events are never changed, as others may be encoding them: what Add gives
// are events of before, anew, without the results that have had their time.
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
	for y.bytes > bounds.HistoryBytes { // no result is left: what errors say is that long
		without = y.dropOldest(without)
	}
	return without
}

// Recall puts in what the hub before this one left, before anything of this one.
func (y *History) Recall(left []event.Ended) {
	for _, e := range left {
		y.keep(event.Event{Time: e.Time, Body: e.Body})
		y.ended.items[len(y.ended.items)-1].earlier = true
	}
}

// Delivered puts the outcome of a cancel into the terminal event with that Seq, if it is still kept.
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

// dropOldest forgets the end that is the oldest; without gets its event, if that has lost its result by it.
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

// drop takes the i-th off the books.
func (y *History) drop(i int) {
	y.bytes -= y.ended.items[i].size
	if _, had := bared(y.ended.items[i].event); had {
		y.results--
	}
}

// bared is an event without the result of its request; had tells whether it has one.
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

// Latest gives the n that ended last, oldest first: with as many results, and as much of what errors say, as one
// snapshot brings. The latest come first to it.
func (y *History) Latest(n int) []event.Ended { return y.within(n, maxSentResults, maxSentErrors) }

// All gives every end that is kept, oldest first.
func (y *History) All() []event.Ended { return y.within(len(y.ended.items), math.MaxInt, math.MaxInt) }

// within gives the n that ended last, with so many bytes of results and of what errors say.
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
			if results -= len(f.Result); results < 0 { // and so for all before it
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

// briefed is the event of an end with no more of an error than what kind it is.
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

// ShownResult is what the windows are told of a result.
func ShownResult(raw []byte) string {
	if len(raw) > maxShownResult {
		return ""
	}
	return string(raw)
}

// endedSize is about what a terminal event holds, with its place here.
func endedSize(b event.Body) int { return endedOverhead + event.PayloadSize(b) }
