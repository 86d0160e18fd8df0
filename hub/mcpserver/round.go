package mcpserver

import "slices"

// round decides what becomes of one modern request over all requests of the client that belong to it. At any moment one
// of these is on the wire and waits for its answer, or none: then the client has a round of questions, and the call is
// parked until the client retries it.
//
// It is a machine without I/O: apply takes one thing that has happened, and returns what has to be done, in order. The
// rules are:
//
//   - Each request of the client gets one answer: a round, the outcome of the call, or why it was cancelled.
//   - Questions that are asked at about the same time are one round. A question that ends before that is not asked. One
//     that is asked while the client has a round waits for the retry, and so does one that the retry did not answer.
//   - A client that has a round retries, for the outcome and with its answers. So the questions of that round outlive
//     the call: another call may wait for the same answer. All others end with the call.
//   - Who cancels, or does not retry, stops the call.
//   - A call counts as running until its handler has returned, but not while it is parked.
type round struct {
	requests  int   // of the client, so far
	onWire    bool  // the last of them waits for its answer
	cancelled bool  // that request was cancelled, or cannot be parked
	why       error // it cannot be parked
	parked    bool
	returned  bool
	gathers   bool // more questions may come for this round
	runs      bool // it counts as running
	open      []roundQuestion
	orders    []any
}

// roundQuestion is a question that was asked and has not ended. Its number is chosen by the caller.
type roundQuestion struct {
	number int
	shown  bool // it is in the round that the client has
}

// What happens to a round.
type (
	// roundAsked: the handler asks a question. Ordered: loseQuestion, if that is not possible any more.
	roundAsked struct{ number int }
	// roundDropped: nobody waits for the answer to a question any more.
	roundDropped struct{ number int }
	// roundGathered: the time for more questions is over. Ordered: parkCall, or nothing.
	roundGathered struct{}
	// roundParked: there was room to park the call, as parkCall has ordered.
	roundParked struct{}
	// roundUnparkable: there was no room. why is the error.
	roundUnparkable struct{ why error }
	// roundRetried: the client has retried, with the answers to these questions. Nobody else ends the parking any more.
	roundRetried struct{ answers []int }
	// roundGivenUp: the client will not retry. Nobody else ends the parking any more. why is nil if the call needs not be
	// stopped, because its session has ended.
	roundGivenUp struct{ why error }
	// roundCancelled: the client has cancelled one of its requests, the first or a later one. One that has its answer
	// already is none on the wire: see roundGivenUp.
	roundCancelled struct {
		request int
		why     error
	}
	// roundReturned: the handler has returned.
	roundReturned struct{}
)

// What has to be done for a round.
type (
	beginGathering struct{}
	parkCall       struct{} // and then apply roundParked or roundUnparkable, before anything else
	answerRound    struct{ questions []int }
	answerOutcome  struct{}             // of the handler
	answerError    struct{ why error }  // why the call could not be parked; nil: why the request was cancelled
	answerQuestion struct{ number int } // with the client's answer
	loseQuestion   struct{ number int } // its asker may ask it elsewhere
	stopCall       struct{ why error }  // the handler
	beginWaiting   struct{}             // for a retry, with a limit
	endWaiting     struct{}
	countRunning   struct{ running bool } // the call among those that run
)

// newRound returns the round of a request that has just come.
func newRound() round { return round{requests: 1, onWire: true, runs: true} }

func (r *round) apply(e any) []any {
	r.orders = nil
	switch e := e.(type) {
	case roundAsked:
		if r.returned {
			r.order(loseQuestion(e))
			break
		}
		r.open = append(r.open, roundQuestion{number: e.number})
		r.gather()
	case roundDropped:
		r.open = slices.DeleteFunc(r.open, func(q roundQuestion) bool { return q.number == e.number })
	case roundGathered:
		r.gathers = false
		if !r.cancelled && len(r.open) > 0 {
			r.order(parkCall{})
		}
	case roundParked:
		r.park()
	case roundUnparkable:
		r.cancelled, r.why = true, e.why
		r.stop(e.why)
	case roundRetried:
		r.retried(e.answers)
	case roundGivenUp:
		r.unpark()
		r.stop(e.why)
		r.count(!r.returned) // until it has stopped
		r.lose()
	case roundCancelled:
		if r.onWire && e.request == r.requests && !r.cancelled {
			r.cancelled = true
			r.stop(e.why)
		}
	case roundReturned:
		r.returned = true
		r.count(false)
		r.lose()
		r.outcome()
	}
	return r.orders
}

func (r *round) order(o any) { r.orders = append(r.orders, o) }

// gather makes the open questions a round, a little later.
func (r *round) gather() {
	if r.onWire && !r.gathers && len(r.open) > 0 {
		r.gathers = true
		r.order(beginGathering{})
	}
}

func (r *round) park() {
	r.onWire, r.parked = false, true
	var asked []int
	for i := range r.open {
		r.open[i].shown = true
		asked = append(asked, r.open[i].number)
	}
	r.count(false)
	r.order(beginWaiting{})
	r.order(answerRound{asked})
}

// retried takes the answers to questions of the round that the client had. Questions without an answer stay open, for
// the next round.
func (r *round) retried(answers []int) {
	r.unpark()
	r.requests++
	r.onWire = true
	r.open = slices.DeleteFunc(r.open, func(q roundQuestion) bool {
		answered := q.shown && slices.Contains(answers, q.number)
		if answered {
			r.order(answerQuestion{q.number})
		}
		return answered
	})
	for i := range r.open {
		r.open[i].shown = false
	}
	r.lose()
	if r.returned {
		r.outcome()
		return
	}
	r.count(true)
	r.gather()
}

func (r *round) unpark() {
	r.parked = false
	r.order(endWaiting{})
}

func (r *round) stop(why error) {
	if why != nil && !r.returned {
		r.order(stopCall{why})
	}
}

func (r *round) count(running bool) {
	if r.runs != running {
		r.runs = running
		r.order(countRunning{running})
	}
}

// lose ends the questions that no retry can answer any more: after the end of the call, all that are not in a round
// that the client has.
func (r *round) lose() {
	if !r.returned {
		return
	}
	r.open = slices.DeleteFunc(r.open, func(q roundQuestion) bool {
		lost := !r.parked || !q.shown
		if lost {
			r.order(loseQuestion{q.number})
		}
		return lost
	})
}

// outcome answers the request on the wire, if there is one.
func (r *round) outcome() {
	switch {
	case !r.onWire:
		return
	case r.cancelled:
		r.order(answerError{r.why})
	default:
		r.order(answerOutcome{})
	}
	r.onWire = false
}
