package hub

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/process"
	"github.com/mcphub-go/mcphub/hub/signin"
)

// errServerNotFound is the error for a server name that does not exist. near are the existing names, for a hint; they
// may be omitted.
func errServerNotFound(name string, near ...string) *event.Error {
	return event.Fail(event.CodeNotFound, event.ReasonServerNotFound, []string{"server", bounds.Printable(name)},
		"there is no server %q in the config%s", bounds.Printable(name), event.Hint(name, near))
}

// errStoppedInStart returns the error for callers that waited for a start that was stopped.
func (s *server) errStoppedInStart(reason string) *event.Error {
	return event.Fail(event.CodeUnavailable, event.ReasonServerStopped, []string{"server", s.name},
		"server %q was stopped while it started: %s", s.name, reason)
}

// givenUp returns the error for a caller that needs s if s was given up after too many failures, else nil.
func (s *server) givenUp() *event.Error {
	if now := s.now(); now.GaveUp {
		return s.errGivenUp(now.Failures)
	}
	return nil
}

// errGivenUp returns an error that says how often the server failed, how it failed last, and what to do.
func (s *server) errGivenUp(failures int) *event.Error {
	var b strings.Builder
	fmt.Fprintf(&b, "server %q failed %d times in a row and is not started any more; the last time: %s", s.name,
		failures, s.how)
	meta := []string{"server", s.name, "failures", strconv.Itoa(failures)}
	if s.lastExit != "" {
		fmt.Fprintf(&b, "; its process %s", s.lastExit)
		meta = append(meta, "exit", s.lastExit)
	}
	if quoted := process.QuoteStderr(s.stderr, errorLines, errorBytes); quoted != "" {
		b.WriteString("; " + quoted)
	}
	fmt.Fprintf(&b, "; fix it%s, then restart it", s.where())
	return event.Fail(event.CodeUnavailable, event.ReasonServerGivenUp, meta, "%s", b.String())
}

// How much of a server's stderr goes into an error.
const (
	errorLines = 10
	errorBytes = 2 << 10
)

// startError converts err, the failure of a start with the context ctx, to the error that callers get.
func (s *server) startError(ctx context.Context, err error) *event.Error {
	if he, ok := errors.AsType[*event.Error](context.Cause(ctx)); ok {
		se, ok := errors.AsType[*mcp.StartError](err)
		if !ok || se.Words() == "" {
			return he
		}
		late := *he
		if se.Noise != "" && he.Reason == event.ReasonConnectTimeout { // more time would not have helped
			late.Message = fmt.Sprintf("server %q was not ready within %s", s.name, he.Meta["limit"])
		}
		late.Message += "; " + s.quote(se.Words())
		return &late
	}
	if e := s.signInError(err); e != nil {
		return e
	}
	e := event.Fail(event.CodeUnavailable, event.ReasonServerFailed, []string{"server", s.name}, "%s",
		s.quote(err.Error()))
	e.Err = err
	return e
}

// signInError returns the error for a failed sign-in, or nil if err has another cause.
func (s *server) signInError(err error) *event.Error {
	if he, ok := errors.AsType[*event.Error](err); ok {
		return he
	}
	code, reason := event.CodeUnavailable, event.ReasonSignInFailed
	declined, isDeclined := errors.AsType[*signin.DeclinedError](err)
	refused, isRefused := errors.AsType[*signin.RefusedError](err)
	failed, isFailed := errors.AsType[*signin.Error](err)
	var text string
	switch {
	case isDeclined:
		code, reason, text = event.CodeFailedPrecondition, event.ReasonSignInDeclined, declined.Error()
	case isRefused:
		text = refused.Error()
	case isFailed:
		text = failed.Error()
	default:
		return nil
	}
	e := event.Fail(code, reason, []string{"server", s.name}, "%s", s.quote(text))
	e.Err = err
	return e
}

// errGone returns the error for a caller that wanted a connection that has ended.
func (s *server) errGone() *event.Error {
	return event.Fail(event.CodeUnavailable, event.ReasonServerGone, []string{"server", s.name},
		"the connection to server %q ended; the next call starts it again", s.name)
}

// quote removes the secrets from text, which comes from a server or quotes one, and bounds its length. It takes no
// lock.
func (s *server) quote(text string) string {
	return bounds.Cut(s.hub.redactor.Text(text), bounds.ErrorTextBytes)
}
