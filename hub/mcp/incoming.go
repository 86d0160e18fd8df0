package mcp

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// codeRejected is the code of the answer to a sampling request that a user has refused (client/sampling, "Error
// Handling", all legacy revisions).
const codeRejected = -1

// requestCame records which call led to a question. It does so before the next message is read, because that may be the
// answer to the call, after which the call cannot be found any more.
func (s *Session) requestCame(r *jsonrpc.Request) {
	switch r.Method {
	case protocol.MethodRoots:
		r.Behind = s.whose(r)
		return
	case protocol.MethodSampling, protocol.MethodElicitation:
	default:
		return
	}
	if s.o.NewTrace != nil {
		r.Tag = s.o.NewTrace()
	}
	a := s.whose(r)
	r.Behind, r.Aside = a, a.over // a question that is shown to no user must not take the place of one that is
}

// answerAtOnce answers pings: "The receiver MUST respond promptly with an empty response" (basic/utilities/ping, all
// legacy revisions).
func answerAtOnce(method string) (json.RawMessage, bool) {
	return emptyResult, method == protocol.MethodPing
}

var emptyResult = json.RawMessage("{}")

// handleRequest answers one request of a legacy server, in a goroutine of its own: a question may stay open for as long
// as a user needs. If ctx ends because the server has withdrawn the request, jsonrpc discards what is returned here.
func (s *Session) handleRequest(ctx context.Context, r *jsonrpc.Request) (json.RawMessage, error) {
	declared := s.state.Load().declared
	switch r.Method {
	case protocol.MethodRoots:
		if !declared.Roots {
			return nil, refusalOf(errUndeclared)
		}
		a, _ := r.Behind.(asker)
		return s.rootsResult(ctx, a.call, "")
	case protocol.MethodSampling, protocol.MethodElicitation:
		q, err := readQuestion(r.Method, r.Params, declared)
		if err != nil {
			s.tellBound(err)
			return nil, refusalOf(err)
		}
		q.WireID, q.Trace = r.ID, r.Tag
		a, _ := r.Behind.(asker)
		if a.over {
			s.log.Debug("a question of a call that is over is shown to nobody", "kind", q.Kind.String())
			return withinGrace(ctx.Done(), q.Kind, Answer{Action: Dismiss})
		}
		q.Call, q.OfSome, q.Among, q.Past = a.call, a.some, a.among, a.past
		return s.answerRequest(ctx, r, q)
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found"}
}

// tellBound reports to Options.OnBound a question that is not asked because of its size.
func (s *Session) tellBound(err error) {
	if bound := (*BoundError)(nil); errors.As(err, &bound) && s.o.OnBound != nil {
		s.o.OnBound(bound)
	}
}

func (s *Session) answerRequest(ctx context.Context, r *jsonrpc.Request, q *Question) (json.RawMessage, error) {
	a, err := s.o.Handler.Ask(ctx, q)
	if errors.Is(err, ErrCallOver) {
		// During its second of grace the question would take the place of one that is shown to a user. If there is no place
		// aside, it gets no grace: a server that leaves so many questions open withdraws none.
		if !r.StepAside() {
			return legacyResult(q.Kind, a)
		}
		return withinGrace(ctx.Done(), q.Kind, a)
	}
	if err == nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err == nil {
		var result json.RawMessage
		if result, err = legacyResult(q.Kind, a); err == nil {
			return result, nil
		}
	}
	if bound := (*BoundError)(nil); errors.As(err, &bound) {
		return nil, refusalOf(err)
	}
	var refusal *jsonrpc.Error
	if errors.As(err, &refusal) {
		return nil, refusal
	}
	if ctx.Err() == nil {
		s.log.Warn("a question of the server could not be answered", "kind", q.Kind.String(), "id", q.WireID.String(),
			"error", bounds.Printable(err.Error()))
	}
	return nil, err
}

// legacyResult returns the answer on the wire, with a different form for each of the three actions: elicitation has an
// action for each, sampling a result and one error code.
func legacyResult(kind QuestionKind, a Answer) (json.RawMessage, error) {
	if kind != Sampling {
		return elicitationResult(kind, a)
	}
	refusal := &jsonrpc.Error{Code: codeRejected, Message: "the sampling request was dismissed"}
	switch {
	case a.Action == Accept:
		return samplingResult(a)
	case a.Action == Decline:
		refusal.Message = "the sampling request was declined"
	case a.Unasked:
		refusal.Message = "nobody could be asked"
	}
	return nil, refusal
}
