package hub

import (
	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// StopWaiting cancels a request, if it is not cancelled already, and ends it at once for the caller and the windows,
// whatever its goroutine still waits for. Parameters, outcomes and errors are those of [Hub.CancelRequest]. An unknown
// id is remembered in the same way.
func (h *Hub) StopWaiting(id, server, reason string, origin event.Origin) (event.Outcome, error) {
	cause := &event.CancelCause{Origin: origin, Reason: bounds.Reason(reason)}
	st := h.lock()
	defer st.unlock()
	return st.cancelByID(id, server, cause, true)
}

// StopWaiting is [Hub.StopWaiting] with origin user.
func (w *Window) StopWaiting(id, reason string) (event.Outcome, error) {
	return w.h.StopWaiting(id, "", reason, event.OriginUser)
}

// stopWaiting ends a request that is being cancelled, before its goroutine has returned. The request is in st.leaving
// until that goroutine finds in leftBehind that the request has ended. Only then the delivery of the cancel is known,
// so until then it counts as pending.
func (st *state) stopWaiting(r *request) {
	if r.carried {
		r.abandoned = make(chan struct{})
		st.leaving[r] = struct{}{}
	}
	e := ending{state: event.StateCancelled, mayContinue: r.handed}
	if r.handed {
		e.sending.Delivery = event.DeliveryPending
	}
	st.end(r, e)
}

// leftBehind runs at the end of carryThrough if stopWaiting has ended the request meanwhile. It discards the outcome of
// the request, and only tells the windows how the cancel was delivered.
func (st *state) leftBehind(r *request, session *mcp.Session, err error) *event.Error {
	noteSent(r, session, err)
	if s, _ := r.call().Cancelled(session != nil, err); s.Delivery != event.DeliveryPending {
		// otherwise deliveries.Follow gets the outcome
		st.deliveries.Settle(r.delivery, s)
	}
	delete(st.leaving, r)
	close(r.abandoned)
	r.server.Release(r)
	return errCancelled(r)
}

// lefts returns a channel for each request of s that stopWaiting has ended while its goroutine still ran; the channel
// is closed when that goroutine finishes.
func (st *state) lefts(s *server) []<-chan struct{} {
	var lefts []<-chan struct{}
	for r := range st.leaving {
		if r.server == s {
			lefts = append(lefts, r.abandoned)
		}
	}
	return lefts
}
