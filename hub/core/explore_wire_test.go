package core

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"reflect"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// Here the core meets the wire: the tracker's table decides what may still be written about each id, and over HTTP the
// state of the exchange whether and when a cancel is posted. Both are the real ones. The world plays the goroutines
// between them as they stand in hub (outgoing.go, ask.go, apply.go), hub/mcp (call.go, incoming.go), hub/jsonrpc
// (call.go, read.go, inbox.go, peer.go) and hub/transport (exchange.go, exchanges.go): what they do in one critical
// section is one step, and any step of anybody else may come before the next. Two steps are one only if nobody else
// could tell. Only what is in one queue keeps its order: what is to be written to a pipe, what a pipe brings, what
// waits to be delivered. The server is played, too, and the invariants hold for what it reads.

// wireRules say what can happen in such a world.
type wireRules struct {
	name    string
	calls   int
	asks    int
	cancels int  // how often a user cancels, or a caller hangs up
	times   bool // the clocks of the calls run
	notes   int  // how many notifications the server sends
	results int  // how many responses to a call the server sends at most
	unsaid  int  // how often it withdraws a question at most
	dies    bool
	closes  bool // the hub ends the connection
	sameID  bool // all questions have one id, one after the other
	first   bool // the first call opens the session, which may not be cancelled
	http    bool
	swift   bool // calls are sent, and come back, in one step: what is between them is explored in other worlds
	modern  bool // in the modern era a cancel ends the exchange
	pieces  bool // the HTTP client gets the body in pieces, and not as a whole
	shared  bool // the connection of a POST carries others, too
	apart   bool // the server also writes to a stream that belongs to no call
	breaks  bool // streams break, POSTs are refused or sent once more
	long    bool // too many states for each change

	seen map[string]int
}

type messageKind int8

const (
	noMessage messageKind = iota
	callMessage
	cancelMessage
	answerMessage
	resultMessage
	askMessage
	withdrawMessage
	noteMessage
	failedMessage // in place of a response: jsonrpc.CallFailedError
	endMessage    // of the pipe
)

// message is one message, by what it is about: a call, or a question.
type message struct {
	kind   messageKind
	n      int
	source int // the call in whose stream it came, from 1; 0 = that is not known
}

// wireWorld is one state of everybody.
type wireWorld struct {
	rules   *wireRules
	st      *State
	table   wireTable
	calls   []wireCall
	asks    []wireAsk
	out     []message // to be written to the pipe, in order; over HTTP: being posted, in no order
	in      []message // what the server has written to its pipe
	arrived []message // over HTTP: what streams have brought
	reads   message   // what the reader is handling
	stage   int       // of that, and of the end of the connection
	inbox   []message
	handles message // what the goroutine of the inbox has taken
	busy    bool
	cancels int
	notes   int
	dead    bool // the server writes nothing any more
	failed  bool // the outbox is closed
	closing int  // stage of the end of the connection
	carrier int  // stage of the end of the transport over HTTP
	over    bool // it has ended
	heard   bool // and the core knows
	ended   [maxRequests]int
	wrong   string
	history
}

// Phases of the goroutine of a call.
const (
	wireUnmade = iota
	wirePassing
	wireSends      // Session.round begins
	wireRegisters  // Peer.BeginAs
	wirePushes     // its frame, or hands it to the transport
	wireTellsID    // to the core
	wireWaits      // Call.Wait
	wireTakesBack  // Call.cancelWith: the frame
	wireSaysCancel // the route
	wireSettled    // another goroutine has the entry, and ends the wait
	wireLingers    // Session.linger
	wireLeaves     // Session.calls
	wireConcludes
	wireOver
)

type callOutcome int8

const (
	outcomeNone callOutcome = iota
	outcomeResult
	outcomeCancelled
	outcomeFailed
	outcomeClosed
	outcomeUnsent // it was cancelled before it was sent
)

type frameIs int8

const (
	frameNone frameIs = iota
	frameQueued
	frameTaken
	frameDropped
)

// wireCall is the goroutine of a call, what package jsonrpc and mcp keep of it, and what the server knows.
type wireCall struct {
	n       RequestNumber
	phase   int
	stopped bool // its context has ended
	frame   frameIs
	done    bool // the wait is over
	urgent  bool
	queued  bool // its response is in the inbox
	outcome callOutcome
	known   bool // it was given up when it was written
	sent    bool // a cancel was passed to the route
	settled int  // how often the outcome of the cancel was told
	err     error
	onWire  bool // as Session.calls has it
	given   bool
	lingers bool
	matched bool // the table has found the call for a response
	late    bool // a response came after it was given up
	heard   int  // how often the windows were told of that
	cancels int  // accepted
	may     bool // it was said that the server may go on
	notSent bool // a failure that says so

	read      bool // the server has read the call
	responses int
	told      int // cancels that it has read
	ex        wireExchange
}

// Phases of the goroutine that answers a question.
const (
	askUnasked = iota
	askOnWire
	askBegins
	askOpen
	askGrace
	askReplies
	askWrites
	askOver
)

type askContext int8

const (
	alive askContext = iota
	withdrawn
	connectionEnded
)

// wireAsk is a question of the server.
type wireAsk struct {
	phase   int
	n       RequestNumber
	p       PromptNumber
	ctx     askContext
	of      int  // the call that it belongs to, from 1
	some    bool // it belongs to some call
	isOver  bool // its call is over
	closed  *End
	early   bool // its withdrawal was read before it
	taken   bool // the table has taken it because it was withdrawn
	replied bool // and here, because an answer is to be written

	unsaid  int
	answers int
}

// wireTable is the tracker's table. A copy is made by playing the same again, before something else happens to it.
type wireTable struct {
	rules  *wireRules
	played []tableOp
	shared bool // with the world before
	real   *jsonrpc.Table
	calls  [2]*jsonrpc.Tracked
	asks   [2]*jsonrpc.Tracked

	withdrawn int // the question that was taken last
}

type tableOp struct {
	what byte // see play
	n    int
}

func newWireTable(r *wireRules) wireTable {
	t := wireTable{rules: r, real: &jsonrpc.Table{Overtaken: r.http}}
	for i := range t.calls {
		t.calls[i] = &jsonrpc.Tracked{ID: jsonrpc.IntID(int64(i + 1)), Method: "tools/call"}
		id := jsonrpc.IntID(int64(i + 1))
		if r.sameID {
			id = jsonrpc.IntID(1)
		}
		t.asks[i] = &jsonrpc.Tracked{ID: id, Method: "sampling/createMessage"}
	}
	if r.first {
		t.calls[0].Method = "initialize"
	}
	return t
}

var (
	errWireClosed    = &jsonrpc.ClosedError{}
	errWireWithdrawn = &jsonrpc.WithdrawnError{}
)

// play tells the table what has happened. ok says that it has taken the entry, or opened it, and late that a response
// came after its call was cancelled. A withdrawal of question n may take another one with its id.
func (t *wireTable) play(what byte, n int) (ok, late bool) {
	if t.shared {
		before := t.played
		*t = newWireTable(t.rules)
		for _, op := range before {
			t.play(op.what, op.n)
		}
	}
	t.played = append(t.played[:len(t.played):len(t.played)], tableOp{what, n})
	switch what {
	case 'c': // a call begins
		_, err := t.real.Open(jsonrpc.Outgoing, t.calls[n])
		return err == nil, false
	case 'g':
		ok, _ = t.real.GivenUp(t.calls[n], nil)
	case 'b': // its frame was not queued
		ok, _ = t.real.TakeEntry(jsonrpc.Outgoing, t.calls[n])
	case 'r':
		e, _, late := t.real.Answered([]byte(t.calls[n].ID.String()))
		return e == t.calls[n], late
	case 'q': // a question begins
		_, err := t.real.Open(jsonrpc.Incoming, t.asks[n])
		return err == nil, false
	case 'a':
		ok, _ = t.real.TakeEntry(jsonrpc.Incoming, t.asks[n])
	case 'w':
		e := t.real.Withdrawn(t.asks[n].ID, errWireWithdrawn)
		if ok = e != nil; ok {
			t.withdrawn = slices.Index(t.asks[:], e)
		}
	case 'e':
		t.real.Ended(errWireClosed)
	}
	return ok, false
}

func (w *wireWorld) clone() *wireWorld {
	next := *w
	next.st, next.table.shared = w.st.clone(), true
	next.calls, next.asks = slices.Clone(w.calls), slices.Clone(w.asks)
	next.out, next.arrived, next.inbox = slices.Clone(w.out), slices.Clone(w.arrived), slices.Clone(w.inbox)
	next.in = slices.Clone(w.in)
	return &next
}

// key is all that is in the world, but for how it came to be.
func (w *wireWorld) key() string {
	room = dump(room[:0], reflect.ValueOf(w).Elem())
	sum := sha256.Sum256(room)
	return string(sum[:16])
}

// room is used by each dump.
var room []byte

// undumped are fields that make no difference.
var undumped = map[reflect.Type][]string{
	reflect.TypeFor[State]():     {"effects", "now"},
	reflect.TypeFor[wireWorld](): {"rules", "history"},
	reflect.TypeFor[wireTable](): {"rules", "played", "shared", "withdrawn"},
}

// dumped are the fields of a type that make a difference.
var dumped = map[reflect.Type][]int{}

func fieldsOf(t reflect.Type) []int {
	fields, known := dumped[t]
	if !known {
		for i := range t.NumField() {
			if !slices.Contains(undumped[t], t.Field(i).Name) {
				fields = append(fields, i)
			}
		}
		dumped[t] = fields
	}
	return fields
}

// dump appends a value with all that it holds, so that no field can be forgotten.
func dump(b []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(b, 1)
		}
		return append(b, 0)
	case reflect.String:
		return append(append(b, byte(v.Len())), v.String()...)
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return append(b, 0)
		}
		return dump(append(b, 1), v.Elem())
	case reflect.Func:
		return append(b, 2)
	case reflect.Slice, reflect.Array:
		b = append(b, byte(v.Len()))
		for i := range v.Len() {
			b = dump(b, v.Index(i))
		}
		return b
	case reflect.Map:
		if v.Len() == 0 {
			return append(b, 0)
		}
		entries := make([]string, 0, v.Len())
		for each := v.MapRange(); each.Next(); {
			entries = append(entries, string(dump(dump(nil, each.Key()), each.Value())))
		}
		slices.Sort(entries)
		b = append(b, byte(len(entries)))
		for _, e := range entries {
			b = append(b, e...)
		}
		return b
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return dump(dump(b, v.Field(0)), v.Field(1))
		}
		for _, i := range fieldsOf(v.Type()) {
			b = dump(b, v.Field(i))
		}
		return b
	}
	if v.CanInt() {
		return binary.AppendVarint(b, v.Int())
	}
	return binary.AppendUvarint(b, v.Uint())
}

// apply applies an event, and plays what follows at once.
func (w *wireWorld) apply(e Event) (effects []Effect) {
	at := start
	if timer, ok := e.(RequestTimer); ok {
		at = w.st.requests[timer.Request].clock.due
	}
	effects = slices.Clone(w.st.Apply(at, e))
	for _, effect := range effects {
		switch e := effect.(type) {
		case CancelAccepted:
			if c := w.call(e.Request); c != nil {
				if c.cancels++; c.cancels > 1 {
					w.breaks("request %d is cancelled twice", e.Request)
				}
			}
		case Stopped:
			if c := w.call(e.Request); c != nil {
				c.stopped = true
			}
		case RequestEnded:
			if w.ended[e.Request]++; w.ended[e.Request] > 1 {
				w.breaks("request %d has %d terminal events", e.Request, w.ended[e.Request])
			}
			w.endsAs(&e)
			if c := w.call(e.Request); e.Late != nil {
				c.heard++
			}
			for i, a := range w.asks {
				if a.n == e.Request && a.ctx != alive && e.State == event.StateDone {
					w.breaks("question %d ends as answered, and its context had ended before", i)
				}
			}
		case RequestAnsweredLate:
			if c := w.call(e.Request); w.ended[e.Request] == 1 {
				c.heard++
				w.saw("windows hear that a server has answered late")
			} else {
				w.breaks("windows hear of a late answer to call %d, which is open", e.Request)
			}
		case PromptClosed:
			for i := range w.asks {
				if a := &w.asks[i]; a.p == e.Prompt {
					if a.closed != nil {
						w.breaks("question %d closes twice", i)
					}
					if a.ctx != alive && e.End.Cause == event.CauseParent {
						w.breaks("question %d closes with its call, and its context had ended before", i)
					}
					end := e.End
					a.closed = &end
				}
			}
		}
	}
	for _, effect := range effects {
		switch e := effect.(type) {
		case ClockRanOut:
			w.see(e.Request)
			w.apply(RequestGivenUp{e.Request, &event.CancelCause{Origin: event.OriginTimeout}})
		case PromptRanOut:
			w.apply(PromptExpired{e.Prompt, &event.CancelCause{Origin: event.OriginTimeout}})
		}
	}
	return effects
}

// endsAs compares how a call ends in the core with how it came back from the wire.
func (w *wireWorld) endsAs(e *RequestEnded) {
	c := w.call(e.Request)
	if c == nil || w.rules.first {
		return
	}
	switch {
	case c.phase != wireOver:
		w.breaks("request %d ends, and its goroutine has not come back", e.Request)
	case (c.outcome == outcomeResult) != (e.State == event.StateDone):
		w.breaks("request %d ends as %s, and has a result: %v", e.Request, e.State, c.outcome == outcomeResult)
	case c.outcome != outcomeResult && (c.cancels > 0) != (e.State == event.StateCancelled):
		w.breaks("request %d ends as %s, and %d cancels were accepted", e.Request, e.State, c.cancels)
	}
}

// see tells the core which questions of a call were withdrawn, as state.seeWithdrawals does.
func (w *wireWorld) see(n RequestNumber) {
	for _, asked := range w.st.Questions(n) {
		for i := range w.asks {
			if r := w.st.requests[asked]; w.asks[i].n == asked && w.asks[i].ctx != alive && r != nil && r.cause == nil {
				w.apply(AskerLeft{Request: asked, Leave: w.asks[i].leave()})
			}
		}
	}
}

// leave is leaveOf of package hub.
func (a *wireAsk) leave() Leave {
	if a.ctx == connectionEnded {
		return Leave{End: End{Cause: event.CauseServerGone, Origin: event.OriginTransport, Reason: ConnectionLost},
			Ends: &event.CancelCause{Origin: event.OriginTransport, Reason: ConnectionLost}}
	}
	return Leave{End: End{Cause: event.CauseWithdrawn, Origin: event.OriginServer, Reason: "found it"},
		Ends: &event.CancelCause{Origin: event.OriginServer, Reason: "found it"}}
}

func (w *wireWorld) call(n RequestNumber) *wireCall {
	for i := range w.calls {
		if w.calls[i].n == n && n != 0 {
			return &w.calls[i]
		}
	}
	return nil
}

func (w *wireWorld) breaks(format string, of ...any) {
	if w.wrong == "" {
		w.wrong = fmt.Sprintf(format, of...)
	}
}

// saw counts what is worth seeing.
func (w *wireWorld) saw(what string) { w.rules.seen[what]++ }

// wireSights are all that must be seen.
var wireSights = []string{"a request is taken back", "a request that may not be cancelled is abandoned",
	"a cancel is written", "a cancel is posted", "a cancel is posted before the headers of its call have come",
	"a cancel is delivered", "a cancel is not needed", "a cancel is not delivered",
	"a response is there when its call is given up", "a response is late", "a response is of no call",
	"windows hear that a server has answered late",
	"an answer is delayed, since its call is over", "an answer is not written, since the question was withdrawn",
	"a question is withdrawn that a person has answered", "a withdrawal finds nothing",
	"a withdrawal has overtaken its question", "it is not known whose a question is"}

// check looks at a world after a step.
func (w *wireWorld) check(t *testing.T) {
	if wrong := w.st.inconsistent(); wrong != "" {
		w.breaks("%s", wrong)
	}
	for i := range w.calls {
		w.checkCall(i)
	}
	if w.quiet() {
		w.checkQuiet()
	}
	if w.wrong != "" {
		t.Errorf("%s\nin the world %q, after:%s", w.wrong, w.rules.name, w.trace)
	}
}

func (w *wireWorld) checkCall(i int) {
	c := &w.calls[i]
	switch {
	case c.settled > 1:
		w.breaks("the outcome of the cancel of call %d is told %d times", i, c.settled)
	case c.heard > 1, c.heard > 0 && !c.late:
		w.breaks("windows hear %d times of a late answer to call %d, which has one: %v", c.heard, i, c.late)
	case c.sent && c.matched:
		w.breaks("call %d is cancelled on the wire, and its response was taken", i)
	case c.sent && c.settled > 0 && c.err == nil && !w.rules.modern && c.told == 0:
		w.breaks("the cancel of call %d counts as delivered, and the server has not got it", i)
	case c.sent && c.settled > 0 && c.err == jsonrpc.ErrCancelNotNeeded && c.read && !w.rules.http:
		w.breaks("the cancel of call %d counts as not needed, and the server has the call", i)
	case c.phase == wireOver && c.outcome == outcomeCancelled && !c.may && c.read && !w.rules.http && !w.rules.first:
		w.breaks("it was said that call %d does not go on, and the server has it", i)
	}
	w.checkExchange(i)
}

// quiet reports whether everybody has come to rest.
func (w *wireWorld) quiet() bool {
	for _, c := range w.calls {
		if c.phase != wireUnmade && c.phase != wireOver || !c.ex.rests() {
			return false
		}
	}
	for _, a := range w.asks {
		if a.phase > askOnWire && a.phase != askOver { // one on the wire may have been lost with its stream
			return false
		}
	}
	return w.reads.kind == noMessage && len(w.in)+len(w.out)+len(w.arrived)+len(w.inbox) == 0 && !w.busy &&
		(w.closing == 0 || w.heard && w.over)
}

// checkQuiet looks at a world in which nothing is under way.
func (w *wireWorld) checkQuiet() {
	if len(w.st.requests)+len(w.st.prompts) > 0 {
		w.breaks("nothing is under way, and %d requests and %d prompts are left", len(w.st.requests), len(w.st.prompts))
	}
	if w.table.real.Len() > 0 {
		w.breaks("nothing is under way, and %d requests are left in the table", w.table.real.Len())
	}
	for i, c := range w.calls {
		switch {
		case c.phase == wireOver && w.ended[c.n] != 1:
			w.breaks("call %d has %d terminal events", i, w.ended[c.n])
		case c.late && c.outcome == outcomeCancelled && !w.heard && !w.rules.first && c.heard != 1:
			w.breaks("call %d was cancelled and answered late, and windows hear %d times of it", i, c.heard)
		case c.onWire, c.lingers && c.late:
			w.breaks("call %d is over, and questions are ascribed to it", i)
		case c.sent && c.settled != 1:
			w.breaks("the outcome of the cancel of call %d is told %d times", i, c.settled)
		case c.sent && c.told == 0 && c.read && !w.over && !w.rules.modern && c.err == nil:
			w.breaks("the server has call %d, and never got its cancel", i)
		}
	}
	for i, a := range w.asks {
		switch {
		case a.n != 0 && w.ended[a.n] != 1:
			w.breaks("question %d has %d terminal events", i, w.ended[a.n])
		case a.phase == askOver && !w.over && (a.answers == 1) == a.taken:
			w.breaks("question %d was withdrawn: %v, and has %d answers", i, a.taken, a.answers)
		}
	}
}

// wireWorlds are the worlds in which the core meets the wire.
var wireWorlds = []wireRules{
	{name: "a pipe: one call with one question", calls: 1, asks: 1, cancels: 1, results: 1, unsaid: 1},
	{name: "a pipe: the start of a session", calls: 1, results: 2, first: true, dies: true},
	{name: "a pipe: notifications before the result", calls: 1, cancels: 1, results: 2, notes: 1, times: true},
	{name: "a pipe: a question, and the server ends", calls: 1, asks: 1, results: 1, unsaid: 1, dies: true},
	{name: "a pipe: two questions with one id, and no cancel", calls: 1, asks: 2, unsaid: 1, sameID: true},
	{name: "a pipe: two calls, and a question of one of them, and no cancel", calls: 2, asks: 1, results: 1,
		swift: true},
	{name: "HTTP: a question that is withdrawn", calls: 1, asks: 1, results: 1, unsaid: 1, http: true, apart: true},
	{name: "HTTP: the start of a session", calls: 1, results: 2, first: true, http: true, breaks: true},
	{name: "HTTP: a call in pieces", calls: 1, cancels: 1, results: 1, http: true, pieces: true, breaks: true},
	{name: "HTTP: a call in the modern era", calls: 1, cancels: 1, results: 2, http: true, modern: true, breaks: true},
	{name: "a pipe: one call with one question, doubled and late", calls: 1, asks: 1, cancels: 2, results: 2, unsaid: 2,
		times: true, long: true},
	{name: "a pipe: notifications before the result, and the server ends", calls: 1, cancels: 2, results: 2, notes: 2,
		times: true, dies: true, long: true},
	{name: "a pipe: one call with one question, and the server ends", calls: 1, asks: 1, cancels: 1, results: 1, unsaid: 1,
		dies: true, long: true},
	{name: "a pipe: one call with one question, and the hub closes it", calls: 1, asks: 1, cancels: 1, results: 1,
		unsaid: 1, closes: true, long: true},
	{name: "a pipe: two questions with one id", calls: 1, asks: 2, cancels: 1, results: 1, unsaid: 1, sameID: true,
		long: true},
	{name: "a pipe: two calls, and a question of one of them", calls: 2, asks: 1, cancels: 1, results: 1, unsaid: 1,
		swift: true, long: true},
	{name: "HTTP: one call with one question", calls: 1, asks: 1, cancels: 1, results: 1, unsaid: 1, http: true,
		apart: true, long: true},
	{name: "HTTP: a call in pieces with a question", calls: 1, asks: 1, cancels: 1, results: 1, http: true, pieces: true,
		long: true},
	{name: "HTTP: a call on a shared connection", calls: 1, cancels: 2, results: 2, http: true, shared: true, breaks: true,
		long: true},
	{name: "HTTP: a call, and the hub closes the connection", calls: 1, cancels: 2, results: 1, http: true, closes: true,
		breaks: true, long: true},
	{name: "HTTP: one call with one question, and the hub closes the connection", calls: 1, asks: 1, results: 1,
		http: true, closes: true, long: true},
	{name: "HTTP: two calls, and a question of one of them", calls: 2, asks: 1, results: 1, http: true, swift: true,
		long: true},
}

func exploreWire(t *testing.T, r *wireRules) int {
	first := &wireWorld{rules: r, st: New("hub"), table: newWireTable(r), calls: make([]wireCall, r.calls),
		asks: make([]wireAsk, r.asks), cancels: r.cancels, notes: r.notes}
	for i := range first.calls {
		first.calls[i].ex.state = transport.NewExchangeState(!r.pieces)
	}
	first.apply(WindowShows{"w", allKinds()})
	return inAllOrders(first, func(w *wireWorld) []move[*wireWorld] {
		if t.Failed() {
			return nil
		}
		return w.moves()
	}, func(w *wireWorld) {
		if !t.Failed() {
			w.check(t)
		}
	})
}

// TestWireInAllOrders_long explores each world of the core and the wire, and prints how many states it has.
func TestWireInAllOrders_long(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(300))
	total, seen := 0, map[string]int{}
	for _, r := range wireWorlds {
		r.seen = seen
		if r.long && testing.Short() {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			n := exploreWire(t, &r)
			t.Logf("%8d states: %s", n, r.name)
			total += n
		})
	}
	t.Logf("%8d states in all", total)
	for _, what := range wireSights {
		if t.Logf("%8d times %s", seen[what], what); seen[what] == 0 {
			t.Errorf("in no world %s", what)
		}
	}
}
