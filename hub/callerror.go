package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/process"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// errCancelled returns the error for the caller of a cancelled request. The hub's lock is held.
func errCancelled(r *request) *event.Error {
	if r.cause.Err != nil { // a clock ran out
		return r.cause.Err
	}
	text := "was cancelled by " + r.cause.Origin.String()
	if r.cause.Reason != "" {
		text += ": " + bounds.Printable(r.cause.Reason)
	}
	return event.Fail(event.CodeCancelled, event.ReasonCancelled, []string{"server", r.server.name, "request_id", r.id,
		"origin", r.cause.Origin.String(), "cancel_reason", r.cause.Reason},
		"the call of %s of server %q %s", r.what(), r.server.name, text)
}

// what returns the words that name the target of r in error texts.
func (r *request) what() string {
	switch r.method {
	case methodReadResource:
		return fmt.Sprintf("resource %q", bounds.Printable(r.subject))
	case methodGetPrompt:
		return fmt.Sprintf("prompt template %q", bounds.Printable(r.subject))
	}
	return fmt.Sprintf("tool %q", r.tool)
}

// call returns what the errors of r say of it.
func (st *state) call(r *request) *endedCall {
	return &endedCall{server: r.server, id: r.id, what: r.what(), resent: r.resent, handed: st.now(r).Handed,
		task: r.task != nil}
}

// endedCall is what the error of a call, and of one that is refused, says of it.
type endedCall struct {
	server *server
	id     string
	what   string // words for its target, for error texts
	resent int    // how often it was sent again
	handed bool   // the engine may have sent it
	task   bool   // a task carries it out
}

// Error returns the error for the end of a call, for people and programs.
func (c *endedCall) Error(err error) *event.Error {
	if he, ok := errors.AsType[*event.Error](err); ok {
		return he
	}
	meta := []string{"server", c.server.name, "request_id", c.id}
	e := event.Fail(event.CodeInternal, event.ReasonProtocolError, meta, "%s of server %q: %s", c.what, c.server.name,
		c.server.quote(err.Error()))
	e.Err = err
	if declined, ok := errors.AsType[*mcp.DeclinedError](err); ok {
		e.Code, e.Reason = event.CodeFailedPrecondition, event.ReasonInputDeclined
		e.Message = fmt.Sprintf("%s of server %q needed an answer that was not given: %s", c.what, c.server.name,
			c.server.quote(declined.Error()))
		return e
	}
	if _, ok := errors.AsType[*mcp.ArgumentsError](err); ok {
		e.Code, e.Reason = event.CodeInvalidArgument, event.ReasonInvalidArguments
		return e
	}
	if refused, ok := errors.AsType[*mcp.CapabilityError](err); ok {
		return notOffered(c.server, refused)
	}
	if _, ok := errors.AsType[*mcp.TaskLostError](err); ok {
		e.Code, e.Reason = event.CodeUnavailable, event.ReasonTaskLost
		e.Meta["server_may_continue"] = "true"
		return e
	}
	if he := exchangeError(c.server, c.id, fmt.Sprintf("%s of server %q", c.what, c.server.name), c.resent,
		err); he != nil {
		return he
	}
	if _, ok := errors.AsType[*jsonrpc.QueueFullError](err); ok {
		e.Code, e.Reason = event.CodeResourceExhausted, event.ReasonQueueFull
		return e
	}
	if _, ok := errors.AsType[*jsonrpc.ResultTooLargeError](err); ok {
		e.Code, e.Reason = event.CodeResourceExhausted, event.ReasonResultTooLarge
		e.Meta["setting"] = "maxMessageBytes"
		return e
	}
	if ended, ok := errors.AsType[*mcp.EndedError](err); ok || errors.Is(err, jsonrpc.ErrClosed) {
		e.Code, e.Reason = event.CodeUnavailable, event.ReasonServerGone
		if ok && ended.ProcessGone {
			e.Message = fmt.Sprintf("server %q ended while %s ran: %s; the call may have had effects and %s", c.server.name,
				c.what, c.server.quote(howEnded(err)), timesSent(1+c.resent))
			return e
		}
		e.Meta["server_may_continue"] = "true"
		e.Message = fmt.Sprintf(
			"the connection to server %q ended while %s ran: %s; the call may have had effects, may still go on, and %s",
			c.server.name, c.what, c.server.quote(howEnded(err)), timesSent(1+c.resent))
		return e
	}
	return e
}

// howEnded returns words for how a connection ended during a call.
func howEnded(err error) string {
	var how []string
	if errors.Is(err, jsonrpc.ErrStalled) {
		how = append(how, "it has stopped reading its input")
	}
	if ended, ok := errors.AsType[*mcp.EndedError](err); ok && ended.Ended != "" {
		how = append(how, ended.Ended)
	}
	if len(how) == 0 {
		return "its connection closed"
	}
	return strings.Join(how, "; ")
}

// exchangeFailed returns the error for a short exchange with a server, such as a list or a completion, that is not a
// request of its own. what is the beginning of the text.
func exchangeFailed(s *server, what string, err error) *event.Error {
	if e := exchangeError(s, "", what, 0, err); e != nil {
		return e
	}
	e := event.Fail(event.CodeUnavailable, event.ReasonServerFailed, []string{"server", s.name}, "%s: %s", what,
		s.quote(err.Error()))
	e.Err = err
	return e
}

// notOffered returns the error for a request that was not sent because the server does not declare the capability.
func notOffered(s *server, err *mcp.CapabilityError) *event.Error {
	return event.Fail(event.CodeFailedPrecondition, event.ReasonNotOffered,
		[]string{"server", s.name, "capability", err.Capability},
		"server %q does not offer %s", s.name, err.Capability)
}

// exchangeError returns the error for a request that failed below JSON-RPC, nil for any other failure. requestID is ""
// for an exchange that is not a request of its own. what is the beginning of the text. before is how often the request
// was sent on sessions that were over.
func exchangeError(s *server, requestID, what string, before int, err error) *event.Error {
	if e := s.signInError(err); e != nil {
		return e
	}
	if e := boundError(s, requestID, what, err); e != nil {
		return e
	}
	he, ok := errors.AsType[*transport.HTTPError](err)
	if !ok {
		return nil
	}
	meta := []string{"server", s.name}
	if requestID != "" {
		meta = append(meta, "request_id", requestID)
	}
	if errors.Is(he, transport.ErrTooLong) {
		e := event.Fail(event.CodeResourceExhausted, event.ReasonResultTooLarge, append(meta, "setting", "maxMessageBytes"),
			"%s: %s", what,
			s.quote(he.Text))
		e.Err = err
		return e
	}
	e := event.Fail(event.CodeUnavailable, event.ReasonExchangeFailed, append(meta,
		"server_may_continue", strconv.FormatBool(he.Delivery == transport.MayHaveRun)), "%s: %s", what, s.quote(he.Error()))
	if he.Status != 0 {
		e.Meta["http_status"] = strconv.Itoa(he.Status)
	}
	if he.Delivery == transport.MayHaveRun {
		e.Message += "; the call may have had effects, may still go on, and " + timesSent(before+he.Sent)
	}
	e.Err = err
	return e
}

// boundError returns the error for a failure by a bound of the hub, nil for any other failure.
func boundError(s *server, requestID, what string, err error) *event.Error {
	meta := []string{"server", s.name}
	if requestID != "" {
		meta = append(meta, "request_id", requestID)
	}
	text := ""
	if exceeded, ok := errors.AsType[*bounds.Exceeded](err); ok {
		text, meta = exceeded.Error(), append(meta, "bound", exceeded.What, "limit_bytes", strconv.Itoa(exceeded.Limit))
	} else if over, ok := errors.AsType[*mcp.BoundError](err); ok {
		text = over.Text
	} else {
		return nil
	}
	e := event.Fail(event.CodeResourceExhausted, event.ReasonBoundExceeded, meta, "%s: %s", what, s.quote(text))
	e.Err = err
	return e
}

// timesSent returns words for how often a failed call was sent. Only a call that certainly did nothing is sent again
// (transport.Repeats).
func timesSent(n int) string {
	if n <= 1 {
		return "was not repeated"
	}
	return fmt.Sprintf("was sent %d times, because the server did nothing with it before the last time", n)
}

// lostConnection reports whether a call failed because its connection or its session had ended. Over HTTP the exchange
// fails a moment before the connection does, and everything that the call caused ends for the same reason.
func lostConnection(e *event.Error) bool {
	return e != nil && (e.Reason == event.ReasonServerGone || errors.Is(e, transport.ErrSessionExpired))
}

// notRun reports whether a server has refused a request because it had forgotten the session. Then the request has not
// run, and may be sent on a new session, as often as transport.Repeats allows for transport.GroundSessionOver: once.
func notRun(err error) bool {
	he, ok := errors.AsType[*transport.HTTPError](err)
	return ok && he.Delivery == transport.NotSent && errors.Is(err, transport.ErrSessionExpired)
}

// lastWordsWait bounds how long the end of a call waits to learn how its server ended.
const lastWordsWait = 2 * time.Second

// lastWords waits for the end of the session and returns its error, which says how the server ended. That is known a
// moment later than err, once the process is gone. If it takes too long, or ctx ends, LastWords returns err.
func lastWords(ctx context.Context, session *mcp.Session, err error) error {
	late := time.NewTimer(lastWordsWait)
	defer late.Stop()
	select {
	case <-session.Done():
		return session.Err()
	case <-ctx.Done():
	case <-late.C:
	}
	return err
}

// The errors with which a call is refused before anything of it is sent. Each function reads the config of the server,
// so the hub's lock must be held.

// hidden returns the error for a tool that the config hides.
func (c *endedCall) hidden(tool string) *event.Error {
	conf := &c.server.conf
	field := "tools.only"
	if hides := (config.ToolFilter{Hidden: conf.Tools.Hidden}); !hides.Visible(tool) {
		field = "tools.hidden"
	}
	setting, where := settingOf(conf, field)
	return event.Fail(event.CodeNotFound, event.ReasonToolNotFound, c.meta("setting", setting),
		"tool %q of server %q is hidden by %s%s; change that to use it", bounds.Printable(tool), c.server.name, setting,
		where)
}

// denied returns the error for a tool that the config forbids.
func (c *endedCall) denied(tool string) *event.Error {
	return event.Fail(event.CodePermissionDenied, event.ReasonDeniedByPolicy, c.meta("setting", "approvals"),
		"tool %q of server %q is denied by the config%s; change approvals there", tool, c.server.name, c.server.where())
}

// notForApps returns the error for a tool that its server does not offer to views.
func (c *endedCall) notForApps(tool string) *event.Error {
	return event.Fail(event.CodePermissionDenied, event.ReasonNotForApps, c.meta(),
		"tool %q of server %q is not for views: its server says so", bounds.Printable(tool), c.server.name)
}

// noApprover returns the error for a tool about which nobody could be asked.
func (c *endedCall) noApprover(tool string) *event.Error {
	return c.unasked(fmt.Sprintf("tool %q of server %q needs an approval", tool, c.server.name),
		", set approvals"+c.server.where())
}

// unseenChange returns the error for a tool that has changed since it was first called, if nobody could be asked.
func (c *endedCall) unseenChange(tool string) *event.Error {
	return c.unasked(fmt.Sprintf("the definition of tool %q of server %q is not the one that was called before", tool,
		c.server.name), "")
}

func (c *endedCall) unasked(what, orElse string) *event.Error {
	return event.Unasked(what, event.PromptToolApproval,
		"attach a window that shows tool approvals"+orElse+", or call it preapproved", c.meta("setting", "approvals")...)
}

// unsettled returns the error for a call whose tool changed again and again before it could be called. lists is how
// often the tools were listed for the call.
func (c *endedCall) unsettled(lists int) *event.Error {
	return event.Fail(event.CodeUnavailable, event.ReasonServerFailed, c.meta(),
		"%s of server %q was not sent: each time that it was to be sent, its definition or the connection had changed "+
			"(the tools were listed %d times for it); call it again later", c.what, c.server.name, lists)
}

func (c *endedCall) meta(more ...string) []string {
	return append([]string{"server", c.server.name, "request_id", c.id}, more...)
}

// faultOf returns what is wrong with a server in words of the hub, since the text of err may quote the server.
func faultOf(err error) string {
	var said []string
	say := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	if e, ok := errors.AsType[*event.Error](err); ok {
		say("%s", e.Reason)
	}
	ended := ""
	if e, ok := errors.AsType[*mcp.StartError](err); ok {
		say("at %s", e.Stage)
		ended = e.Ended
	}
	if e, ok := errors.AsType[*mcp.EndedError](err); ok {
		say("the connection ended")
		ended = e.Ended
	}
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
		say("JSON-RPC error %d", e.Code)
	}
	if e, ok := errors.AsType[*transport.HTTPError](err); ok && e.Status != 0 {
		say("HTTP status %d", e.Status)
	}
	for _, known := range []struct {
		err  error
		text string
	}{
		{jsonrpc.ErrStalled, "it has stopped reading"}, {io.EOF, "it closed its output"},
		{exec.ErrNotFound, "the command was not found"},
		{fs.ErrNotExist, "no such file"}, {fs.ErrPermission, "no permission"},
	} {
		if errors.Is(err, known.err) {
			say("%s", known.text)
		}
	}
	if how := process.WithoutStderr(ended); how != "" {
		say("%s", how)
	}
	return strings.Join(said, "; ")
}
