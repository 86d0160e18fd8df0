package hub

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/signin"
)

// promptWords are the words for a question that has a request of its own. All questions but tool approvals have one.
type promptWords struct {
	method, subject string // of the request
	name            string // the beginning of its id
	wants           string // what a server wants that waits for the answer
	shows           string // what a window can show that can show such a question
}

// promptWordsOf returns the words for a question.
func promptWordsOf(p *event.PromptInfo) promptWords {
	switch p.Kind {
	case event.PromptSampling:
		return promptWords{method: "sampling/createMessage", name: "ask"}
	case event.PromptSignIn:
		return promptWords{method: "authorization", subject: p.SignIn.Issuer, name: "sign-in", wants: "a sign-in",
			shows: "sign-ins"}
	case event.PromptServerLaunch:
		return promptWords{method: "launch", subject: launched(p.Launch), name: "launch", wants: "your consent to start it",
			shows: "server launches"}
	case event.PromptConfigInput:
		return promptWords{method: "input", subject: p.Input.InputID, name: "input", shows: "config inputs",
			wants: fmt.Sprintf("the input %q of its config", bounds.Printable(p.Input.InputID))}
	}
	return promptWords{method: "elicitation/create", name: "ask"}
}

// launched returns the name of what would be started, for the request, which everybody sees. It leaves out the query of
// a URL, which may be secret.
func launched(q *event.LaunchQuestion) string {
	if q.URL != "" {
		return (config.Server{URL: q.URL}).DisplayURL()
	}
	return q.Command
}

// promptOf returns what people are shown of a server's question. withTools reports whether it is a sampling question
// for a model that is to use tools.
func promptOf(q *mcp.Question) (info event.PromptInfo, withTools bool) {
	question := &event.Question{Payload: q.Payload, Message: q.Message, Waiting: q.Waiting, Schema: q.Schema}
	info = event.PromptInfo{Kind: event.PromptElicitationForm, Question: question}
	switch q.Kind {
	case mcp.Sampling:
		info.Kind, withTools = event.PromptSampling, hasTools(q.Payload)
	case mcp.ElicitationURL:
		info.Kind, question.URL, question.URLHost = event.PromptElicitationURL, q.URL, q.URLHost
	}
	return info, withTools
}

func hasTools(payload json.RawMessage) bool {
	some := false
	jsontext.Elements(jsontext.Get(payload, "tools"), func(json.RawMessage) bool {
		some = true
		return false
	})
	return some
}

// withdrawnBy returns how a question of a server closes whose context has ended with cause, and the cause for its
// request.
func withdrawnBy(cause error) (closes event.PromptCause, reason string, ends *event.CancelCause) {
	if w, ok := errors.AsType[*jsonrpc.WithdrawnError](cause); ok {
		reason = bounds.Reason(w.Reason)
		return event.CauseWithdrawn, reason, &event.CancelCause{Origin: event.OriginServer, Reason: reason}
	}
	if cc, ok := errors.AsType[*event.CancelCause](cause); ok {
		if cc.Origin == event.OriginShutdown {
			return event.CauseShutdown, cc.Reason, cc
		}
		return event.CauseParent, cc.Reason, &event.CancelCause{Origin: event.OriginParent, Reason: cc.Reason}
	}
	if _, ok := errors.AsType[*mcp.ElicitationCompleted](cause); ok {
		return event.CauseSuperseded, "the server reports that the page is done",
			&event.CancelCause{Origin: event.OriginServer}
	}
	if _, ok := errors.AsType[*mcp.SiblingError](cause); ok {
		reason = "another question of the same call ended it"
		return event.CauseParent, reason, &event.CancelCause{Origin: event.OriginParent, Reason: reason}
	}
	return event.CauseServerGone, core.ConnectionLost,
		&event.CancelCause{Origin: event.OriginTransport, Reason: core.ConnectionLost}
}

// signInEnded returns how the question of a sign-in closes that has ended with cause. cameBack reports whether the
// sign-in succeeded.
func signInEnded(cause error) (closes event.PromptCause, origin event.Origin, reason string, cameBack bool) {
	if _, cameBack = errors.AsType[*signin.Completed](cause); cameBack {
		return event.CauseSuperseded, event.OriginUser, "the browser has come back", true
	}
	switch {
	case errors.Is(cause, signin.ErrSignedOut):
		return event.CauseParent, event.OriginHost, "the user signed out", false
	case errors.Is(cause, signin.ErrClosed):
		return event.CauseParent, event.OriginHost, "the server was removed from the config or changed there", false
	}
	return event.CauseParent, event.OriginParent, "nobody waits for the sign-in any more", false
}

// unasked returns the error for a question about a server that no window can show.
func (w *promptWords) unasked(server string, p *event.PromptInfo) *event.Error {
	e := event.Unasked(fmt.Sprintf("server %q wants %s", server, w.wants), p.Kind, "attach a window that shows "+w.shows,
		"server", server)
	if p.Input != nil {
		e.Meta["input"] = bounds.Printable(p.Input.InputID)
	}
	return e
}

// stopped returns the error for a question about a server that was stopped meanwhile.
func (w *promptWords) stopped(server string) *event.Error {
	return event.Fail(event.CodeUnavailable, event.ReasonServerStopped, []string{"server", server},
		"server %q was stopped while it wanted %s", server, w.wants)
}

// errHumanTimeout returns the error for a question that nobody answered in time. where names the place of the server's
// config.
func errHumanTimeout(p *event.PromptInfo, limit time.Duration, where string) *event.Error {
	return event.Fail(event.CodeDeadlineExceeded, event.ReasonHumanTimeout,
		[]string{"server", p.Server, "request_id", p.RequestID, "setting", "timeouts.human", "limit", limit.String()},
		"nobody answered the %s question of server %q within %s; raise timeouts.human of the server%s or of the call",
		p.Kind, p.Server, limit, where)
}

// errToolRefused returns the error for a tool call whose approval ended with a choice other than yes, nil for any other
// end.
func errToolRefused(server, tool, requestID string, cause event.PromptCause, reason string) error {
	meta := []string{"server", server, "request_id", requestID, "reason", reason}
	switch {
	case cause == event.CauseDeclined && reason != "":
		return event.Fail(event.CodePermissionDenied, event.ReasonDeniedByUser, meta,
			"the user denied tool %q of server %q: %s", tool, server, bounds.Printable(reason))
	case cause == event.CauseDeclined:
		return event.Fail(event.CodePermissionDenied, event.ReasonDeniedByUser, meta,
			"the user denied tool %q of server %q", tool, server)
	case cause == event.CauseDismissed:
		return event.Fail(event.CodePermissionDenied, event.ReasonDismissedByUser, meta,
			"the user closed the question about tool %q of server %q without a choice; it was not called", tool, server)
	}
	return nil
}

// errPromptClosed returns the error for an answer that came too late.
func errPromptClosed(id string) *event.Error {
	return event.Fail(event.CodeNotFound, event.ReasonPromptClosed, []string{"prompt_id", id},
		"prompt %q is closed already; the answer changed nothing", id)
}

// errPromptNotFound returns the error for an answer to a prompt that never existed.
func errPromptNotFound(id string) *event.Error {
	id = bounds.Printable(id)
	return event.Fail(event.CodeNotFound, event.ReasonPromptNotFound, []string{"prompt_id", id},
		"there is no prompt %q", id)
}

// errPromptKind returns the error for an answer of a window that has not been shown the prompt.
func errPromptKind(window string, p *event.PromptInfo) *event.Error {
	return event.Fail(event.CodeFailedPrecondition, event.ReasonPromptKind, []string{"prompt_id", p.ID},
		"window %q has not declared that it shows %s prompts", bounds.Printable(window), p.Kind)
}

// errFoldersMissing returns the error for a yes for the workspace folders of a window that has none.
func errFoldersMissing(window string, p *event.PromptInfo) *event.Error {
	return event.Fail(event.CodeInvalidArgument, event.ReasonInvalidContent,
		[]string{"prompt_id", p.ID, "window_id", window},
		"window %q has no workspace folders, so nothing can be allowed for them; "+
			"set its roots first or choose another scope; the prompt is still open", bounds.Printable(window))
}
