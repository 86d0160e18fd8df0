package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// inputs is the state that a round passes to the next one of its call (2026-07-28 basic/patterns/mrtr).
type inputs struct {
	rounds    int             // requests sent so far
	isError   bool            // isError of the last result
	task      bool            // the last result says that the call is a task now
	shed      int             // results in a row that asked only for another try
	responses json.RawMessage // inputResponses; nil if none
	state     json.RawMessage // requestState, byte for byte; nil if none
}

// With a result that asks only for another try a server sheds load: the retries wait, and there are few of them.
const (
	shedDelay = 250 * time.Millisecond
	maxShed   = 3
)

// inputRequired examines a result. If the result asks for input, inputRequired asks the questions and sets the inputs
// of the next round. Legacy revisions have no resultType, so the member is ignored there.
func (s *Session) inputRequired(ctx context.Context, call *openCall, in *inputs, declared Capabilities,
	result jsontext.Object) (again bool, err error) {
	var resultType, requests, state json.RawMessage
	object := result.Members(func(name []byte, value json.RawMessage) bool {
		switch string(name) {
		case "isError":
			in.isError = string(value) == "true"
		case "resultType":
			resultType = value
		case "inputRequests":
			requests = value
		case "requestState":
			state = value
		}
		return true
	})
	if !object {
		return false, &ProtocolError{Text: "the result of the call is no JSON object"}
	}
	if s.state.Load().era != Modern || resultType == nil {
		return false, nil
	}
	switch kind := stringOf(resultType); kind {
	case "complete":
		return false, nil
	case "input_required":
	case "task": // the extension allows it for tools/call only
		if call.method != protocol.MethodCallTool {
			return false, &ProtocolError{Text: `the server answered with a task (resultType "task") what is no tool call`}
		}
		in.task = true
		return false, nil
	default:
		return false, &ProtocolError{Text: fmt.Sprintf("the server answered with the unknown resultType %q",
			bounds.Printable(string(resultType)))}
	}
	if in.rounds > s.o.MaxRounds {
		return true, nil // too many rounds: no user is asked any more
	}
	asked, err := readInputRequests(requests, declared)
	if err != nil {
		return false, err
	}
	in.responses, in.state = nil, nil
	if state != nil && !isNull(state) { // null is no string, so the state counts as absent
		in.state = state
	}
	if len(asked) == 0 {
		return true, s.waitShed(ctx, in)
	}
	in.shed = 0
	in.responses, err = s.answerAll(ctx, call, asked)
	return true, err
}

func (s *Session) waitShed(ctx context.Context, in *inputs) error {
	if in.shed == maxShed {
		return &ProtocolError{Text: fmt.Sprintf("the server asked %d times in a row for another try without a question",
			maxShed+1)}
	}
	timer := time.NewTimer(shedDelay << in.shed)
	defer timer.Stop()
	in.shed++
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-s.over.Done():
	}
	return s.interrupted(ctx)
}

// inputRequest is one entry of inputRequests. question is nil for roots/list.
type inputRequest struct {
	key      string
	question *Question
}

// readInputRequests parses and checks all entries before any user is asked. A server MUST NOT ask for what the request
// did not declare.
func readInputRequests(raw json.RawMessage, declared Capabilities) ([]inputRequest, error) {
	if raw == nil || isNull(raw) {
		return nil, nil
	}
	if len(raw) > bounds.RoundBytes {
		return nil, &ProtocolError{Text: tooLarge("what the server asks in one answer", len(raw), bounds.RoundBytes).Text}
	}
	var out []inputRequest
	var bad error
	object := eachMember(raw, func(name []byte, entry json.RawMessage) bool {
		if len(out) == bounds.RoundQuestions {
			bad = fmt.Errorf("there are more than %d in one answer", bounds.RoundQuestions)
			return false
		}
		if len(name) > bounds.InputKeyBytes {
			bad = fmt.Errorf("its key has more than %s", bounds.Bytes(bounds.InputKeyBytes))
			return false
		}
		key := string(name)
		if slices.ContainsFunc(out, func(r inputRequest) bool { return r.key == key }) {
			// The answers have one place for both.
			bad = fmt.Errorf("the key %s is there twice", bounds.Printable(key))
			return false
		}
		method := stringOf(member(entry, "method"))
		if method == protocol.MethodRoots {
			if !declared.Roots {
				bad = errUndeclared
				return false
			}
			out = append(out, inputRequest{key: key})
			return true
		}
		q, err := readQuestion(method, append(json.RawMessage(nil), member(entry, "params")...), declared)
		if err != nil {
			bad = fmt.Errorf("%s: %w", bounds.Printable(method), err)
			return false
		}
		q.InputKey = key
		out = append(out, inputRequest{key: key, question: q})
		return true
	})
	if !object {
		return nil, &ProtocolError{Text: "the inputRequests of the server are no JSON object"}
	}
	if bad != nil {
		return nil, &ProtocolError{Text: "the server asked for an input that cannot be given: " + bad.Error()}
	}
	return out, nil
}

// answerAll answers all requests of a round concurrently and returns the inputResponses. These have no form for errors:
// a refused sampling request ends the whole call, whatever else was answered.
func (s *Session) answerAll(ctx context.Context, call *openCall, asked []inputRequest) (json.RawMessage, error) {
	results := make([]json.RawMessage, len(asked))
	err := s.askAll(ctx, len(asked), func(ctx context.Context, i int) (err error) {
		results[i], err = s.answerInput(ctx, call, asked[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	out := newObject(256)
	for i, a := range asked {
		out.raw(a.key, results[i])
	}
	return out.end(), nil
}

func (s *Session) answerInput(ctx context.Context, call *openCall, r inputRequest) (json.RawMessage, error) {
	if r.question == nil {
		return s.rootsResult(ctx, call.req, r.key)
	}
	r.question.Call = call.req
	a, err := s.o.Handler.Ask(ctx, r.question)
	bound := (*BoundError)(nil)
	switch {
	case errors.As(err, &bound): // inputResponses have no form for errors (SEP-2322): the call ends
		return nil, &ProtocolError{Text: bound.Text}
	case err != nil:
		return nil, err
	case r.question.Kind != Sampling:
		return elicitationResult(r.question.Kind, a)
	case a.Action != Accept:
		return nil, &DeclinedError{Sampling, a.Action, a.Unasked}
	}
	return samplingResult(a)
}

// askAll asks n questions of one round concurrently and waits for all of them. The first that fails ends the others
// with a *SiblingError, and its error is returned. The end of the call or of the link ends all of them; its error takes
// precedence.
func (s *Session) askAll(ctx context.Context, n int, ask func(ctx context.Context, i int) error) error {
	actx, end := context.WithCancelCause(ctx)
	defer end(errQuestionOver)
	defer context.AfterFunc(s.over, func() { end(closedError(context.Cause(s.over))) })()
	var (
		asking   sync.WaitGroup
		once     sync.Once
		firstErr error
	)
	for i := range n {
		asking.Go(func() {
			if err := ask(actx, i); err != nil {
				once.Do(func() {
					firstErr = err
					end(&SiblingError{Err: err})
				})
			}
		})
	}
	asking.Wait()
	if err := s.interrupted(ctx); err != nil {
		return err
	}
	return firstErr
}

// codeURLRequired is URLElicitationRequired: only 2025-11-25 has it (client/elicitation, "URL Elicitation Required
// Error"); 2026-07-28 removed it.
const codeURLRequired = -32042

// urlRequired examines the error of a round. If it demands that URLs be opened first, urlRequired asks for consent,
// waits for the end of the user's work in the outside browser, and returns true to try the call again. It returns any
// other error as it is.
func (s *Session) urlRequired(ctx context.Context, call *openCall, in *inputs, declared Capabilities,
	err error) (again bool, _ error) {
	refusal := rpcError(err)
	if refusal == nil || refusal.Code != codeURLRequired || s.state.Load().revision != Revision20251125 ||
		!declared.ElicitationURL {
		return false, err
	}
	questions, refused := readRequiredURLs(refusal.Data)
	if refused != nil {
		return false, &ProtocolError{Text: "the server demands that a page be opened first, and it is not: " +
			refused.Error()}
	}
	if len(questions) == 0 {
		return false, err
	}
	if in.rounds > s.o.MaxRounds {
		return true, nil // too many rounds: no user is asked any more
	}
	err = s.askAll(ctx, len(questions), func(ctx context.Context, i int) error {
		return s.openURL(ctx, call, questions[i])
	})
	return true, err
}

// readRequiredURLs parses data.elicitations. If one entry is malformed or beyond a bound, it returns no questions, so
// that the error counts as an ordinary one: the call could not succeed. If one entry has a URL that is never opened, it
// returns that as an error of its own: the host does not get the server's error with the URL in it.
func readRequiredURLs(data json.RawMessage) ([]*Question, *refusedURLError) {
	if len(data) > bounds.RoundBytes {
		return nil, nil
	}
	list, _ := elements(member(data, "elicitations"))
	if len(list) > bounds.RoundQuestions {
		return nil, nil
	}
	var out []*Question
	for _, raw := range list {
		if len(raw) > bounds.ElicitationBytes {
			return nil, nil
		}
		q, err := readElicitation(raw, Capabilities{ElicitationURL: true})
		if refused, ok := errors.AsType[*refusedURLError](err); ok {
			return nil, refused
		}
		if err != nil {
			return nil, nil
		}
		out = append(out, q)
	}
	return out, nil
}

// openURL asks the two questions about one URL. The server's report that the page is done answers either of them.
func (s *Session) openURL(ctx context.Context, call *openCall, q *Question) error {
	ctx, stop := s.untilCompleted(ctx, q.ElicitationID)
	defer stop()
	for _, waiting := range []bool{false, true} {
		ask := *q
		ask.Call, ask.Waiting = call.req, waiting
		a, err := s.o.Handler.Ask(ctx, &ask)
		if done := (*ElicitationCompleted)(nil); errors.As(context.Cause(ctx), &done) {
			return nil
		}
		bound := (*BoundError)(nil)
		switch {
		case errors.As(err, &bound):
			return &ProtocolError{Text: bound.Text}
		case ctx.Err() != nil: // the answer is not used any more
			return context.Cause(ctx)
		case err != nil:
			return err
		case a.Action == Decline || a.Action == Dismiss:
			return &DeclinedError{ElicitationURL, a.Action, a.Unasked}
		case a.Action != Accept:
			return fmt.Errorf("an answer has no action")
		}
	}
	return nil
}
