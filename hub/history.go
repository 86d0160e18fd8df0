package hub

// Bounds of what is remembered of requests that are over.
const (
	maxHistory      = 1000      // requests
	maxHistoryBytes = 16 << 20  // with their results
	maxShownResult  = 256 << 10 // of one request
)

// endedOverhead is about what an ended request takes without its texts: the event, its place here, and the parts that every end has.
const endedOverhead = 512

// history keeps the terminal events of the requests that ended last, for windows that attach later. The journal holds the same events for those that resume; so
// that it pins no result that is no longer kept here, add tells which are. Guarded by Hub.mu.
type history struct {
	ended   []endedEvent // oldest first
	bytes   int
	results int // how many of them have one
}

type endedEvent struct {
	event Event
	size  int
}

// add keeps a terminal event. The bodies of events are never changed, as others may be encoding them: what add gives are events of before, anew, without the
// results that have had their time.
func (y *history) add(e Event) (without []Event) {
	y.keep(e)
	for len(y.ended) > maxHistory || y.bytes > maxHistoryBytes && y.results == 0 {
		gone := y.ended[0].event
		y.drop(0)
		y.ended[0] = endedEvent{}
		y.ended = y.ended[1:]
		if bare, had := bared(gone); had {
			without = append(without, bare)
		}
	}
	for i := 0; y.bytes > maxHistoryBytes && y.results > 0; i++ {
		bare, had := bared(y.ended[i].event)
		if !had {
			continue
		}
		y.drop(i)
		y.ended[i] = endedEvent{event: bare, size: endedSize(bare.Body)}
		y.bytes += y.ended[i].size
		without = append(without, bare)
	}
	return without
}

func (y *history) keep(e Event) {
	size := endedSize(e.Body)
	y.bytes += size
	if _, has := bared(e); has {
		y.results++
	}
	y.ended = append(y.ended, endedEvent{event: e, size: size})
}

// drop takes the i-th off the books.
func (y *history) drop(i int) {
	y.bytes -= y.ended[i].size
	if _, had := bared(y.ended[i].event); had {
		y.results--
	}
}

// bared is an event without the result of its request; had tells whether it has one.
func bared(e Event) (bare Event, had bool) {
	f, ok := e.Body.(*RequestFinished)
	if !ok || f.Result == "" {
		return e, false
	}
	without := *f
	without.Result = ""
	e.Body = &without
	return e, true
}

// latest gives the n that ended last, oldest first.
func (y *history) latest(n int) []Ended {
	n = min(n, len(y.ended))
	if n <= 0 {
		return nil
	}
	list := make([]Ended, n)
	for i, e := range y.ended[len(y.ended)-n:] {
		list[i] = Ended{Time: e.event.Time, Body: e.event.Body}
	}
	return list
}

// shownResult is what the windows are told of a result.
func shownResult(raw []byte) string {
	if len(raw) > maxShownResult {
		return ""
	}
	return string(raw)
}

// endedSize is about what a terminal event holds.
func endedSize(b EventBody) int {
	n := endedOverhead
	switch b := b.(type) {
	case *RequestCancelled:
		n += len(b.RequestID) + len(b.Tool) + len(b.Subject) + len(b.WireID) + len(b.Cancellation.Reason) + b.Err.size()
	case *RequestFinished:
		n += len(b.RequestID) + len(b.Tool) + len(b.Subject) + len(b.Result) + b.Err.size()
		if e := b.McpError; e != nil {
			n += len(e.Message) + len(e.Data)
		}
	}
	return n
}

// size is about what an error holds; nil is none.
func (e *Error) size() int {
	if e == nil {
		return 0
	}
	n := len(e.Message)
	for k, v := range e.Meta {
		n += len(k) + len(v)
	}
	return n
}
