package transport

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// stateWorld is an exchange without a network: the HTTP client, the server and the user act at random.
type stateWorld struct {
	x     ExchangeState
	rnd   *rand.Rand
	now   time.Time
	clock time.Time // the end of the wait that was ordered; zero for none
	log   []string

	handed   bool // the HTTP client has read all of the body, in the present try
	written  bool // and has written it
	ever     bool // it has been written in some try, and the server did not say that it did nothing
	cut      bool // its context has ended
	sealed   bool // its connection was closed
	over     bool // its goroutine has ended
	asked    bool
	posts    int
	posting  bool
	told     []error
	gone     bool // the HTTP client was refused another try
	aborted  bool
	headers  bool
	writtenT time.Time
	overT    time.Time
	blind    bool      // the notification was posted before the headers came
	acked    time.Time // when it was acknowledged; zero for never
	ended    bool      // the server has ended the call, or the transport has
}

var errNoAck = errors.New("no acknowledgement")

func (w *stateWorld) step(t *testing.T, ev ExchangeEvent) ExchangeOrders {
	ev.Now = w.now
	w.log = append(w.log, ev.What.String())
	do := w.x.Step(ev)
	if do.Cut {
		w.cut = true
	}
	if do.Wait > 0 {
		w.clock = w.now.Add(do.Wait)
	}
	if do.Seal {
		w.sealed = true
	}
	if do.Post {
		w.posts++
		w.posting, w.blind = true, !w.headers
		switch {
		case w.posts > 1:
			t.Fatalf("a second notification: %v", w.log)
		case !w.ever:
			t.Fatalf("a notification about a request that was never written: %v", w.log)
		case !w.headers && w.writtenT.Add(cancelDelay).After(w.now) && ev.What != EvClosing:
			t.Fatalf("a notification %v after its call: %v", w.now.Sub(w.writtenT), w.log)
		}
	}
	if do.Settled {
		w.told = append(w.told, do.Err)
		switch {
		case do.Err != nil:
		case w.blind && w.headers && !w.ended:
			t.Fatalf("delivered, though the server may have read it before its call: %v", w.log)
		case w.blind && !w.ended && !w.aborted && w.acked.Add(orderTime).After(w.now):
			t.Fatalf("delivered %v after the acknowledgement: %v", w.now.Sub(w.acked), w.log)
		}
	}
	return do
}

// client makes a random step of the HTTP client, if that step is possible now.
func (w *stateWorld) client(t *testing.T) {
	switch w.rnd.IntN(8) {
	case 0, 1:
		if !w.handed && !w.over && !w.gone {
			w.step(t, ExchangeEvent{What: EvConn, Owns: w.rnd.IntN(2) == 0})
			w.handed = w.x.whole && !w.sealed
		}
	case 2, 3:
		if !w.handed && !w.gone && !w.x.whole && w.x.stage == stageWriting {
			w.handed = !w.step(t, ExchangeEvent{What: EvLast}).Refuse
		}
	case 4, 5:
		late := w.over && !w.now.Before(w.overT.Add(cancelDelay)) // its connection was closed long ago
		if w.handed && !w.written && !w.sealed && !late {
			w.written, w.ever, w.writtenT = true, true, w.now
			w.step(t, ExchangeEvent{What: EvWrote})
		}
	case 6: // a dead connection, or the server did not process the request
		if !w.headers && !w.over && !w.posting && w.x.stage <= stageWritten {
			w.ever = false
			refuse := w.step(t, ExchangeEvent{What: EvBack}).Refuse
			w.handed, w.written, w.gone = false, false, refuse
		}
	case 7:
		if w.written && !w.cut && !w.headers {
			w.headers = true
			w.step(t, ExchangeEvent{What: EvHeaders})
		}
	}
}

func (w *stateWorld) play(t *testing.T) {
	for range 40 {
		switch w.rnd.IntN(12) {
		case 0:
			if !w.asked {
				w.asked = true
				w.step(t, ExchangeEvent{What: EvCancel})
			}
		case 1:
			if !w.clock.IsZero() {
				w.now = w.clock
			} else {
				w.now = w.now.Add(time.Duration(w.rnd.IntN(900)) * time.Millisecond)
			}
		case 2:
			if w.posting {
				w.posting = false
				var err error
				if w.rnd.IntN(2) == 0 {
					err = errNoAck
				} else {
					w.acked = w.now
				}
				w.step(t, ExchangeEvent{What: EvPosted, Err: err})
			}
		case 3:
			if w.headers && !w.cut && !w.over {
				w.over, w.ended = true, true
				w.step(t, ExchangeEvent{What: EvAnswered})
			}
		case 4:
			if w.written && !w.over && !w.cut && w.rnd.IntN(3) == 0 {
				w.over, w.ended = true, true
				w.step(t, ExchangeEvent{What: EvFailed})
			}
		case 5:
			if w.rnd.IntN(8) == 0 {
				w.aborted = true
				w.step(t, ExchangeEvent{What: EvAbort})
			}
		case 6:
			if w.cut && !w.over {
				w.over, w.overT = true, w.now
				w.step(t, ExchangeEvent{What: EvReturned})
			}
		default:
			w.client(t)
		}
		if !w.clock.IsZero() && !w.clock.After(w.now) {
			w.clock = time.Time{}
			w.step(t, ExchangeEvent{What: EvClock})
		}
	}
	w.ended = true
	if w.rnd.IntN(2) == 0 {
		w.step(t, ExchangeEvent{What: EvClosing})
	}
	w.step(t, ExchangeEvent{What: EvEnd, Err: ErrHTTPClosed})
	if w.posting {
		w.step(t, ExchangeEvent{What: EvPosted, Err: ErrHTTPClosed})
	}
}

// TestExchangeStates_long plays random orders of the events of an exchange. In each there is at most one notification,
// and none before the request was written or before cancelDelay is over without headers; the outcome of the
// cancellation is reported once; never as "not needed" for a request that the server may have, unless the answer is
// there; never as delivered if the server may have read the notification before its request. Findings B2, B17, B18.
func TestExchangeStates_long(t *testing.T) {
	seen := map[string]int{}
	rounds := 200_000
	if testing.Short() {
		rounds = 40_000
	}
	for seed := range uint64(rounds) {
		w := &stateWorld{rnd: rand.New(rand.NewPCG(seed, 3)), now: time.Unix(1000, 0)}
		w.x.whole = seed%2 == 0
		w.play(t)
		if w.asked && len(w.told) != 1 || !w.asked && len(w.told) != 0 {
			t.Fatalf("seed %d: told %v: %v", seed, w.told, w.log)
		}
		if w.x.unsettled() {
			t.Fatalf("seed %d: something is left: %v", seed, w.log)
		}
		if !w.asked {
			continue
		}
		err := w.told[0]
		answered := strings.Contains(strings.Join(w.log, " "), EvAnswered.String())
		aborted := strings.Contains(strings.Join(w.log, " "), EvAbort.String())
		switch {
		case err == nil && w.posts != 1:
			t.Fatalf("seed %d: told as sent, with %d notifications: %v", seed, w.posts, w.log)
		case errors.Is(err, ErrCancelNotNeeded) && w.ever && w.posts == 0 && !answered && !aborted:
			t.Fatalf("seed %d: a request that was written is told as not: %v", seed, w.log)
		}
		seen[fmt.Sprint(err)]++
	}
	for _, err := range []error{nil, ErrCancelNotNeeded, errNoAck, ErrHTTPClosed, errMayBeFirst, errCallCut} {
		if seen[fmt.Sprint(err)] < rounds/700 {
			t.Errorf("%v was told %d times: the test shows little", err, seen[fmt.Sprint(err)])
		}
	}
}
