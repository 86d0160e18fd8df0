package servers

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/complaint"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/nearmiss"
	"github.com/mcphub-go/mcphub/hub/signin"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// ErrNotFound is for a name that no server has. near are the names that there are; they may be left out.
func ErrNotFound(name string, near ...string) *event.Error {
	return event.Fail(event.CodeNotFound, event.ReasonServerNotFound, []string{"server", bounds.Printable(name)},
		"there is no server %q in the config%s", bounds.Printable(name), nearmiss.Hint(name, near))
}

// errStoppedInStart is for who waits for a start that is not to be.
func (s *Server) errStoppedInStart(reason string) *event.Error {
	return event.Fail(event.CodeUnavailable, event.ReasonServerStopped, []string{"server", s.name},
		"server %q was stopped while it started: %s", s.name, reason)
}

// GivenUp is the error of who needs a server that has failed too often, nil for any other.
func (s *Server) GivenUp() *event.Error {
	if !s.life.gaveUp {
		return nil
	}
	return s.errGivenUp()
}

// errGivenUp says how often and how, and what to do.
func (s *Server) errGivenUp() *event.Error {
	v := &s.supervised
	var b strings.Builder
	fmt.Fprintf(&b, "server %q failed %d times in a row and is not started any more; the last time: %s", s.name,
		v.failures, v.how)
	meta := []string{"server", s.name, "failures", strconv.Itoa(v.failures)}
	if v.lastExit != "" {
		fmt.Fprintf(&b, "; its process %s", v.lastExit)
		meta = append(meta, "exit", v.lastExit)
	}
	if quoted := complaint.Quote(s.stderr, errorLines, errorBytes); quoted != "" {
		b.WriteString("; " + quoted)
	}
	fmt.Fprintf(&b, "; fix it%s, then restart it", s.Where())
	return event.Fail(event.CodeUnavailable, event.ReasonServerGivenUp, meta, "%s", b.String())
}

// How much of a server's stderr goes into an error.
const (
	errorLines = 10
	errorBytes = 2 << 10
)

// StartError says why a start failed that had ctx.
func (s *Server) StartError(ctx context.Context, err error) *event.Error {
	if he, ok := errors.AsType[*event.Error](context.Cause(ctx)); ok {
		se, ok := errors.AsType[*mcp.StartError](err)
		if !ok || se.Words() == "" {
			return he
		}
		late := *he
		if se.Noise != "" && he.Reason == event.ReasonConnectTimeout { // more time would not help it
			late.Message = fmt.Sprintf("server %q was not ready within %s", s.name, he.Meta["limit"])
		}
		late.Message += "; " + s.Quote(se.Words())
		return &late
	}
	if e := s.MemoryError("", err); e != nil {
		return e
	}
	if e := s.SignInError(err); e != nil {
		return e
	}
	e := event.Fail(event.CodeUnavailable, event.ReasonServerFailed, []string{"server", s.name}, "%s",
		s.Quote(err.Error()))
	e.Err = err
	return e
}

// memoryEnd tells whether a session or a start ended because the server's processes used more memory than they may.
func memoryEnd(err error) (use transport.MemoryUse, ok bool) {
	if e, is := errors.AsType[*mcp.EndedError](err); is {
		use = e.Memory
	} else if e, is := errors.AsType[*mcp.StartError](err); is {
		use = e.Memory
	}
	return use, use != transport.MemoryUse{}
}

// MemoryError is the error of what ended because the server's processes used more memory than they may, nil for any
// other end. requestID is "" for what is no request of its own.
func (s *Server) MemoryError(requestID string, err error) *event.Error {
	use, ok := memoryEnd(err)
	if !ok {
		return nil
	}
	meta := []string{"server", s.name, "setting", "memory", "limit", strconv.FormatInt(use.Limit, 10),
		"used", strconv.FormatInt(use.Used, 10)}
	text := fmt.Sprintf("server %q was ended: %s; raise memory%s", s.name, use, s.Where())
	if requestID != "" {
		meta = append(meta, "request_id", requestID)
		text += "; the call may have had effects and was not repeated"
	}
	e := event.Fail(event.CodeUnavailable, event.ReasonMemoryExceeded, meta, "%s", text)
	e.Err = err
	return e
}

// SignInError is the error of a sign-in that failed, nil for any other error.
func (s *Server) SignInError(err error) *event.Error {
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
	e := event.Fail(code, reason, []string{"server", s.name}, "%s", s.Quote(text))
	e.Err = err
	return e
}

// errGone is for who wants a connection that has ended.
func (s *Server) errGone() *event.Error {
	return event.Fail(event.CodeUnavailable, event.ReasonServerGone, []string{"server", s.name},
		"the connection to server %q ended; the next call starts it again", s.name)
}

// Quote bounds a text that comes from a server or quotes one, without secrets. It takes no lock.
func (s *Server) Quote(text string) string {
	return bounds.Cut(s.table.Redactor.Text(text), bounds.ErrorTextBytes)
}
