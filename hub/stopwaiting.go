package hub

import (
	"errors"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// StopWaiting cancels a request, unless it is cancelled already, and ends it here at once, whatever still holds it up: nobody wants to know any longer. What it
// takes, its outcomes and its error are those of [Hub.CancelRequest]; an id that is not known is remembered as by that.
func (h *Hub) StopWaiting(id, server, reason string, origin Origin) (Outcome, error) {
	cause := &cancelCause{Origin: origin, Reason: boundReason(reason)}
	defer h.lock().unlock()
	return h.cancelByID(id, server, cause, true)
}

// StopWaiting is [Hub.StopWaiting] with origin user.
func (w *Window) StopWaiting(id, reason string) (Outcome, error) {
	return w.h.StopWaiting(id, "", reason, OriginUser)
}

// stopWaiting ends a request that is being cancelled. Its goroutine goes on ending by itself and finds that it comes too late: it is in leaving until then. What is
// known by now is told, so a cancel that is only about to be sent is not. h.mu is held.
func (h *Hub) stopWaiting(r *request) {
	if r.carried {
		r.abandoned = make(chan struct{})
		h.leaving[r] = struct{}{}
	}
	h.end(r, ending{state: StateCancelled, mayContinue: r.handed})
}

// leftBehind is the end of carryThrough for a request that ended before. What has come of it meanwhile is told to nobody. h.mu is held.
func (h *Hub) leftBehind(r *request, session *mcp.Session, err error) *Error {
	if ce, ok := errors.AsType[*jsonrpc.CancelledError](err); ok && session != nil {
		noteSent(r, session, ce)
	}
	delete(h.leaving, r)
	close(r.abandoned)
	h.release(r)
	return errCancelled(r)
}

// lefts gives what is closed once the requests of s that have ended are left by their goroutines. h.mu is held.
func (h *Hub) lefts(s *server) []<-chan struct{} {
	var lefts []<-chan struct{}
	for r := range h.leaving {
		if r.server == s {
			lefts = append(lefts, r.abandoned)
		}
	}
	return lefts
}
