package hub

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/servers"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// startFailed notes a start that failed: err is what came of it, e what its callers are told. h.mu is held.
func (h *Hub) startFailed(ctx context.Context, s *server, err error, e *event.Error) {
	s.noteExit()
	delete(h.kills, s)
	_, hopeless := errors.AsType[*transport.StartError](err) // no such program, no such directory: each time the same
	f := failure{how: e.Message, hopeless: hopeless}
	switch e.Reason { // all others are for want of an answer of a person, or no fault of the server
	case event.ReasonServerFailed, event.ReasonConnectTimeout, event.ReasonMemoryExceeded:
		f.counts = true
	}
	if se, ok := errors.AsType[*mcp.StartError](err); ok && e.Reason == event.ReasonServerFailed {
		plain := *se
		plain.Ended = ""
		f.how = s.quote(plain.Error())
	}
	if he, ok := errors.AsType[*event.Error](context.Cause(ctx)); ok && e.Reason == event.ReasonConnectTimeout {
		f.how = he.Message
	}
	s.lastError, s.fault = e.Message, faultOf(e)
	h.failed(s, f)
	if e.Reason == event.ReasonNoApprover { // it waits for a window; startLonely goes on
		again := h.overlooked(s, e)
		s.life.Apply(servers.Abandon)
		if s.eager() && !again {
			s.life.Apply(servers.Lonely)
		}
		if s.eager() && again {
			h.eager = append(h.eager, s) // run looks there next
		}
	}
	h.transition(s, servers.StartFails)
}

// overlooked tells whether a start that failed for want of a window missed one that came meanwhile. h.mu is held.
func (h *Hub) overlooked(s *server, e *event.Error) bool {
	return e.Reason == event.ReasonNoApprover && s.supervised.lookedAt != h.company
}

// lost notes a connection that ended by itself. h.mu is held.
func (h *Hub) lost(s *server, err error) {
	s.noteExit()
	if s.life.Halted() { // it was to be stopped, and is
		return
	}
	stable := s.proven()
	s.lastError, s.fault = s.quote(fmt.Sprint(err)), faultOf(err)
	if e := memoryError(s, "", err); e != nil {
		s.lastError = e.Message
	}
	// Forgetting a session is a server's good right (2025-11-25 basic/transports "Session Management"). One that does so
	// all the time is not asked for a new one until somebody needs it.
	expired := errors.Is(err, transport.ErrSessionExpired)
	f := failure{how: s.lastError, counts: !expired, again: expired && stable}
	if ended, ok := errors.AsType[*mcp.EndedError](err); ok && memoryError(s, "", err) == nil {
		plain := *ended
		plain.Ended = ""
		f.how = s.quote(plain.Error())
	}
	h.failed(s, f)
}

// proven forgets the failures before a connection that ends now, if that held for long enough. h.mu is held.
func (s *server) proven() bool {
	stable := time.Since(s.ready) >= stableAfter
	if stable {
		s.supervised.failures = 0
	}
	return stable
}

// noteExit keeps how the process ended that is gone now. h.mu is held.
func (s *server) noteExit() {
	if s.supervised.exit == nil {
		return
	}
	if text := s.supervised.exit(); text != "" {
		s.supervised.lastExit = bounds.Printable(text)
	}
	s.supervised.exit = nil
}

// errStoppedInStart is for who waits for a start that is not to be.
func errStoppedInStart(s *server, reason string) *event.Error {
	return event.Fail(event.CodeUnavailable, event.ReasonServerStopped, []string{"server", s.name},
		"server %q was stopped while it started: %s", s.name, reason)
}

// givenUp is the error of who needs a server that the hub has given up, else nil. h.mu is held.
func (s *server) givenUp() *event.Error {
	if !s.life.GaveUp() {
		return nil
	}
	return errGivenUp(s)
}

// errGivenUp says how often and how, and what to do. h.mu is held.
func errGivenUp(s *server) *event.Error {
	v := &s.supervised
	var b strings.Builder
	fmt.Fprintf(&b, "server %q failed %d times in a row and is not started any more; the last time: %s", s.name,
		v.failures, v.how)
	meta := []string{"server", s.name, "failures", strconv.Itoa(v.failures)}
	if v.lastExit != "" {
		fmt.Fprintf(&b, "; its process %s", v.lastExit)
		meta = append(meta, "exit", v.lastExit)
	}
	if lines := lastLines(s.stderr); len(lines) > 0 {
		fmt.Fprintf(&b, "; last lines on stderr: %s", strings.Join(lines, " | "))
	}
	fmt.Fprintf(&b, "; fix it%s, then restart it", s.where())
	return event.Fail(event.CodeUnavailable, event.ReasonServerGivenUp, meta, "%s", b.String())
}

// How much of a server's stderr goes into an error.
const (
	errorLines = 10
	errorBytes = 2 << 10
)

// lastLines gives the newest lines of stderr that fit, printable.
func lastLines(stderr []string) []string {
	var lines []string
	room := errorBytes
	for i := len(stderr) - 1; i >= 0 && len(lines) < errorLines; i-- {
		line := bounds.Printable(stderr[i])
		if room -= len(line); room < 0 {
			break
		}
		lines = append(lines, line)
	}
	for i, j := 0, len(lines)-1; i < j; i, j = i+1, j-1 {
		lines[i], lines[j] = lines[j], lines[i]
	}
	return lines
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

// memoryError is the error of what ended that way, nil for any other end. requestID is "" for what is no request of its
// own.
func memoryError(s *server, requestID string, err error) *event.Error {
	use, ok := memoryEnd(err)
	if !ok {
		return nil
	}
	meta := []string{"server", s.name, "setting", "memory", "limit", strconv.FormatInt(use.Limit, 10),
		"used", strconv.FormatInt(use.Used, 10)}
	text := fmt.Sprintf("server %q was ended: %s; raise memory%s", s.name, use, s.where())
	if requestID != "" {
		meta = append(meta, "request_id", requestID)
		text += "; the call may have had effects and was not repeated"
	}
	e := event.Fail(event.CodeUnavailable, event.ReasonMemoryExceeded, meta, "%s", text)
	e.Err = err
	return e
}
