package journal

import (
	"sort"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
)

// maxShownResult is the size of the longest result that windows are sent.
const maxShownResult = 256 << 10

// History keeps the terminal events of the requests that ended last, for windows that attach later. Those of the latest
// requests keep their results and errors.
type History struct {
	ended           queue[event.Event]
	results, errors int // bytes
	texts           int // bytes of all else that servers and callers choose
	bared, briefed  int // how many events, from the oldest on, have lost their result or most of their error
}

// Add keeps a terminal event. An event that loses its result is replaced, since the bodies of events are never changed.
// Others may be encoding them.
func (y *History) Add(e event.Event) {
	y.count(e, 1)
	y.ended.push(e)
	for len(y.ended.items) > bounds.HistoryRequests || y.texts > bounds.HistoryTexts {
		y.count(y.ended.pop(), -1)
		y.bared, y.briefed = max(y.bared-1, 0), max(y.briefed-1, 0)
	}
	for ; y.results > bounds.HistoryResults; y.bared++ {
		y.replace(y.bared, bared)
	}
	for ; y.errors > bounds.HistoryErrors && y.briefed < len(y.ended.items); y.briefed++ {
		y.replace(y.briefed, briefed)
	}
}

// count adds n times the sizes of an event.
func (y *History) count(e event.Event, n int) {
	y.texts += n * (event.PayloadSize(e.Body) - event.Overhead)
	if f, ok := e.Body.(*event.RequestFinished); ok {
		y.results += n * len(f.Result)
		y.errors += n * f.ErrorSize()
		y.texts -= n * (len(f.Result) + f.ErrorSize())
	}
}

func (y *History) replace(i int, by func(event.RequestFinished) event.Body) {
	e := &y.ended.items[i]
	if f, ok := e.Body.(*event.RequestFinished); ok {
		y.count(*e, -1)
		e.Body = by(*f)
		y.count(*e, 1)
	}
}

// Delivered sets the outcome of a cancel in the terminal event with that Seq, if it is still kept.
func (y *History) Delivered(seq uint64, s event.Sending) {
	i := sort.Search(len(y.ended.items), func(i int) bool { return y.ended.items[i].Seq >= seq })
	if i == len(y.ended.items) || y.ended.items[i].Seq != seq {
		return
	}
	if c, ok := y.ended.items[i].Body.(*event.RequestCancelled); ok {
		now := *c
		now.Sending = s
		y.ended.items[i].Body = &now
	}
}

// AnsweredLate adds the answer that has come since to the end of a cancelled request, if it is still kept. No later
// request has its id.
func (y *History) AnsweredLate(requestID string, answer event.LateAnswer) {
	for i := len(y.ended.items) - 1; i >= 0; i-- {
		if c, ok := y.ended.items[i].Body.(*event.RequestCancelled); ok && c.RequestID == requestID {
			y.ended.items[i].Body = c.AnsweredLate(answer)
			return
		}
	}
}

// Latest returns the n requests that ended last, oldest first.
func (y *History) Latest(n int) (list []event.Ended) {
	for _, e := range y.ended.items[max(0, len(y.ended.items)-n):] {
		list = append(list, event.Ended{Time: e.Time, Body: e.Body})
	}
	return list
}

// bared returns the end of a request without its result.
func bared(end event.RequestFinished) event.Body {
	end.Result = ""
	return &end
}

// briefed returns the end of a request with its error cut to its kind and the beginning of its message.
func briefed(end event.RequestFinished) event.Body {
	if m := end.McpError; m != nil {
		end.McpError = &event.McpError{Code: m.Code, Message: bounds.Printable(m.Message)}
	}
	if own := end.Err; own != nil {
		end.Err = &event.Error{Code: own.Code, Reason: own.Reason, Message: bounds.Printable(own.Message)}
	}
	return &end
}

// ShownResult returns the result in the form that windows are sent: as text, or "" if it is too long.
func ShownResult(raw []byte) string {
	if len(raw) > maxShownResult {
		return ""
	}
	return string(raw)
}

// queue is a list from which the oldest items are removed. It reuses their room. A slice that is only cut at its front
// and appended to would be copied to a new array over and over.
type queue[T any] struct {
	items []T // oldest first
	room  []T // empty; it begins where the array of items does
}

func (q *queue[T]) push(item T) {
	if gone := cap(q.room) - cap(q.items); len(q.items) == cap(q.items) && gone > len(q.items)/4 {
		moved := append(q.room, q.items...)
		clear(q.items[max(len(q.items)-gone, 0):])
		q.items = moved
	}
	before := cap(q.items)
	if q.items = append(q.items, item); cap(q.items) != before {
		q.room = q.items[:0]
	}
}

// pop removes and returns the oldest item.
func (q *queue[T]) pop() (oldest T) {
	oldest, q.items[0] = q.items[0], oldest
	q.items = q.items[1:]
	return oldest
}
