package hub

import (
	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// StopWaiting cancels a request, unless it is cancelled already, and ends it here at once, whatever still holds it up:
// nobody wants to know any longer. What it takes, its outcomes and its error are those of [Hub.CancelRequest]; an id
// that is not known is remembered as by that.
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

// stopWaiting ends a request that is being cancelled. Its goroutine goes on ending by itself and finds that it comes
// too late: it is in leaving until then. What becomes of the cancel is known only then, so it counts as on its way.
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

// leftBehind is the end of carryThrough for a request that ended before. Of what has come of it meanwhile nothing but
// the outcome of its cancel is told.
func (st *state) leftBehind(r *request, session *mcp.Session, err error) *event.Error {
	noteSent(r, session, err)
	if s, _ := r.call().Cancelled(session != nil, err); s.Delivery != event.DeliveryPending {
		// else deliveries.Follow hears of it
		st.deliveries.Settle(r.delivery, s)
	}
	delete(st.leaving, r)
	close(r.abandoned)
	r.server.Release(r)
	return errCancelled(r)
}

// lefts gives what is closed once the requests of s that have ended are left by their goroutines.
func (st *state) lefts(s *server) []<-chan struct{} {
	var lefts []<-chan struct{}
	for r := range st.leaving {
		if r.server == s {
			lefts = append(lefts, r.abandoned)
		}
	}
	return lefts
}
