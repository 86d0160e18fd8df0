package mcpserver

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

// world is a small world around one wire of a legacy session: a client that posts calls, cancels them, answers what it
// is asked, and whose connections break and come back; the peer, which decides between a cancel and an answer; and a
// server that asks one question in the course of each call. It is explored in all orders of what can happen.
type world struct {
	wire      *wire
	calls     []worldCall
	questions []worldQuestion // by id
	conns     map[int]*worldConn
	breaks    int // how many connections may still break
	less      int // how often less is still kept
	swaps     int // how often a reader of the common stream may still take the place of another, with a GET of its own
	batch     bool
	get       bool // the client follows the common stream
	ask       int  // the server asks in the course of the first so many calls
	leaves    bool // the client may stop reading the stream of a call that it cancels, or whose answer it has
	modern    bool // the wire is that of one POST of 2026-07-28, which has no way to cancel but to close it
	ended     int  // how often the wire has ended the call for a connection that is gone
	saw       bool // the connection was gone before all was written to it
	noted     bool // the server has sent progress
}

type worldCall struct {
	posted, read, cancelled, early, returned, over bool // over: the peer has answered or dropped it
	pending                                        bool // the wire has not been told of its cancel, or of its answer
	stream                                         int
	answers                                        int // that the client has
}

type worldQuestion struct {
	of        int
	open      bool // somebody waits for the answer
	moved     bool // it may be asked in the course of another call
	withdrawn bool // by the server, or it was moved
	first     bool // by the server, before its call returned
	shown     bool // the client has it open
	got       bool // the client was sent it
	gone      bool // the client was told that it is withdrawn
	goneOn    int  // on which stream first
	again     bool // and once more, on another one
	on        int  // the stream on which the client got it
	lost      bool // it, or its withdrawal, was written when the connection broke: nobody knows whether it came
}

// second is the number of the client's second reader of the common stream, beside its first one, 1.
const second = -1

// streamOf returns the number of the stream that a connection reads.
func streamOf(conn int) int { return max(conn, 1) }

// worldConn is what the client knows of one stream.
type worldConn struct {
	reader   int
	follower int
	open     bool
	after    int  // the last event that came
	finished bool // it came to its end
	broke    bool // once
	deaf     bool // the client has left it
	seen     bool // and the server has seen that
}

func (w *world) clone() *world {
	c := *w
	c.wire = cloneWire(w.wire)
	c.calls, c.questions, c.conns = slices.Clone(w.calls), slices.Clone(w.questions), map[int]*worldConn{}
	for n, conn := range w.conns {
		own := *conn
		c.conns[n] = &own
	}
	return &c
}

func cloneWire(w *wire) *wire {
	c := *w
	c.orders, c.kept = nil, nil
	streams, events := map[*stream]*stream{}, map[*streamEvent]*streamEvent{}
	var ofStream func(*stream) *stream
	ofEvent := func(e *streamEvent) *streamEvent {
		if events[e] == nil {
			own := *e
			events[e] = &own
			own.stream = nil
			events[e].stream = ofStream(e.stream)
		}
		return events[e]
	}
	ofStream = func(st *stream) *stream {
		if streams[st] == nil {
			own := *st
			streams[st] = &own
			own.events, own.older = nil, slices.Clone(st.older)
			for _, e := range st.events {
				streams[st].events = append(streams[st].events, ofEvent(e))
			}
		}
		return streams[st]
	}
	if w.common != nil {
		c.common = ofStream(w.common)
	}
	c.streams, c.calls = map[int]*stream{}, map[jsonrpc.ID]*wireCall{}
	for n, st := range w.streams {
		c.streams[n] = ofStream(st)
	}
	for id, call := range w.calls {
		own := *call
		own.stream = ofStream(call.stream)
		c.calls[id] = &own
	}
	c.asked = map[jsonrpc.ID]*wireQuestion{}
	for id, q := range w.asked {
		own := *q
		own.event = ofEvent(q.event)
		c.asked[id] = &own
	}
	for _, e := range w.kept {
		c.kept = append(c.kept, ofEvent(e))
	}
	c.early, c.late = slices.Clone(w.early), slices.Clone(w.late)
	return &c
}

// key is the state as bytes: equal states have equal keys.
func (w *world) key() string {
	b := make([]byte, 0, 256)
	n := func(n int) { b = append(b, byte(n)) }
	flags := func(flags ...bool) {
		bits := 0
		for i, on := range flags {
			if on {
				bits |= 1 << i
			}
		}
		b = append(b, byte(bits), byte(bits>>8))
	}
	n(w.breaks)
	n(w.less)
	n(w.swaps)
	n(w.ended)
	flags(w.saw, w.noted)
	for _, c := range w.calls {
		flags(c.posted, c.read, c.cancelled, c.early, c.returned, c.over, c.pending)
		n(c.stream)
		n(c.answers)
	}
	for _, q := range w.questions {
		flags(q.open, q.moved, q.withdrawn, q.first, q.shown, q.got, q.gone, q.again, q.lost)
		n(q.of)
		n(q.on)
		n(q.goneOn)
	}
	ofConn := func(conn *worldConn) {
		if conn != nil {
			flags(conn.open, conn.finished, conn.broke, conn.deaf, conn.seen)
			n(conn.reader)
			n(conn.follower)
			n(conn.after)
		}
	}
	ofConn(w.conns[second])
	for i := range w.wire.last {
		ofConn(w.conns[i+1])
		st := w.wire.streams[i+1]
		if st == nil {
			n(255)
			continue
		}
		flags(st.over, st.read, st.cut, st.left)
		for _, v := range []int{st.calls, st.asked, st.gone, st.last, st.reader, st.follower, st.from, st.at, st.written,
			len(st.events), len(st.older)} {
			n(v)
		}
		for _, r := range st.older {
			n(r.number)
			n(r.follower)
		}
		for _, e := range st.events {
			b = append(append(b, e.data...), 0, byte(e.to))
			flags(!e.answers.IsZero())
		}
		if w.less > 0 { // else nothing is dropped
			n(len(st.events) - len(st.unkept(st.end())))
		}
	}
	for i := range w.calls {
		if c := w.wire.calls[callID(i)]; c != nil {
			flags(true, c.begun, c.returned, c.unwanted)
		}
	}
	for i := range w.questions {
		if q := w.wire.asked[questionID(i)]; q != nil {
			flags(true, q.parted)
			n(q.event.stream.number)
			n(q.event.number)
		} else {
			n(255)
		}
	}
	for _, e := range w.wire.early {
		b = append(append(b, e.id.String()...), 0)
	}
	for _, c := range w.wire.late {
		b = append(append(b, c.id.String()...), 0)
	}
	return string(b)
}

// Ids of calls are 100 and more, ids of questions less.
func callID(i int) jsonrpc.ID     { return jsonrpc.IntID(int64(100 + i)) }
func questionID(i int) jsonrpc.ID { return jsonrpc.IntID(int64(i)) }

// step is one thing that can happen. It returns what is wrong then, or "".
type step struct {
	name string
	do   func(w *world) string
}

func (w *world) apply(e any) (own any) {
	for _, o := range w.wire.apply(e) {
		switch o := o.(type) {
		case wake:
		case endQuestion:
			for i := range w.questions {
				if questionID(i) == o.id {
					w.questions[i].open, w.questions[i].moved = false, true
				}
			}
		case overflow:
		case endCall:
			w.ended++
		default:
			own = o
		}
	}
	return own
}

// steps returns what can happen now.
func (w *world) steps() (list []step) {
	can := func(ok bool, name string, do func(w *world) string) {
		if ok {
			list = append(list, step{name, do})
		}
	}
	for i, c := range w.calls {
		can(!c.posted && (!w.batch || i == 0), fmt.Sprint("post ", i), func(w *world) string { return w.post(i) })
		can(c.posted && !c.read, fmt.Sprint("read ", i), func(w *world) string {
			c := &w.calls[i]
			c.read = true
			_, drops := w.apply(requestRead{callID(i), 0}).(dropped)
			if drops != c.early {
				return "a cancel that came first was lost, or one was made up"
			}
			c.over = drops
			return ""
		})
		can(!c.cancelled && !c.early && !w.modern, fmt.Sprint("cancel ", i), func(w *world) string {
			c := &w.calls[i]
			if c.read && !c.over {
				c.cancelled, c.pending = true, true
				return ""
			}
			w.apply(cancelRead{callID(i), "enough", 0})
			c.early = true
			if c.read && len(w.wire.early) > 0 && w.wire.early[len(w.wire.early)-1].id == callID(i) {
				return "a late cancel is remembered"
			}
			return ""
		})
		can(w.leaves && c.posted && w.conns[c.stream].open && !w.conns[c.stream].deaf &&
			(c.cancelled || c.early || c.answers > 0 || w.modern), fmt.Sprint("leave ", c.stream), func(w *world) string {
			w.conns[c.stream].deaf = true
			return ""
		})
		can(c.pending && c.cancelled, fmt.Sprint("cancelled ", i), func(w *world) string {
			w.calls[i].pending = false
			w.apply(callCancelled{callID(i), "enough"})
			for _, q := range w.wire.asked {
				if q.of == callID(i) && !q.parted {
					return "a cancelled call keeps a question"
				}
			}
			return ""
		})
		running := c.read && !c.over && !c.returned
		asked := slices.ContainsFunc(w.questions, func(q worldQuestion) bool { return q.of == i && !q.moved })
		can(running && !asked && i < w.ask && len(w.questions) <= w.ask, fmt.Sprint("ask ", i),
			func(w *world) string { return w.asks(i) })
		for n, q := range w.questions {
			can(running && q.moved && !q.withdrawn && q.of != i && len(w.questions) < 4, fmt.Sprint("move ", n, " to ", i),
				func(w *world) string {
					w.questions[n].withdrawn = true // once
					return w.asks(i)
				})
		}
		can(running && w.modern && !w.noted, fmt.Sprint("note ", i), func(w *world) string {
			w.noted = true
			w.apply(noticeReady{callID(i), []byte("N")})
			return ""
		})
		can(running, fmt.Sprint("return ", i), func(w *world) string {
			w.calls[i].returned = true
			w.apply(handlerReturned{id: callID(i)})
			return ""
		})
		can(running, fmt.Sprint("withdraw and return ", i), func(w *world) string {
			w.calls[i].returned = true
			e := handlerReturned{id: callID(i)}
			for n := range w.questions {
				if q := &w.questions[n]; q.of == i && q.open {
					q.open, q.withdrawn, q.first = false, true, true
					e.ended = append(e.ended, questionWithdrawn{questionID(n), "found"})
				}
			}
			w.apply(e)
			for _, q := range e.ended {
				w.apply(questionOver{q.id})
			}
			return ""
		})
		can(c.returned && !c.over && !c.cancelled, fmt.Sprint("answer ", i), func(w *world) string {
			w.calls[i].over, w.calls[i].pending = true, true
			return ""
		})
		can(c.pending && !c.cancelled, fmt.Sprint("send ", i), func(w *world) string {
			w.calls[i].pending = false
			w.apply(answerReady{callID(i), []byte(fmt.Sprint("A", i))})
			return ""
		})
	}
	for n, q := range w.questions {
		can(q.open, fmt.Sprint("withdraw ", n), func(w *world) string {
			q := &w.questions[n]
			q.open, q.withdrawn, q.first = false, true, !w.calls[q.of].returned
			w.apply(questionWithdrawn{questionID(n), "found"})
			w.apply(questionOver{questionID(n)})
			return ""
		})
		can(q.shown && q.open, fmt.Sprint("answer question ", n), func(w *world) string {
			w.questions[n].shown, w.questions[n].open = false, false
			w.apply(questionOver{questionID(n)})
			return ""
		})
	}
	can(w.less > 0 && len(w.wire.kept) > 0, "keep less", func(w *world) string { return w.keepLess() })
	for _, n := range slices.Sorted(maps.Keys(w.conns)) {
		conn := *w.conns[n]
		can(conn.open, fmt.Sprint("write ", n), func(w *world) string { return w.write(n, "") })
		can(conn.deaf && conn.open, fmt.Sprint("see that it left ", n), func(w *world) string {
			w.conns[n].open, w.conns[n].seen = false, true
			w.gone(n)
			w.apply(readerLeft{streamOf(n), conn.reader, false, false})
			return ""
		})
		can(conn.deaf && conn.finished && !conn.seen && !w.modern, fmt.Sprint("see behind the end that it left ", n),
			func(w *world) string {
				w.conns[n].seen = true
				w.apply(streamLeft{n})
				return ""
			})
		can(conn.open && w.breaks > 0, fmt.Sprint("break ", n), func(w *world) string { return w.cut(n, false) })
		can(conn.open && w.breaks > 0, fmt.Sprint("write and break ", n), func(w *world) string { return w.write(n, "cut") })
		can(conn.open && w.breaks > 0, fmt.Sprint("write, lose and break ", n), func(w *world) string {
			return w.write(n, "lost")
		})
		how := "come back to " // only some clients come back to a stream that owes them no answer
		swaps := streamOf(n) == 1 && (n == second || w.conns[second] != nil && w.conns[second].open)
		if streamOf(n) != 1 && !slices.ContainsFunc(w.calls, func(c worldCall) bool {
			return c.stream == n && c.answers == 0 && !c.cancelled
		}) {
			how = "come back, although nothing is owed, to "
		}
		if swaps {
			how = "break in, to " // since only some clients do
		}
		mayCome := !conn.open && !conn.finished && !conn.deaf && !w.modern && (!swaps || w.swaps > 0)
		can(mayCome, fmt.Sprint(how, n), func(w *world) string {
			conn := w.conns[n]
			if swaps {
				w.swaps--
			}
			e := readerCame{streamOf(n), conn.after, conn.follower}
			if streamOf(n) == 1 && conn.after == 0 { // no event has come, so it knows no id
				e = readerCame{}
			}
			f, follows := w.apply(e).(follow)
			if !follows {
				conn.finished = true // it is all over
				return ""
			}
			conn.open, conn.reader, conn.follower = true, f.reader, f.follower
			return ""
		})
	}
	return list
}

func (w *world) post(i int) string {
	ids := []jsonrpc.ID{callID(i)}
	if w.batch {
		ids = nil
		for n := range w.calls {
			ids = append(ids, callID(n))
		}
	}
	o := w.apply(postRead{ids}).(opened)
	for n := range w.calls {
		if n == i || w.batch {
			w.calls[n].posted, w.calls[n].stream = true, o.stream
		}
	}
	w.conns[o.stream] = &worldConn{open: true, reader: o.reader}
	return ""
}

func (w *world) asks(i int) string {
	n := len(w.questions)
	q := worldQuestion{of: i, open: true}
	if w.apply(questionReady{questionID(n), callID(i), []byte(fmt.Sprint("Q", n))}) == (refused{}) {
		q.open, q.moved = false, true
	}
	w.questions = append(w.questions, q)
	return ""
}

// keepLess has the wire drop all that it may.
func (w *world) keepLess() string {
	w.less--
	for _, e := range w.wire.kept {
		for q := range w.questions {
			if string(e.data) == fmt.Sprint("Q", q) || withdraws(string(e.data), q) {
				w.questions[q].lost = true
			}
		}
	}
	w.apply(keepLess{0})
	if _, kept := w.wire.holds(); kept > 0 {
		return "what may be dropped is kept"
	}
	return ""
}

// miscounted reports whether the wire holds something else than it says.
func (w *world) miscounted() bool {
	waiting, kept, number := 0, 0, 0
	for _, st := range w.wire.streams {
		for _, e := range st.events {
			if e.kept {
				kept += len(e.data)
				number++
			} else {
				waiting += len(e.data)
			}
		}
	}
	w1, k1 := w.wire.holds()
	return waiting != w1 || kept != k1 || number != len(w.wire.kept)
}

// cut breaks a connection.
func (w *world) cut(n int, whileWriting bool) string {
	conn := w.conns[n]
	conn.open, conn.broke = false, true
	w.breaks--
	w.saw = w.saw || w.modern && whileWriting
	w.gone(n)
	w.apply(readerLeft{streamOf(n), conn.reader, whileWriting, false})
	return ""
}

// gone notes that a connection is gone, as the server sees it.
func (w *world) gone(n int) {
	if st := w.wire.streams[n]; w.modern {
		w.saw = w.saw || !st.over || st.written < st.end()
	}
}

// write lets the writer of a stream go on. lost: the client does not get what is written, since its connection breaks;
// "cut" if the server sees that.
func (w *world) write(n int, lost string) string {
	conn := w.conns[n]
	switch o := w.apply(writerReady{streamOf(n), conn.reader}).(type) {
	case write:
		if lost != "" {
			for q := range w.questions {
				// What is withdrawn on the common stream is withdrawn once more for the client that comes back to it.
				if string(o.data) == fmt.Sprint("Q", q) || withdraws(string(o.data), q) && streamOf(n) != 1 {
					w.questions[q].lost = true
				}
			}
			return w.cut(n, lost == "cut")
		}
		if conn.deaf {
			for q := range w.questions {
				w.questions[q].lost = w.questions[q].lost || string(o.data) == fmt.Sprint("Q", q)
			}
			return ""
		}
		conn.after = o.number
		return w.receive(n, string(o.data))
	case finish:
		conn.open, conn.finished = false, streamOf(n) != 1 // another reader has come to the common stream
		w.apply(readerLeft{streamOf(n), conn.reader, false, true})
	}
	return ""
}

// receive is the client: it says what is wrong with what it gets.
func (w *world) receive(n int, message string) string {
	var i int
	if _, err := fmt.Sscanf(message, "A%d", &i); err == nil {
		c := &w.calls[i]
		switch c.answers++; {
		case c.answers > 1:
			return "answered twice"
		case c.cancelled || c.early && c.stream != 0 && !c.read:
			return "a cancelled call was answered"
		case c.stream != n:
			return "an answer on another stream"
		}
		for _, q := range w.questions {
			if q.of == i && q.first && q.shown && q.on == n {
				return "the answer overtook a withdrawal"
			}
		}
		return ""
	}
	if _, err := fmt.Sscanf(message, "Q%d", &i); err == nil {
		q := &w.questions[i]
		if q.gone || q.got {
			return "a question came after its end"
		}
		q.got, q.shown, q.on = true, true, n
		return ""
	}
	for i := range w.questions {
		if withdraws(message, i) {
			q := &w.questions[i]
			if !q.got && !q.lost {
				return "a withdrawal came before its question"
			}
			// What is withdrawn on the common stream is withdrawn once more for each reader that begins.
			if q.gone && (q.again || q.goneOn == n) && w.conns[second] == nil {
				return "withdrawn twice"
			}
			if q.got && !q.gone && n != q.on && w.conns[q.on].finished && !w.conns[q.on].broke && !w.conns[q.on].deaf {
				return "a withdrawal on another stream than its question"
			}
			if q.again = q.gone; !q.again {
				q.goneOn = n
			}
			q.gone, q.shown = true, false
			return ""
		}
	}
	if message == "N" {
		return ""
	}
	return "what is " + message
}

func withdraws(message string, question int) bool {
	return strings.Contains(message, fmt.Sprintf(`"requestId":%d,`, question))
}

// rest says what is wrong in a world in which nothing happens any more, unless a connection breaks.
func (w *world) rest() string {
	for i, c := range w.calls {
		if (c.over || c.cancelled) && w.wire.calls[callID(i)] != nil {
			return fmt.Sprint("call ", i, " is left")
		}
		if c.posted && c.read && !c.cancelled && !c.early && c.over && c.answers != 1 && w.conns[c.stream].open {
			return fmt.Sprint("call ", i, " was not answered")
		}
	}
	if want := map[bool]int{true: 1}[w.modern && w.saw]; w.ended != want {
		return fmt.Sprintf("the call was ended %d times, want %d", w.ended, want)
	}
	for n, st := range w.wire.streams {
		if st.over && st.asked == 0 && w.conns[n].open {
			return fmt.Sprint("stream ", n, " does not end")
		}
	}
	for i, q := range w.questions {
		if q.shown && !q.open && !q.lost && w.get {
			return fmt.Sprint("question ", i, " stays open at the client")
		}
	}
	return ""
}

// explore goes through all states of a world, breadth first, and returns their number.
func explore(t *testing.T, first *world) int {
	type node struct {
		w    *world
		from *node
		name string
	}
	seen := map[string]struct{}{first.key(): {}}
	queue := []*node{{w: first}}
	path := func(n *node, last string) string {
		names := []string{last}
		for ; n.from != nil; n = n.from {
			names = append(names, n.name)
		}
		slices.Reverse(names)
		return strings.Join(names, "\n  ")
	}
	for len(queue) > 0 {
		n := queue[0]
		queue[0], queue = nil, queue[1:]
		moved := false
		for _, s := range n.w.steps() {
			w := n.w.clone()
			wrong := s.do(w)
			if wrong == "" && w.miscounted() {
				wrong = "the wire holds something else than it says"
			}
			if wrong != "" {
				t.Fatalf("%s, after\n  %s", wrong, path(n, s.name))
			}
			key := w.key()
			if _, known := seen[key]; !known {
				seen[key] = struct{}{}
				queue = append(queue, &node{w, n, s.name})
			}
			moved = moved || !strings.Contains(s.name, "break") && !strings.Contains(s.name, "although") &&
				s.name != "keep less" && key != n.w.key()
		}
		if !moved {
			if wrong := n.w.rest(); wrong != "" {
				t.Fatalf("%s, after\n  %s", wrong, path(n, ""))
			}
		}
		n.w = nil // only the way is still of use
	}
	return len(seen)
}

// smallWorld is a world with some calls; the server asks in the course of the first of them.
type smallWorld struct {
	name                     string
	calls, ask, breaks, less int
	get, batch, leaves       bool
	modern                   bool
	swaps                    int
}

func exploreAll(t *testing.T, worlds []smallWorld) {
	for _, c := range worlds {
		t.Run(c.name, func(t *testing.T) {
			rules := wireRules{keepEvents: 100, keepBytes: 1000, queue: 1000, early: 4}
			if c.modern {
				rules = wireRules{modern: true, queue: 1000}
			}
			w := &world{wire: newWire(rules), breaks: c.breaks, less: c.less, calls: make([]worldCall, c.calls),
				conns: map[int]*worldConn{}, batch: c.batch, get: c.get, ask: c.ask, leaves: c.leaves, modern: c.modern}
			if !c.modern {
				w.conns[1] = &worldConn{finished: !c.get}
			}
			if w.swaps = c.swaps; c.swaps > 0 {
				w.conns[second] = &worldConn{}
				f := w.apply(readerCame{}).(follow) // the first one has an event, so it comes back with its id
				w.apply(noticeReady{data: []byte("N")})
				w.apply(writerReady{1, f.reader})
				*w.conns[1] = worldConn{open: true, reader: f.reader, follower: f.follower, after: 1}
			}
			t.Logf("%d states", explore(t, w))
		})
	}
}

// TestWireInAllOrders_amount goes through all orders of what can happen around a wire. What is wrong is told with the
// shortest way that leads there.
func TestWireInAllOrders_amount(t *testing.T) {
	exploreAll(t, []smallWorld{
		{"one call", 1, 1, 2, 0, false, false, false, false, 0},
		{"one call and a GET", 1, 1, 2, 0, true, false, false, false, 0},
		{"one call and a GET, of a client that leaves", 1, 1, 1, 0, true, false, true, false, 0},
		{"two calls", 2, 1, 0, 0, false, false, false, false, 0},
		{"two calls in a batch", 2, 1, 0, 0, false, true, false, false, 0},
		{"one call, of which less is kept", 1, 1, 2, 2, false, false, false, false, 0},
		{"one call and a GET, of which less is kept", 1, 1, 1, 2, true, false, false, false, 0},
		{"one call and two GETs", 1, 1, 1, 0, true, false, false, false, 2},
		{"a POST of 2026-07-28", 1, 0, 1, 0, false, false, true, true, 0},
	})
}

// TestWireInAllOrders_nightly does the same in larger worlds.
func TestWireInAllOrders_nightly(t *testing.T) {
	exploreAll(t, []smallWorld{
		{"two calls and a GET", 2, 1, 0, 0, true, false, false, false, 0},
		{"two calls, of which a connection breaks", 2, 1, 1, 0, false, false, false, false, 0},
		{"two calls and a GET, of a client that leaves", 2, 1, 0, 0, true, false, true, false, 0},
		{"two calls that both ask", 2, 2, 0, 0, false, false, false, false, 0},
		{"one call and two GETs, whose connections break", 1, 1, 3, 0, true, false, false, false, 4},
	})
}
