package mcpserver

import (
	"cmp"
	"slices"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

// wire decides what is sent to one client over HTTP, on which stream and in which order: the calls of the client, their
// cancels, the questions that belong to them, the withdrawals of these, the answers, and the streams that carry all of
// it and that break and come back. It is the wire of a whole session of a legacy client, and of one POST of a modern
// one. On a pipe the order of the messages decides all this.
//
// It is a machine without I/O: apply takes one thing that has happened, and returns what has to be done, in order. The
// rules are:
//
//   - A cancel that is read before its call ends that call as soon as it is read.
//   - What belongs to a call goes to the stream of its POST. If only the stream of the GET has a reader when a question
//     is asked, the question goes there: some clients give a call up without a cancel.
//   - A question that ends before it was written is never written. Otherwise its withdrawal follows it on the stream
//     that has it. So a stream stays open after its last answer while a question on it is open. If the client has left
//     that stream and lacks no answer, so that it does not come back, the withdrawal goes to the stream of the GET.
//   - Some clients leave a stream when they have cancelled its call or have its answer, and what was written meanwhile
//     is lost. So withdrawals after the last answer are repeated on the stream of the GET if the connection of the
//     first stream is closed behind its end. A withdrawal of what is not open does nothing at a client.
//   - A call that is cancelled takes its questions with it: they are withdrawn before its stream ends, and can then be
//     asked in the course of another call. So does a call that is answered while nobody reads its stream.
//   - A stream that was not written to its end can be resumed, and what is on it waits for that. In the modern era
//     there is no resuming: a client that leaves before the last byte has cancelled.
//   - A client that loses a stream twice, and nothing came in between, may come back with a second GET that names no
//     event, as the TypeScript SDK (2.4) does. Each GET is a stream of its own then, and the newest is given all that
//     comes. What was given to one is not given to another (2025-11-25 basic/transports, "Resumability and
//     Redelivery"), but withdrawals. An older one is not ended: the client would come back, and end the newer one.
type wire struct {
	rules   wireRules
	common  *stream // the stream of the GET; nil in the modern era
	last    int     // the number of the newest stream
	streams map[int]*stream
	calls   map[jsonrpc.ID]*wireCall
	asked   map[jsonrpc.ID]*wireQuestion // open questions, by our ids
	early   []earlyCancel                // the oldest first
	late    []lateCall                   // the calls that ended last, the oldest first
	kept    []*streamEvent               // events that may be dropped, the oldest first
	bytes   int                          // of the events in kept
	waiting int                          // bytes of events that have a reader and were not written yet
	full    bool
	orders  []any
}

// wireRules are what a wire does not decide itself.
type wireRules struct {
	modern                bool
	keepEvents, keepBytes int // bounds of kept
	queue                 int // the bound of waiting
	early                 int // how many early cancels are remembered
}

// stream holds the events of the answer to one POST, or of the GET.
type stream struct {
	number    int
	calls     int            // how many of its calls are unanswered
	asked     int            // how many open questions it has
	over      bool           // all its calls have ended
	gone      int            // how many events at the beginning were dropped
	events    []*streamEvent // the events after them
	reader    int            // the number of the latest reader: only that one is given events
	older     []olderReader  // of the stream of the GET: readers that wait until the later ones have left
	last      int            // the number of the newest reader
	follower  int            // of the stream of the GET: the follower that the reader is, by the GET that it began with
	followers int            // how many there were
	read      bool           // that reader is still there
	from      int            // the number of the last event before this reader's
	at        int            // the number of the last event that this reader was given
	written   int            // the number of the last event that any reader was given
	cut       bool           // the last reader left before all that it was given was written
	left      bool           // the client has closed its connection, maybe before it had read all
}

// olderReader is a reader of the stream of a GET for whom a newer one has come.
type olderReader struct{ number, follower, at int }

type streamEvent struct {
	stream    *stream
	number    int
	data      []byte     // nil: it is not sent any more
	kept      bool       // it is in the wire's kept
	asks      jsonrpc.ID // the question that it is; zero for all else
	answers   jsonrpc.ID // the call whose answer it is; zero for all else, and if the client has cancelled that call
	to        int        // the follower of the stream of the GET that it was given to
	withdraws bool       // it is the withdrawal of a question
}

type wireCall struct {
	stream   *stream
	begun    bool // the peer has read it
	returned bool // its handler has returned
	unwanted bool // it was cancelled when the peer had its answer
}

// lateCall is a call that has ended.
type lateCall struct {
	id     jsonrpc.ID
	stream int
}

type wireQuestion struct {
	of     jsonrpc.ID // the call in whose course it is asked; zero for none
	event  *streamEvent
	parted bool // it was withdrawn with its call, and ends when the handler of the call returns
}

type earlyCancel struct {
	id     jsonrpc.ID
	reason string
	at     int64
}

const (
	earlyFor   = 30_000 // milliseconds
	longestID  = 256    // bytes: a cancel of a longer id is not remembered
	mostOlder  = 8      // readers of one session that wait behind a newer one; a client that is refused gives up
	rememberID = 256    // how many ids of ended calls are remembered
)

// What happens. Times are in milliseconds.
type (
	// postRead: the requests of a POST came, and get one stream. Ordered: opened or refused.
	postRead struct{ ids []jsonrpc.ID }
	// requestRead: the peer has read a request of a POST. Ordered: dropped, if it was cancelled before.
	requestRead struct {
		id jsonrpc.ID
		at int64
	}
	// cancelRead: the peer has read a cancel of a request that is not open there.
	cancelRead struct {
		id     jsonrpc.ID
		reason string
		at     int64
	}
	// callCancelled: the client has cancelled an open request.
	callCancelled struct {
		id     jsonrpc.ID
		reason string
	}
	// handlerReturned: the handler of a request has returned, also if the request was cancelled. ended are those of its
	// questions for whose answers nobody waits any more.
	handlerReturned struct {
		id    jsonrpc.ID
		ended []questionWithdrawn
	}
	// answerReady: the answer to a request is to be sent.
	answerReady struct {
		id   jsonrpc.ID
		data []byte
	}
	// noticeReady: a notification is to be sent that belongs to a request, or to none (zero).
	noticeReady struct {
		of   jsonrpc.ID
		data []byte
	}
	// questionReady: a question is to be sent that belongs to a request, or to none. Ordered: refused, if that is over.
	questionReady struct {
		id, of jsonrpc.ID
		data   []byte
	}
	// questionWithdrawn: nobody waits for the answer to a question any more.
	questionWithdrawn struct {
		id     jsonrpc.ID
		reason string
	}
	// questionOver: a question was answered, or its asker has been told of its end.
	questionOver struct{ id jsonrpc.ID }
	// readerCame: the client follows a stream after an event, or the common one (0), as a new follower, after all that
	// was written. Ordered: follow or refused.
	readerCame struct{ stream, after, follower int }
	// writerReady: a reader has written what it was given. Ordered: write, finish, or nothing yet.
	writerReady struct{ stream, reader int }
	// readerLeft: a reader is gone. cut means that something that it was given was not written to its last byte; ended
	// that it has written the end of the stream.
	readerLeft struct {
		stream, reader int
		cut, ended     bool
	}
	// streamLeft: the connection over which a stream ended was closed, and not used for another request.
	streamLeft struct{ stream int }
	// keepLess: too much is kept for all clients. The oldest of the events that may be dropped are, down to so many
	// bytes.
	keepLess struct{ bytes int }
	// gaveWay: too much waits for all clients, and this one gives way. Ordered: overflow.
	gaveWay struct{}
)

// What has to be done.
type (
	opened  struct{ stream, reader int }
	refused struct{ full bool }     // full: too many readers of the GET wait already
	dropped struct{ reason string } // the request is not handled
	follow  struct{ stream, reader, after, follower int }
	write   struct {
		number int
		data   []byte
		last   bool // nothing comes after it on this stream
	}
	finish      struct{}
	wake        struct{ stream, reader int } // the writer of that reader is ready again
	endQuestion struct{ id jsonrpc.ID }      // its asker may ask it elsewhere
	endCall     struct{}                     // the client has cancelled the call of a POST by leaving
	overflow    struct{ cause error }        // too much waits: the client is ended
)

func newWire(rules wireRules) *wire {
	w := &wire{rules: rules, streams: map[int]*stream{}, calls: map[jsonrpc.ID]*wireCall{},
		asked: map[jsonrpc.ID]*wireQuestion{}}
	if !rules.modern {
		w.common = w.open()
	}
	return w
}

// apply changes the state by one event, and returns what has to be done, in order.
func (w *wire) apply(happened any) []any {
	w.orders = nil
	switch e := happened.(type) {
	case postRead:
		w.postRead(e.ids)
	case requestRead:
		c := w.calls[e.id]
		if early := w.recall(e.id, e.at); c != nil {
			if c.begun = true; early != nil {
				w.endCall(e.id, c)
				w.order(dropped{early.reason})
			}
		}
	case cancelRead:
		if !w.unwanted(e.id) {
			w.remember(earlyCancel{e.id, bounds.Reason(e.reason), e.at})
		}
	case callCancelled:
		if c := w.calls[e.id]; c != nil {
			w.part(e.id, c, cmp.Or(e.reason, "its call was cancelled"))
			w.endCall(e.id, c)
		}
	case handlerReturned:
		if c := w.calls[e.id]; c != nil {
			c.returned = true
		}
		for _, id := range w.which(func(q *wireQuestion) bool { return q.of == e.id && q.parted }) {
			w.endQuestion(id)
		}
		slices.SortFunc(e.ended, func(a, b questionWithdrawn) int { return cmp.Compare(a.id.String(), b.id.String()) })
		for _, q := range e.ended {
			w.questionWithdrawn(q)
		}
	case answerReady:
		if c := w.calls[e.id]; c != nil {
			if !c.stream.read {
				w.part(e.id, c, "its call has ended")
			}
			answer := streamEvent{data: e.data, answers: e.id}
			if c.unwanted {
				answer.answers = jsonrpc.ID{}
			}
			w.push(c.stream, answer)
			w.endCall(e.id, c)
		}
	case noticeReady:
		if st := w.streamOf(e.of); st != nil {
			w.push(st, streamEvent{data: e.data})
		}
	case questionReady:
		w.ask(e.id, e.of, e.data)
	case questionWithdrawn:
		w.questionWithdrawn(e)
	case questionOver:
		if q := w.asked[e.id]; q != nil {
			delete(w.asked, e.id)
			if !q.parted {
				w.settle(q)
			}
		}
	case readerCame:
		w.readerCame(e)
	case writerReady:
		w.writerReady(w.streams[e.stream], e.reader)
	case readerLeft:
		w.readerLeft(w.streams[e.stream], e)
	case streamLeft:
		if st := w.streams[e.stream]; st != nil && !st.read {
			st.left = true
			w.abandon(st)
		}
	case keepLess:
		w.forget(e.bytes)
	case gaveWay:
		w.end(errTooMuchWaits)
	}
	return w.orders
}

func (w *wire) order(o any) { w.orders = append(w.orders, o) }

func (w *wire) wake(st *stream) { w.order(wake{st.number, st.reader}) }

// --- calls

func (w *wire) postRead(ids []jsonrpc.ID) {
	for i, id := range ids { // there are few: a batch is bounded
		if w.calls[id] != nil || slices.Contains(ids[:i], id) {
			w.order(refused{})
			return
		}
	}
	st := w.open()
	st.calls, st.last, st.reader, st.read = len(ids), 1, 1, true
	for _, id := range ids {
		w.calls[id] = &wireCall{stream: st}
	}
	w.order(opened{st.number, st.reader})
}

// endCall ends a call: the last one of a stream ends that, too.
func (w *wire) endCall(id jsonrpc.ID, c *wireCall) {
	delete(w.calls, id)
	if len(id.String()) <= longestID {
		if len(w.late) == rememberID {
			w.late = slices.Delete(w.late, 0, 1)
		}
		w.late = append(w.late, lateCall{id, c.stream.number})
	}
	if c.stream.calls--; c.stream.calls == 0 {
		c.stream.over = true
		if w.common != nil {
			w.abandon(c.stream)
		}
		w.drop(c.stream)
		w.wake(c.stream)
	}
}

// unwanted notes that a client has cancelled a call that was read, and whose answer was there: it does not come back
// for that answer. It returns false if there is no such call.
func (w *wire) unwanted(id jsonrpc.ID) bool {
	if c := w.calls[id]; c != nil {
		c.unwanted = c.begun
		return c.begun
	}
	i := slices.IndexFunc(w.late, func(c lateCall) bool { return c.id == id })
	if i < 0 {
		return false
	}
	if st := w.streams[w.late[i].stream]; st != nil {
		for _, e := range st.events {
			if e.answers == id {
				e.answers = jsonrpc.ID{}
			}
		}
		w.abandon(st)
	}
	return true
}

// remember keeps a cancel for its call, which has not come. The newest are kept.
func (w *wire) remember(cancel earlyCancel) {
	w.expire(cancel.at)
	if slices.ContainsFunc(w.early, func(other earlyCancel) bool { return other.id == cancel.id }) ||
		len(cancel.id.String()) > longestID {
		return
	}
	if len(w.early) >= w.rules.early {
		w.early = slices.Delete(w.early, 0, 1)
	}
	w.early = append(w.early, cancel)
}

// recall takes the cancel that came before a call, or returns nil.
func (w *wire) recall(id jsonrpc.ID, at int64) *earlyCancel {
	w.expire(at)
	i := slices.IndexFunc(w.early, func(c earlyCancel) bool { return c.id == id })
	if i < 0 {
		return nil
	}
	cancel := w.early[i]
	w.early = slices.Delete(w.early, i, i+1)
	return &cancel
}

func (w *wire) expire(now int64) {
	w.early = slices.DeleteFunc(w.early, func(c earlyCancel) bool { return now-c.at > earlyFor })
}

// streamOf returns the stream of an open call; for the zero ID, the common one.
func (w *wire) streamOf(of jsonrpc.ID) *stream {
	if of.IsZero() {
		return w.common
	}
	if c := w.calls[of]; c != nil {
		return c.stream
	}
	return nil
}

// --- questions

// streamToAsk returns the stream on which a question would be asked, or nil if its call is over.
func (w *wire) streamToAsk(of jsonrpc.ID) *stream {
	st := w.streamOf(of)
	if st != nil && !st.read && w.common.read {
		return w.common
	}
	return st
}

// heard reports whether a question that belongs to a call would reach the client now.
func (w *wire) heard(of jsonrpc.ID) bool {
	st := w.streamToAsk(of)
	return st != nil && st.read
}

func (w *wire) ask(id, of jsonrpc.ID, data []byte) {
	st := w.streamToAsk(of)
	if st == nil || w.full {
		w.order(refused{})
		return
	}
	w.asked[id] = &wireQuestion{of: of}
	st.asked++
	w.push(st, streamEvent{data: data, asks: id})
}

// which returns some of the open questions, by stream and in the order in which they were asked.
func (w *wire) which(some func(*wireQuestion) bool) (ids []jsonrpc.ID) {
	for id, q := range w.asked {
		if some(q) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b jsonrpc.ID) int {
		x, y := w.asked[a].event, w.asked[b].event
		return cmp.Or(cmp.Compare(x.stream.number, y.stream.number), cmp.Compare(x.number, y.number))
	})
	return ids
}

// part withdraws the questions of a call that ends. They may belong to another call, and can be asked there as soon as
// the handler has returned: before, the hub does not know that this call has ended.
func (w *wire) part(id jsonrpc.ID, c *wireCall, reason string) {
	for _, asked := range w.which(func(q *wireQuestion) bool { return q.of == id && !q.parted }) {
		q := w.asked[asked]
		w.withdraw(asked, q, reason)
		if q.parted = true; c.returned {
			w.endQuestion(asked)
		}
	}
}

func (w *wire) endQuestion(id jsonrpc.ID) {
	delete(w.asked, id)
	w.order(endQuestion{id})
}

func (w *wire) questionWithdrawn(e questionWithdrawn) {
	if q := w.asked[e.id]; q != nil {
		delete(w.asked, e.id)
		if !q.parted {
			w.withdraw(e.id, q, e.reason)
		}
	}
}

// withdraw withdraws a question that was not parted.
func (w *wire) withdraw(id jsonrpc.ID, q *wireQuestion, reason string) {
	st := q.event.stream
	if q.event.number <= st.written {
		w.push(st, streamEvent{data: jsonrpc.CancelNotification(id, reason), withdraws: true})
	}
	w.settle(q)
	w.abandon(st)
}

// abandon repeats the withdrawals on a stream to which the client does not come back on the stream of the GET. If it
// comes back all the same, it must not get their questions after them.
func (w *wire) abandon(st *stream) {
	if st == w.common || st.read || st.expected() {
		return
	}
	answered := 0 // the number of the last answer: what came before it, the client has got
	for _, e := range st.events {
		if !e.answers.IsZero() {
			answered = e.number
		}
	}
	for _, e := range slices.Clone(st.events) {
		q := w.asked[e.asks]
		switch {
		case e.data == nil:
		case !e.asks.IsZero() && (q == nil || q.parted):
			w.blank(e)
		case e.withdraws && (st.left && e.number > answered || !st.got(e)):
			e.withdraws = false // once
			w.push(w.common, streamEvent{data: e.data, withdraws: true})
		}
	}
}

// settle marks that a question has ended. One that was not written will not be.
func (w *wire) settle(q *wireQuestion) {
	st := q.event.stream
	st.asked--
	if q.event.number > st.written {
		w.blank(q.event)
	}
	w.drop(st)
	w.wake(st)
}

func (w *wire) blank(e *streamEvent) {
	if e.kept {
		w.bytes -= len(e.data)
	} else {
		w.waiting -= len(e.data)
	}
	e.data = nil
}
