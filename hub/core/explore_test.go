package core

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"reflect"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

// The explorer goes through all orders of what can happen in a small world, without a limit of depth, until nothing
// new comes: on the state itself, not on a model of it. A world plays package hub and everybody outside: the goroutines
// that carry calls, those that wait for an answer, a server, people, timers. Whatever waits is a step of its own, so
// that any other event may come before it. After each step the invariants are checked (invariants_test.go).

// world is one state, with what is outside of it. It is copied for each step.
type world struct {
	rules     *rules
	st        *State
	calls     []call
	questions []question
	cancels   int // how often one may still be asked for
	said      [maxRequests]said
	turnTimer time.Time
	early     [3]bool // a cancel has come for a call with this id, and none was open
	windows   [2]place
	lost      bool // the connection has ended
	heard     bool // and the hub has heard of it
	drained   bool
	progress  int
	gone      bool // the client of the first call
	removed   bool // the server
	following int  // what follows at once is being applied
	history
}

// rules say what can happen in a world.
type rules struct {
	name      string
	calls     int
	questions int
	cancels   int
	among     bool // a question names no call
	approval  bool
	client    bool // the client of the call is asked, too
	windows   int  // how many come and go; with 0, one stays
	compares  bool // answers are compared first
	tasks     bool
	launch    bool // the last question is the hub's own, about the server
	starts    bool // the last call is the start of the server
	owners    bool // calls are owned by the first window
	drains    bool
	turns     bool // calls are of different clients, and a question may be of either
	taken     bool // the calls take turns already
	rounds    bool // a question is asked in a round of its call, and is no request of its own
	idsReused bool // both calls have the same id
	long      bool // too many states for each change: the long form has it
}

// place is where a window is.
type place int

const (
	away place = iota // it is gone, or never came
	mayComeBack
	attached
)

type callPhase int

const (
	callUnmade callPhase = iota
	callPassing
	callAsking // its approval
	callAgreed
	callRunning
	callOver
)

// maxRequests is more than any world has.
const maxRequests = 8

// said is what the effects have said of a request, by its number.
type said struct {
	state   event.RequestState
	cause   *event.CancelCause // of its cancel
	stopped bool
	ended   bool
	late    bool // its server has answered it after its cancel
	heard   bool // and the windows know
	parent  RequestNumber
	opened  time.Time
	timer   time.Time
}

// call is the goroutine of a request, and what everybody was told of it.
type call struct {
	n       RequestNumber
	phase   callPhase
	stopped bool         // its context has ended
	prompt  PromptNumber // of its approval
	closed  *End
	asked   int
	task    int
	ended   int  // how many terminal events there were
	cancels int  // how many cancels were accepted
	result  bool // the goroutine came back with a result
	missed  bool // a cancel came before the call and had no effect, or none came and it was cancelled
	server  bool // its server has cancelled the task that carried it out
	step    int  // of what it obtains
	waits   bool // for its turn
	beside  bool // it may be sent beside calls of other clients, since it has waited for long
	sent    bool // it has a wire id
	lingers bool // it was cancelled, is over, and the server may go on with it
}

// question is the goroutine that waits for an answer.
type question struct {
	phase   int // 0 not asked, 1 waits, 2 over
	n       RequestNumber
	p       PromptNumber
	left    *Leave // its context has ended
	closed  *End   // it can read how the question closed
	written bool   // the server got an answer
	delayed bool
	opened  int // how often windows were shown it
	hidden  bool
	client  bool // the client can be asked so far as is known
	compare int  // an answer is being compared
	follows bool
}

func explore(t *testing.T, r *rules, seen *coverage) int {
	first := &world{rules: r, st: New("hub"), calls: make([]call, r.calls), questions: make([]question, r.questions),
		cancels: r.cancels, progress: 1}
	if r.turns {
		first.progress = 0
	}
	if r.taken {
		takeTurns(first.st)
	}
	first.attach(0, func(e Event) []Effect { return first.do(t, seen, e) })
	moves := func(w *world) (list []move[*world]) {
		for _, m := range w.moves() {
			list = append(list, move[*world]{m.name, func(w *world) {
				m.run(w, func(e Event) []Effect { return w.do(t, seen, e) })
			}})
		}
		return list
	}
	return inAllOrders(first, moves, func(w *world) {
		if w.check(t); t.Failed() {
			t.Fatalf("in the world %q", r.name)
		}
	})
}

// move is one thing that may happen next in a world.
type move[W any] struct {
	name string
	run  func(w W)
}

// explored is a world: what makes two of them one is their key.
type explored[W any] interface {
	clone() W
	key() string
	came(by string)
}

var (
	_ explored[*world]       = (*world)(nil)
	_ explored[*serverWorld] = (*serverWorld)(nil)
	_ explored[*gateWorld]   = (*gateWorld)(nil)
)

// inAllOrders makes all moves that are possible, one after the other in all orders, until no new world comes. It looks
// at each world with check, and returns how many there are.
func inAllOrders[W explored[W]](first W, moves func(W) []move[W], check func(W)) int {
	known := map[string]bool{first.key(): true}
	queue := []W{first}
	for len(queue) > 0 {
		w := queue[0]
		clear(queue[:1]) // so that it can be freed
		queue = queue[1:]
		for _, m := range moves(w) {
			next := w.clone()
			next.came(m.name)
			m.run(next)
			check(next)
			if key := next.key(); !known[key] {
				known[key] = true
				queue = append(queue, next)
			}
		}
	}
	return len(known)
}

// history is how a world came to be.
type history struct{ trace *steps }

func (h *history) came(by string) { h.trace = &steps{h.trace, by} }

// steps are the moves that led to a world, the last one first: worlds share them.
type steps struct {
	before *steps
	last   string
}

func (s *steps) String() string {
	if s == nil {
		return ""
	}
	return s.before.String() + "\n  " + s.last
}

// takeTurns makes the calls to the server take turns, and leaves nothing else.
func takeTurns(s *State) {
	for i, client := range []string{"m", "n"} {
		s.Apply(start, RequestMade{Server: 1, Prefix: "first", Call: true, Client: client, Answers: allKinds()})
		s.Apply(start, Looked{Request: RequestNumber(i + 1), Up: true})
	}
	s.Apply(start, Asked{Kind: event.PromptSampling, Server: 1, Prefix: "ask", By: 1, OfSome: true,
		Among: []MayAsk{{Request: 1, Client: "m"}, {Request: 2, Client: "n"}}})
	s.Apply(start, CallOver{Request: 1})
	s.Apply(start, CallOver{Request: 2})
}

func refused(effects []Effect) Refusal {
	for _, e := range effects {
		if r, ok := e.(Refused); ok {
			return r.Why
		}
	}
	return 0
}

// see tells the state which questions of a call were withdrawn, as package hub does before it ends or cancels a call.
func (w *world) see(n RequestNumber, do func(Event) []Effect) {
	for _, asked := range w.st.Questions(n) {
		for i := range w.questions {
			q, r := &w.questions[i], w.st.requests[asked]
			if q.n == asked && q.left != nil && r != nil && r.cause == nil {
				do(AskerLeft{Request: asked, Leave: *q.left})
			}
		}
	}
}

func (w *world) giveUp(n RequestNumber, do func(Event) []Effect, cause *event.CancelCause) {
	w.see(n, do)
	do(RequestGivenUp{n, cause})
}

// coverage is which events were applied, and which effects came.
type coverage struct{ kinds map[string]int }

func (c *coverage) add(x any) { c.kinds[reflect.TypeOf(x).Name()]++ }

// do applies an event, plays what follows from the effects, and checks the invariants.
func (w *world) do(t *testing.T, seen *coverage, e Event) []Effect {
	t.Helper()
	seen.add(e)
	at := start
	switch timer := e.(type) {
	case RequestTimer:
		at = w.st.requests[timer.Request].clock.due
	case WindowTimer:
		at = start.Add(7)
	case TurnTimer:
		at = w.st.turns[timer.Server].due
	}
	why, outcome := w.answer(e)
	effects := slices.Clone(w.st.Apply(at, e))
	if wrong := w.answered(e, why, outcome, effects); wrong != "" {
		w.fail(t, wrong)
	}
	for _, effect := range effects {
		seen.add(effect)
		if wrong := w.told(effect); wrong != "" {
			w.fail(t, wrong)
		}
	}
	w.following++
	for _, effect := range effects { // those that another event follows at once
		switch effect := effect.(type) {
		case ClockRanOut:
			w.see(effect.Request, func(e Event) []Effect { return w.do(t, seen, e) })
			w.do(t, seen, RequestGivenUp{effect.Request, &event.CancelCause{Origin: event.OriginTimeout}})
		case PromptRanOut:
			w.do(t, seen, PromptExpired{effect.Prompt, &event.CancelCause{Origin: event.OriginTimeout}})
		}
	}
	w.following--
	if w.following == 0 {
		w.check(t)
	}
	return effects
}

func (w *world) check(t *testing.T) {
	for _, wrong := range []string{w.st.inconsistent(), w.wrong()} {
		if wrong != "" {
			w.fail(t, wrong)
		}
	}
}

func (w *world) fail(t *testing.T, wrong string) {
	t.Helper()
	t.Errorf("%s\nafter:%s", wrong, w.trace)
}

// key is what tells one world from another. Times are left out: all that can happen does not depend on them.
func (w *world) key() string {
	k := make(key, 0, 512)
	k.add(w.cancels, w.progress, w.st.begun, w.st.asked, len(w.st.ended.ids))
	k.say(w.early[0], w.early[1], w.early[2], w.lost, w.heard, w.drained, w.st.draining)
	k.say(w.gone, w.removed, w.st.shows.Has(event.PromptSampling, true))
	k.add(w.windows[0], w.windows[1], len(w.st.goneWindows))
	for _, c := range w.calls {
		k.add(c.n, c.phase, c.prompt, causeOf(c.closed), c.asked, c.step, c.task, c.ended, c.cancels)
		k.say(c.stopped, c.result, c.waits, c.sent, c.lingers, c.beside)
	}
	for _, q := range w.questions {
		k.add(q.phase, q.n, q.p, causeOf(q.closed), q.opened, q.compare)
		k.say(q.left != nil, q.written, q.delayed, q.hidden, q.follows, q.client)
		if q.left != nil {
			k.add(q.left.End.Cause)
			k.say(q.left.Done)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(w.st.requests)) {
		r := w.st.requests[n]
		k.add(n, r.state, r.waits)
		k.say(r.handed, r.task, !r.clock.due.IsZero(), !r.clock.since.IsZero(), r.answer.among, r.late != nil)
		addAll(&k, r.children)
		addAll(&k, r.prompts)
		addAll(&k, r.answer.stopped)
		if r.cause != nil {
			k.add(r.cause.Origin)
		}
	}
	addAll(&k, slices.Sorted(maps.Keys(w.st.unanswered.calls)))
	for _, n := range w.st.Prompts() {
		p := w.st.prompts[n]
		k.add(n, p.request, p.kind, p.by, p.comparing)
		k.say(p.withTools, p.approval, p.among, p.hidden)
		addAll(&k, p.tried)
		addAll(&k, p.about)
		addAll(&k, p.stops)
		addAll(&k, slices.Sorted(maps.Keys(p.candidates)))
	}
	for _, n := range slices.Sorted(maps.Keys(w.st.turns)) {
		t := w.st.turns[n]
		for _, call := range slices.Sorted(maps.Keys(t.of)) {
			of := t.of[call]
			k.add(call, of.phase, len(of.wireID))
			k.say(of.settled, t.sent[of.wireID] == call)
		}
		addAll(&k, t.kept)
		addAll(&k, t.waiting)
		k.say(t.due.IsZero(), t.removed)
		k.add(t.due.Sub(start) / time.Second)
	}
	for _, id := range slices.Sorted(maps.Keys(w.st.early.byID)) {
		k = append(append(k, id...), 0)
	}
	return string(k)
}

// key is built of small numbers, each in one byte.
type key []byte

func (k *key) add(numbers ...any) {
	for _, n := range numbers {
		v := reflect.ValueOf(n)
		if v.CanInt() {
			*k = append(*k, byte(v.Int()))
		} else {
			*k = append(*k, byte(v.Uint()))
		}
	}
}

func (k *key) say(facts ...bool) {
	var bits byte
	for i, f := range facts {
		if f {
			bits |= 1 << i
		}
	}
	*k = append(*k, bits)
}

func addAll[N ~uint64](k *key, numbers []N) {
	*k = append(*k, byte(len(numbers)))
	for _, n := range numbers {
		*k = append(*k, byte(n))
	}
}

func causeOf(e *End) event.PromptCause {
	if e == nil {
		return 0
	}
	return e.Cause
}

func (w *world) clone() *world {
	next := *w
	next.st = w.st.clone()
	next.calls, next.questions = slices.Clone(w.calls), slices.Clone(w.questions)
	return &next
}

func (s *State) clone() *State {
	next := *s
	next.requests, next.prompts = map[RequestNumber]*request{}, map[PromptNumber]*prompt{}
	for n, r := range s.requests {
		c := *r
		c.children, c.prompts = slices.Clone(r.children), slices.Clone(r.prompts)
		c.answer.stopped = slices.Clone(r.answer.stopped)
		if r.gate != nil {
			g := *r.gate
			g.agreed = slices.Clone(g.agreed)
			c.gate = &g
		}
		next.requests[n] = &c
	}
	for n, p := range s.prompts {
		c := *p
		c.about, c.stops, c.candidates = slices.Clone(p.about), slices.Clone(p.stops), maps.Clone(p.candidates)
		c.tried = slices.Clone(p.tried)
		next.prompts[n] = &c
	}
	next.turns = map[ServerNumber]*turns{}
	for n, t := range s.turns {
		c := *t
		c.of, c.clients, c.sent = maps.Clone(t.of), maps.Clone(t.clients), maps.Clone(t.sent)
		c.kept, c.waiting = slices.Clone(t.kept), slices.Clone(t.waiting)
		next.turns[n] = &c
	}
	next.servers, next.eager = map[ServerNumber]*server{}, slices.Clone(s.eager)
	for n, sv := range s.servers {
		c := *sv
		c.waiters, c.closing.after = slices.Clone(sv.waiters), slices.Clone(sv.closing.after)
		c.launch.entries = slices.Clone(sv.launch.entries)
		next.servers[n] = &c
	}
	next.unanswered.calls, next.unanswered.byID = maps.Clone(s.unanswered.calls), maps.Clone(s.unanswered.byID)
	next.unanswered.order = slices.Clone(s.unanswered.order)
	next.gone.at, next.gone.order = maps.Clone(s.gone.at), slices.Clone(s.gone.order)
	next.windows, next.goneWindows = maps.Clone(s.windows), slices.Clone(s.goneWindows)
	next.byID = maps.Clone(s.byID)
	next.ended.known, next.ended.ids = maps.Clone(s.ended.known), slices.Clone(s.ended.ids)
	next.early.byID, next.early.order = maps.Clone(s.early.byID), slices.Clone(s.early.order)
	next.effects = nil
	return &next
}

// TestInAllOrders_long explores each world, and prints how many states it has. Together they make every event and every
// effect occur.
func TestInAllOrders_long(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(300)) // a third of the time was for garbage
	seen := &coverage{kinds: map[string]int{}}
	total := 0
	for _, r := range []rules{
		{name: "one call with one question", calls: 1, questions: 1, cancels: 2, tasks: true},
		{name: "one call that a person approves, windows that come and go", calls: 1, cancels: 2, approval: true,
			windows: 1, owners: true},
		{name: "two windows and an approval", calls: 1, approval: true, windows: 2},
		{name: "a client and windows are asked", calls: 1, questions: 1, cancels: 1, client: true, windows: 1,
			compares: true},
		{name: "a question in a round", calls: 1, questions: 1, cancels: 1, rounds: true, windows: 1},
		{name: "shutdown", calls: 1, questions: 1, cancels: 1, approval: true, drains: true},
		{name: "two calls and a question of one of them", calls: 2, questions: 1, among: true},
		{name: "a server is asked about while it starts", calls: 2, questions: 1, launch: true, starts: true},
		{name: "calls of two clients, which take turns", calls: 2, cancels: 2, turns: true, taken: true},
		{name: "a question that may be of two clients", calls: 2, questions: 1, turns: true},
		{name: "three calls of two clients, which take turns", calls: 3, cancels: 1, turns: true, taken: true, long: true},
		{name: "a question that may be of two clients, cancelled", calls: 2, questions: 1, cancels: 1, turns: true,
			long: true},
		{name: "one call with two questions", calls: 1, questions: 2, cancels: 1, long: true},
		{name: "two calls and a question of one of them, cancelled", calls: 2, questions: 1, cancels: 1, among: true,
			long: true},
		{name: "two calls with one id", calls: 2, questions: 1, cancels: 3, idsReused: true, long: true},
		{name: "a server is asked about while it starts, cancelled, windows that come and go", calls: 2, questions: 1,
			cancels: 2, launch: true, starts: true, windows: 1, long: true},
		{name: "a question of a server and one about it", calls: 1, questions: 2, cancels: 1, launch: true, long: true},
	} {
		if r.long && testing.Short() {
			continue
		}
		n := explore(t, &r, seen)
		t.Logf("%8d states: %s", n, r.name)
		total += n
	}
	for _, r := range []serverRules{
		{name: "a server that two want, which fails, dies and is restarted", people: 2, fails: true, falls: true,
			stops: true},
		{name: "an eager server that is switched off and on", entry: Entry{Eager: true}, people: 1, fails: true, falls: true,
			switches: true, hopeless: true},
		{name: "an eager server about whose launch people are asked", entry: Entry{Eager: true}, people: 1, asks: true,
			unasked: true, falls: true},
		{name: "a server of a folder, and of the user", people: 1, asks: true, behind: true, stops: true},
		{name: "a server of a folder whose program and config change", people: 1, asks: true, rewrites: 1, changes: 1,
			long: true},
		{name: "a server whose entry changes", people: 1, fails: true, falls: true, changes: 1, switches: true},
		{name: "an eager server that is removed and replaced", entry: Entry{Eager: true}, people: 1, falls: true, fails: true,
			removed: true, outdated: true},
		{name: "a server with a call, which is idle, and is connected anew", entry: Entry{IdleStop: 10 * time.Minute},
			calls: true, idles: true, stale: true, stops: true},
		{name: "a server that one wants, which is connected anew", people: 1, stale: true, falls: true, outdated: true},
		{name: "a call of a server that fails, and shutdown", calls: true, fails: true, falls: true, drains: true},
		{name: "an eager server about whose launch people are asked, removed and replaced", entry: Entry{Eager: true},
			people: 1, asks: true, unasked: true, removed: true, long: true},
		{name: "a server of a folder, and of the user, which falls, whose program and config change", people: 1, asks: true,
			behind: true, rewrites: 1, changes: 1, falls: true, drains: true, long: true},
		{name: "a server of a folder, and of the user, which falls, is removed and replaced", people: 1, asks: true,
			behind: true, falls: true, removed: true, long: true},
		{name: "a server whose entry changes twice, which two want", people: 2, fails: true, falls: true, changes: 2,
			switches: true, long: true},
		{name: "a server that is removed and replaced", people: 2, falls: true, removed: true, long: true},
		{name: "a server with a call, which another one wants, and is idle", entry: Entry{IdleStop: 10 * time.Minute},
			people: 1, calls: true, idles: true, stale: true, stops: true, long: true},
		{name: "a call of a server that another one wants, that fails, and shutdown", people: 1, calls: true, fails: true,
			falls: true, drains: true, long: true},
	} {
		if r.long && testing.Short() {
			continue
		}
		n := exploreServers(t, &r, seen)
		t.Logf("%8d states: %s", n, r.name)
		total += n
	}
	for _, r := range gateWorlds {
		if r.long && testing.Short() {
			continue
		}
		n := exploreGate(t, &r, seen)
		t.Logf("%8d states: %s", n, r.name)
		total += n
	}
	t.Logf("%8d states in all", total)
	for _, kind := range append(declared(t, "event.go", "event"), declared(t, "effect.go", "effect")...) {
		t.Logf("%8d %s", seen.kinds[kind], kind)
		if seen.kinds[kind] == 0 {
			t.Errorf("%s does not occur in any world", kind)
		}
	}
}

// declared returns the types of a file that have the method.
func declared(t *testing.T, file, method string) (names []string) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range parsed.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == method {
			names = append(names, f.Recv.List[0].Type.(*ast.Ident).Name)
		}
	}
	return names
}
