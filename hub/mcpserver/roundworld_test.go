package mcpserver

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// roundWorld is a small world around one round: a client that cancels, retries with some answers, or never does; a
// server that asks, withdraws and returns; and the table of parked calls, from which one of them takes a call before
// the round is told. It is explored in all orders of what can happen.
type roundWorld struct {
	round     round
	wire      bool // a request of the client waits for its answer
	cancelled bool // and was cancelled
	room      bool // calls can be parked
	refused   bool // one could not
	inTable   bool
	taken     any   // by whom the call was taken from the table: the event that the round is told next
	shown     []int // in the round that the client has
	had       []int // in the round of the retry that is told
	questions [2]worldRoundQuestion
	gathers   bool
	waits     bool // for a retry
	running   bool // as counted
	stopped   bool
	mustStop  bool
	returned  bool
	retries   int
	late      bool // one request was cancelled when it had its answer
	ended     bool // the session
	faults    []string
}

type worldRoundQuestion struct {
	asked bool
	end   string // "", answered, lost, dropped
}

func (w *roundWorld) clone() *roundWorld {
	c := *w
	c.round.open, c.shown = slices.Clone(w.round.open), slices.Clone(w.shown)
	return &c
}

func (w *roundWorld) key() string {
	c := *w
	c.round.orders, c.faults = nil, nil
	return fmt.Sprintf("%+v", c)
}

func (w *roundWorld) fault(format string, args ...any) {
	w.faults = append(w.faults, fmt.Sprintf(format, args...))
}

// apply carries out what the round orders, as the server does.
func (w *roundWorld) apply(e any) {
	for _, o := range w.round.apply(e) {
		switch o := o.(type) {
		case beginGathering:
			w.gathers = true
		case parkCall:
			if w.inTable {
				w.fault("parked twice")
			}
			if w.inTable = w.room; w.room {
				w.apply(roundParked{})
			} else {
				w.mustStop, w.refused = true, true
				w.apply(roundUnparkable{errors.New("no room")})
			}
		case answerRound:
			w.answered("a round")
			if w.shown = o.questions; len(w.shown) == 0 || w.cancelled {
				w.fault("a round of %v; the request was cancelled: %v", w.shown, w.cancelled)
			}
			for _, n := range w.shown {
				w.isOpen(n, "is in a round")
			}
		case answerOutcome:
			w.answered("the outcome")
			if !w.returned || w.cancelled || w.refused {
				w.fault("the outcome; returned %v, cancelled %v", w.returned, w.cancelled)
			}
		case answerError:
			w.answered("an error")
			if o.why == nil && !w.cancelled || (o.why != nil) != w.refused || !w.returned {
				w.fault("an error: %v; cancelled %v, returned %v", o.why, w.cancelled, w.returned)
			}
		case answerQuestion:
			w.isOpen(o.number, "is answered")
			w.questions[o.number].end = "answered"
			if e, ok := e.(roundRetried); !ok || !slices.Contains(e.answers, o.number) || !slices.Contains(w.had, o.number) {
				w.fault("an answer of nobody")
			}
		case loseQuestion:
			w.isOpen(o.number, "is lost")
			w.questions[o.number].end = "lost"
			if w.inTable && slices.Contains(w.shown, o.number) {
				w.fault("a question is lost that the client may still answer")
			}
		case stopCall:
			if w.stopped || w.returned || o.why == nil {
				w.fault("stopped again, or after its end")
			}
			w.stopped = true
		case beginWaiting:
			if w.waits {
				w.fault("waits twice")
			}
			w.waits = true
		case endWaiting:
			if !w.waits {
				w.fault("waits for nothing")
			}
			w.waits = false
		case countRunning:
			if w.running == o.running {
				w.fault("counted twice")
			}
			w.running = o.running
		}
	}
}

func (w *roundWorld) answered(with string) {
	if !w.wire {
		w.fault("%s for no request", with)
	}
	w.wire = false
}

func (w *roundWorld) isOpen(n int, how string) {
	if q := w.questions[n]; !q.asked || q.end != "" {
		w.fault("question %d %s, and is %+v", n, how, q)
	}
}

// roundStep is one thing that can happen.
type roundStep struct {
	name string
	do   func(w *roundWorld)
}

func (w *roundWorld) steps() (list []roundStep) {
	can := func(ok bool, name string, do func(w *roundWorld)) {
		if ok {
			list = append(list, roundStep{name, do})
		}
	}
	for n, q := range w.questions {
		can(!q.asked && !w.returned, fmt.Sprint("ask ", n), func(w *roundWorld) {
			w.questions[n].asked = true
			w.apply(roundAsked{n})
		})
		// The handler may have returned while another goroutine was about to ask.
		can(!q.asked && w.returned && n == 1, fmt.Sprint("ask late ", n), func(w *roundWorld) {
			w.questions[n].asked = true
			w.apply(roundAsked{n})
		})
		can(q.asked && q.end == "", fmt.Sprint("drop ", n), func(w *roundWorld) {
			w.questions[n].end = "dropped"
			w.apply(roundDropped{n})
		})
	}
	for _, room := range []bool{true, false} {
		can(w.gathers, fmt.Sprint("gathered, room ", room), func(w *roundWorld) {
			w.gathers, w.room = false, room
			w.apply(roundGathered{})
		})
	}
	can(w.wire && !w.cancelled, "cancel", func(w *roundWorld) {
		w.cancelled, w.mustStop = true, true
		w.apply(roundCancelled{w.retries + 1, errors.New("enough")})
	})
	for request := range w.retries + 1 {
		can(!w.late && (request < w.retries || !w.wire), fmt.Sprint("cancel what is answered ", request),
			func(w *roundWorld) {
				w.late = true
				w.apply(roundCancelled{request + 1, errors.New("enough")})
			})
	}
	take := func(e any) func(*roundWorld) {
		return func(w *roundWorld) { w.inTable, w.taken = false, e }
	}
	can(w.inTable, "no retry", take(roundGivenUp{errors.New("no retry")}))
	can(w.inTable && w.ended && w.returned, "leave", take(roundGivenUp{}))
	for _, some := range [][]int{nil, {0}, {1}, {0, 1}} { // also answers to what was not asked
		can(w.inTable && !w.ended && w.retries < 3, fmt.Sprint("retry with ", some), take(roundRetried{some}))
	}
	can(w.taken != nil, "told", func(w *roundWorld) {
		e := w.taken
		w.taken, w.shown, w.had = nil, nil, w.shown
		switch e := e.(type) {
		case roundRetried:
			w.wire, w.cancelled = true, false
			w.retries++
		case roundGivenUp:
			w.mustStop = w.mustStop || e.why != nil && !w.returned
		}
		w.apply(e)
		w.had = nil
	})
	can(!w.returned, "return", func(w *roundWorld) {
		w.returned = true
		w.apply(roundReturned{})
	})
	can(!w.ended, "end the session", func(w *roundWorld) { w.ended = true })
	return list
}

// wrong returns what is wrong in this state.
func (w *roundWorld) wrong() string {
	if len(w.faults) > 0 {
		return strings.Join(w.faults, "; ")
	}
	told := w.taken == nil
	switch r := &w.round; {
	case w.mustStop && !w.stopped && !w.returned:
		return "the handler goes on"
	case w.running != (!w.returned && !r.parked):
		return "it is not counted right"
	case w.waits != r.parked:
		return "it waits for a retry, or does not"
	case told && r.parked != w.inTable:
		return "it is parked, and nobody can retry it"
	case w.returned && w.wire:
		return "a request is not answered"
	case w.wire == (r.parked && told):
		if w.wire {
			return "it is parked, and a request waits"
		}
	}
	for n, q := range w.questions {
		open := q.asked && q.end == ""
		if open && w.returned && told && !(w.inTable && slices.Contains(w.shown, n)) {
			return fmt.Sprintf("question %d is never answered", n)
		}
		if open && w.wire && !w.cancelled && !w.refused && !w.gathers {
			return fmt.Sprintf("question %d is never asked", n)
		}
	}
	return ""
}

// A modern request with two questions, over its rounds, in all orders of what can happen.
func TestRoundInAllOrders(t *testing.T) {
	start := &roundWorld{round: newRound(), wire: true, running: true}
	type node struct {
		w   *roundWorld
		way []string
	}
	seen, ends := map[string]bool{start.key(): true}, 0
	orders := map[string]bool{}
	for queue := []node{{w: start}}; len(queue) > 0; queue = queue[1:] {
		here := queue[0]
		steps := here.w.steps()
		if len(steps) == 0 {
			ends++
			if here.w.wire || here.w.inTable || here.w.running || here.w.waits {
				t.Fatalf("left over after %s: %+v", strings.Join(here.way, ", "), here.w)
			}
		}
		for _, s := range steps {
			next := here.w.clone()
			s.do(next)
			for _, o := range next.round.orders {
				orders[fmt.Sprintf("%T", o)] = true
			}
			way := append(slices.Clone(here.way), s.name)
			if wrong := next.wrong(); wrong != "" {
				t.Fatalf("%s, after %s", wrong, strings.Join(way, ", "))
			}
			if k := next.key(); !seen[k] {
				seen[k] = true
				queue = append(queue, node{next, way})
			}
		}
	}
	t.Logf("%d states, %d ends", len(seen), ends)
	if ends == 0 || len(orders) < 9 {
		t.Errorf("%d ends; ordered were %v", ends, orders)
	}
}
