package mcpserver

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

// TestFirstOfTwoCancelsCounts: of two cancels that cross the round of a call, the reason of the first one counts, also
// if the second one is carried out first. Found by calls at random moments.
func TestFirstOfTwoCancelsCounts(t *testing.T) {
	s := &Server{parked: map[string]*rounds{}, parkedAt: map[wireRequest]string{},
		o: Options{Bounds: Bounds{OpenPerSession: 1, Parked: 1, ParkedBytes: 1}}}
	session := &Session{server: s, lasting: true}
	var why error
	id := jsonrpc.IntID(1)
	request, cancel := context.WithCancelCause(t.Context())
	r := &rounds{call: &Call{Session: session}, cancel: func(cause error) { why = cause }, timer: time.NewTimer(time.Hour),
		round:  round{parked: true, runs: true},
		onWire: wireExchange{ctx: request, of: &exchange{id: id}}}
	if _, err := s.keep("state", r); err != nil {
		t.Fatal(err)
	}
	cancel(&jsonrpc.WithdrawnError{Reason: "enough"})
	session.giveUp(id, &jsonrpc.WithdrawnError{Reason: "once more"})
	if withdrawn, ok := errors.AsType[*jsonrpc.WithdrawnError](why); !ok || withdrawn.Reason != "enough" {
		t.Errorf("the call was cancelled for %v, want the first reason", why)
	}
}
