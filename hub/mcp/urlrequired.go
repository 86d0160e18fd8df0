package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

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
	err = s.askAll(ctx, call, true, len(questions), func(ctx context.Context, i int) error {
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
