package mcpserver

import (
	"slices"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

func (w *wire) open() *stream {
	w.last++
	st := &stream{number: w.last}
	w.streams[st.number] = st
	return st
}

// push adds an event.
func (w *wire) push(st *stream, event streamEvent) {
	if w.full { // the client is being ended
		return
	}
	e := &event
	e.stream, e.number = st, st.end()+1
	if q := w.asked[e.asks]; q != nil {
		q.event = e
	}
	st.events = append(st.events, e)
	w.waiting += len(e.data)
	if !st.read {
		w.keep(e)
	}
	w.wake(st)
	if w.waiting > w.rules.queue {
		w.end(jsonrpc.ErrStalled)
	}
	w.forget(w.rules.keepBytes)
}

// end ends the client. Nothing is added any more.
func (w *wire) end(cause error) {
	if !w.full {
		w.full = true
		w.order(overflow{cause})
	}
}

// holds returns how many bytes wait to be written, and how many are kept so that a stream can be resumed.
func (w *wire) holds() (waiting, kept int) { return w.waiting, w.bytes }

// keep allows an event to be dropped when room is needed. It is called for the events of a stream in their order.
func (w *wire) keep(e *streamEvent) {
	if e.kept {
		return
	}
	e.kept = true
	w.waiting -= len(e.data)
	w.kept, w.bytes = append(w.kept, e), w.bytes+len(e.data)
}

// forget drops the oldest kept events that exceed the bounds. A question that nobody has read can be asked elsewhere.
func (w *wire) forget(most int) {
	for len(w.kept) > 0 && (len(w.kept) > w.rules.keepEvents || w.bytes > most) {
		e := w.kept[0]
		w.kept[0], w.kept = nil, w.kept[1:]
		w.bytes -= len(e.data)
		st := e.stream // e is the oldest event of st
		st.events[0], st.events = nil, st.events[1:]
		st.gone++
		if q := w.asked[e.asks]; q != nil && q.event == e && !q.parted && e.number > st.written {
			st.asked--
			w.endQuestion(e.asks)
		}
		w.drop(st)
	}
}

// drop removes a stream that is over and has nothing more to say.
func (w *wire) drop(st *stream) {
	if st.over && st.asked == 0 && !st.read && len(st.events) == 0 {
		delete(w.streams, st.number)
	}
}

// end returns the number of the last event.
func (st *stream) end() int { return st.gone + len(st.events) }

// unkept returns the events up to one that are not kept yet: what is kept are always the first ones.
func (st *stream) unkept(to int) []*streamEvent {
	last := max(to-st.gone, 0)
	first := last
	for first > 0 && !st.events[first-1].kept {
		first--
	}
	return st.events[first:last]
}

// got reports whether the client has an event, as far as that can be known.
func (st *stream) got(e *streamEvent) bool {
	return e.number < st.written || e.number == st.written && !st.cut
}

// expected reports whether a client that has left the stream will come back to it, for an answer that it has not got.
func (st *stream) expected() bool {
	lacks := func(e *streamEvent) bool { return !e.answers.IsZero() && !st.got(e) }
	return !st.over || slices.ContainsFunc(st.events, lacks)
}

// readerCame makes the caller the reader of the events after one, in place of the previous reader. On the common
// stream, whose notifications may be lost, it continues with the events that are left, and what repeat adds.
func (w *wire) readerCame(e readerCame) {
	st, after := w.streams[e.stream], e.after
	if e.stream == 0 {
		st, after = w.common, w.common.written
		st.followers++
		e.follower = st.followers
	}
	if st == w.common && st != nil {
		after = max(after, st.gone)
	}
	// So is one that is over and has nothing more: to an empty stream the TypeScript SDK (2.4) comes back for ever.
	if st == nil || after < st.gone || after > st.end() || st != w.common && st.over && after == st.end() ||
		(st == w.common) != (e.follower > 0) || e.follower > st.followers {
		w.order(refused{})
		return
	}
	if st.read && st.full(e.follower) {
		w.order(refused{full: true})
		return
	}
	if e.stream == 0 {
		w.repeat(st)
	}
	if st.read {
		w.stepBack(st, e.follower)
	}
	st.last++
	w.give(st, olderReader{st.last, e.follower, after})
	w.order(follow{st.number, st.reader, after, st.follower})
}

// give makes a reader the one that is given the events of a stream.
func (w *wire) give(st *stream, to olderReader) {
	st.reader, st.follower = to.number, to.follower
	st.read, st.cut, st.left, st.from, st.at = true, false, false, to.at, to.at
}

// stepBack has the reader of a stream wait behind a newer one, if it is another follower. Else it ends, since its
// connection has broken.
func (w *wire) stepBack(st *stream, follower int) {
	st.older = append(st.older, olderReader{st.reader, st.follower, st.at})
	st.older = slices.DeleteFunc(st.older, func(r olderReader) bool {
		ends := r.follower == follower
		if ends {
			w.order(wake{st.number, r.number})
		}
		return ends
	})
}

// full reports whether there is no room for one more reader, of a follower that has none.
func (st *stream) full(follower int) bool {
	return len(st.older) == mostOlder && st.follower != follower &&
		!slices.ContainsFunc(st.older, func(r olderReader) bool { return r.follower == follower })
}

// repeat adds the withdrawals once more that the last reader of a stream was given. A client that comes back without
// the id of an event may have got none of them: its connection was cut, and they were on their way.
func (w *wire) repeat(st *stream) {
	for _, e := range slices.Clone(st.events) {
		if st.from < e.number && e.number <= st.written && e.withdraws && e.data != nil {
			w.push(st, streamEvent{data: e.data, withdraws: true})
		}
	}
}

func (w *wire) writerReady(st *stream, reader int) {
	if st != nil && st.behind(reader) >= 0 {
		return
	}
	if st == nil || st.reader != reader || !st.read {
		w.order(finish{})
		return
	}
	for _, e := range st.unkept(st.at) { // they are written, or there is nothing to write any more
		w.keep(e)
	}
	w.forget(w.rules.keepBytes)
	if st == w.common {
		st.at = max(st.at, st.gone)
	}
	if st.at < st.gone { // an event was dropped that this reader needs
		w.order(finish{})
		return
	}
	for st.at < st.end() {
		e := st.events[st.at-st.gone]
		if st.at++; st.at > st.written {
			st.written, e.to = st.at, st.follower
		} else if w.skips(e, st.follower) {
			continue
		}
		if e.data != nil {
			w.order(write{e.number, e.data, st.over && st.asked == 0 && !slices.ContainsFunc(st.events[st.at-st.gone:],
				func(later *streamEvent) bool { return later.data != nil })})
			return
		}
	}
	if st.over && st.asked == 0 {
		w.order(finish{})
	}
}

// skips reports whether an event that was given before is not given again: it was another follower's, or it is a
// question that is over, whose withdrawal another follower may have got.
func (w *wire) skips(e *streamEvent, follower int) bool {
	if e.withdraws {
		return false
	}
	q := w.asked[e.asks]
	return e.to != follower || !e.asks.IsZero() && (q == nil || q.parted)
}

// behind returns where a reader waits behind a newer one, or -1.
func (st *stream) behind(reader int) int {
	return slices.IndexFunc(st.older, func(r olderReader) bool { return r.number == reader })
}

func (w *wire) readerLeft(st *stream, e readerLeft) {
	if st != nil {
		if i := st.behind(e.reader); i >= 0 {
			st.older = slices.Delete(st.older, i, i+1)
			return
		}
	}
	if st == nil || st.reader != e.reader || !st.read {
		return
	}
	st.read, st.cut, st.left = false, e.cut, !e.ended
	switch {
	case w.rules.modern:
		if !st.over || e.cut || st.written < st.end() {
			w.order(endCall{})
		}
	case st.over:
		for _, id := range w.which(func(q *wireQuestion) bool { return q.event.stream == st && !q.parted }) {
			if st.expected() || w.asked[id].event.number > st.written { // it is read late, or never
				w.withdraw(id, w.asked[id], "its call has ended")
				w.endQuestion(id)
			}
		}
		w.abandon(st)
	}
	for _, e := range st.events {
		w.keep(e)
	}
	w.forget(w.rules.keepBytes)
	w.drop(st)
	if last := len(st.older) - 1; last >= 0 { // it gets the withdrawals once more that the one that left was given
		next := st.older[last]
		st.older = st.older[:last]
		next.at = max(next.at, st.from, st.gone)
		w.give(st, next)
		w.wake(st)
	}
}
