package core

import (
	"fmt"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

// queue is a server whose calls take turns. Time passes from one timer to the next.
type queue struct {
	*State
	now time.Time
	due time.Time // of the latest timer
}

func newQueue() *queue {
	q := &queue{State: New("hub"), now: start}
	takeTurns(q.State)
	return q
}

func (q *queue) apply(e Event) (effects []Effect) {
	effects = q.Apply(q.now, e)
	for _, effect := range effects {
		if set, ok := effect.(TurnTimerSet); ok {
			q.due = set.At
		}
	}
	return effects
}

// call makes a call, which is sent if it is its turn.
func (q *queue) call(client string) RequestNumber {
	q.apply(RequestMade{Prefix: "call", Server: 1, Call: true, Client: client, Answers: allKinds()})
	n := q.begun
	q.apply(Looked{Request: n, Up: true})
	if q.runs(n) {
		q.apply(Sent{n, fmt.Sprint(n)})
	}
	return n
}

func (q *queue) runs(n RequestNumber) bool { return q.turns[1].of[n].phase == turnRuns }

// cancel cancels a call that the server does not answer.
func (q *queue) cancel(n RequestNumber) {
	q.apply(RequestGivenUp{n, &event.CancelCause{Origin: event.OriginUser}})
	q.apply(CallOver{Request: n, Failed: true, MayContinue: q.runs(n)})
}

// pass lets time pass.
func (q *queue) pass(d time.Duration) {
	until := q.now.Add(d)
	for n := 0; !q.due.IsZero() && !q.due.After(until); n++ {
		if n == 1000 {
			panic(fmt.Sprintf("timers without end: the last one at %v", q.due))
		}
		q.now, q.due = q.due, time.Time{}
		q.apply(TurnTimer{1})
	}
	q.now = until
}

// A client that cancels without end, at a server that answers none of these calls, costs the hub a bounded number of
// turns. They end by themselves: the call of another client waits for the last one.
func TestKeptTurnsAreBounded(t *testing.T) {
	q := newQueue()
	for range 10_000 {
		q.cancel(q.call("m"))
	}
	t1 := q.turns[1]
	if len(t1.kept) != maxKeptTurns || len(t1.of) != maxKeptTurns || len(t1.sent) != maxKeptTurns {
		t.Errorf("%d turns are kept, %d in all, %d by wire id", len(t1.kept), len(t1.of), len(t1.sent))
	}
	last := q.call("n")
	if q.pass(mayAskAfter - 1); q.runs(last) {
		t.Error("sent within the time in which the server may ask")
	}
	if q.pass(1); !q.runs(last) {
		t.Error("not sent after it")
	}
	q.cancel(last)
	if q.pass(mayAskAfter); len(t1.of)+len(t1.clients)+len(t1.sent) > 0 {
		t.Errorf("left for good: %+v", t1)
	}
}

// The calls of who is gone count until the server must have read that they are cancelled.
func TestTurnsOfWhoIsGone(t *testing.T) {
	q := newQueue()
	first := q.call("m")
	next := q.call("n")
	q.cancel(first)
	q.apply(ClientGone{"m"})
	if q.pass(cancelReadTime - 1); q.runs(next) {
		t.Error("sent before the server must have read the cancel")
	}
	if q.pass(1); !q.runs(next) {
		t.Error("not sent after that")
	}
}

// A call waits for no longer than turnLimit for one that does not end, and those behind it wait on.
func TestTurnLimit(t *testing.T) {
	q := newQueue()
	q.call("m")
	q.pass(time.Second)
	first := q.call("n")
	q.pass(time.Second)
	second := q.call("m")
	if due := q.due; q.AwaitTurn() != 2 || len(q.apply(TurnTimer{1})) != 1 || q.due != due {
		t.Errorf("%d wait, and a timer that fires too early is set to %v, not %v", q.AwaitTurn(), q.due, due)
	}
	if q.pass(turnLimit - time.Second - 1); q.runs(first) || q.runs(second) {
		t.Error("sent too early")
	}
	if q.pass(1); !q.runs(first) || q.runs(second) {
		t.Errorf("the first is sent: %v, the second: %v", q.runs(first), q.runs(second))
	}
	if q.pass(time.Second); !q.runs(second) {
		t.Error("the second is not sent a second later")
	}
}

// Clients come and go by the thousand. Who had no call at a server changes nothing there, and costs nothing.
func TestWhoIsGoneElsewhere(t *testing.T) {
	q := newQueue()
	q.cancel(q.call("m"))
	q.now = q.now.Add(mayAskAfter) // the timer has not fired so far
	if q.apply(ClientGone{"n"}); len(q.turns[1].kept) != 1 {
		t.Error("the turns at a server were looked at because of a client without calls there")
	}
	if q.apply(ClientGone{"m"}); len(q.turns[1].kept) != 0 {
		t.Error("a turn that is over is kept")
	}
}

// Each call of 2026-07-28 over HTTP counts as a client of its own, so that thousands may keep a turn at one server
// while another call waits. The hub holds its lock for each event.
func BenchmarkTurnsOfManyClients(b *testing.B) {
	for _, clients := range []int{16, maxKeptTurns} {
		b.Run(fmt.Sprint(clients), func(b *testing.B) {
			q := &queue{State: New("hub"), now: start}
			for n := range clients {
				q.apply(RequestMade{Prefix: "call", Server: 1, Call: true, Client: fmt.Sprint(n)})
				q.apply(Looked{Request: q.begun, Up: true})
			}
			q.takeTurns(1, "s")
			for _, n := range q.calls(1) {
				q.cancel(n)
			}
			q.call("waits")
			for b.Loop() {
				q.cancel(q.call("waits, too"))
			}
		})
	}
}

// Of the clients that are gone a bounded number is remembered, each for as long as its calls may count.
func TestWhoIsGoneIsForgotten(t *testing.T) {
	var g gone
	for n := range 2 * maxGone {
		g.add(start, fmt.Sprint(n))
	}
	if len(g.at) != maxGone || g.has("0") || !g.has(fmt.Sprint(2*maxGone-1)) {
		t.Errorf("%d are remembered; the oldest: %v, the newest: %v", len(g.at), g.has("0"), g.has(fmt.Sprint(2*maxGone-1)))
	}
	g.add(start.Add(3*mayAskAfter), "late")
	if len(g.at) != 1 || len(g.order) != 1 {
		t.Errorf("%d are remembered after their time", len(g.at))
	}
}
