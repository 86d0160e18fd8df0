package hub

import (
	"context"
	"errors"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// The orders of people and of the host. Each takes the lock, and returns when the order was carried out.

// start connects the server and waits until it is ready. It tries at once, however often the server failed before.
// since is that of look.
func (s *server) start(ctx context.Context, since uint64) (event.ServerInfo, error) {
	s.hub.update(func(st *state) {
		st.apply(core.StartOrdered{Server: s.number})
		st.mute(s, false, "")
	})
	first := s.look(ctx, 0, since)
	tookEffect(ctx)
	if _, err := s.await(ctx, 0, first); err != nil {
		return event.ServerInfo{}, event.StoppedWaiting(ctx, err)
	}
	defer s.release()
	return s.shown(), nil
}

// stopBy ends the connection and the process; open requests are cancelled with the reason. The server starts again on
// the next use.
func (s *server) stopBy(ctx context.Context, by event.Origin, reason string) (event.ServerInfo, error) {
	if reason == "" {
		reason = "the server was stopped"
	}
	if err := s.stop(ctx, &event.CancelCause{Origin: by, Reason: bounds.Reason(reason)}); err != nil {
		return event.ServerInfo{}, err
	}
	return s.shown(), nil
}

func (s *server) stop(ctx context.Context, cause *event.CancelCause) error {
	var done <-chan struct{}
	s.hub.within(func() { done = s.end(cause) })
	tookEffect(ctx)
	return s.awaitStop(ctx, done)
}

// restart is Stop followed by Start. If a Stop is ordered meanwhile, the server stays stopped, and the error says so.
func (s *server) restart(ctx context.Context, by event.Origin, reason string) (event.ServerInfo, error) {
	if reason == "" {
		reason = "the server was restarted"
	}
	var done <-chan struct{}
	var stops uint64
	s.hub.within(func() {
		done = s.end(&event.CancelCause{Origin: by, Reason: bounds.Reason(reason)})
		stops = s.now().Stops
	})
	tookEffect(ctx)
	if err := s.awaitStop(ctx, done); err != nil {
		return event.ServerInfo{}, err
	}
	return s.start(ctx, stops)
}

// setEnabled switches the server off (it is stopped, and calls are refused) or on, whatever the config says. The switch
// holds until a reload changes the entry's own disabled value, or the entry is removed; other edits of the entry do not
// end it.
func (s *server) setEnabled(ctx context.Context, by event.Origin, enabled bool) (event.ServerInfo, error) {
	var done <-chan struct{}
	s.hub.within(func() {
		stopping := s.ends(core.SwitchOrdered{Server: s.number, On: enabled,
			Cause: &event.CancelCause{Origin: by, Reason: "the server was switched off"}})
		if enabled {
			s.hub.held().mute(s, false, "")
		} else {
			done = stopping
		}
	})
	tookEffect(ctx)
	if err := s.awaitStop(ctx, done); err != nil {
		return event.ServerInfo{}, err
	}
	return s.shown(), nil
}

// shown returns the server as windows show it now.
func (s *server) shown() (i event.ServerInfo) {
	s.hub.within(func() { i = s.info() })
	return i
}

// setLogLevel asks the server to send log messages of this level and above.
func (s *server) setLogLevel(ctx context.Context, level string) error {
	session, err := s.acquire(ctx, 0)
	if err != nil {
		return event.StoppedWaiting(ctx, err)
	}
	defer s.release()
	if session.Era() == mcp.Legacy && !session.Info().Logging {
		return event.Fail(event.CodeFailedPrecondition, event.ReasonNoLogging, []string{"server", s.name},
			"server %q does not offer logging", s.name)
	}
	switch err := session.SetLogLevel(ctx, level); {
	case err != nil && ctx.Err() != nil:
		return event.StoppedWaiting(ctx, err)
	case err != nil:
		return event.Fail(event.CodeUnavailable, event.ReasonServerFailed, []string{"server", s.name},
			"server %q did not set its log level: %s", s.name, s.quote(err.Error()))
	}
	return nil
}

// checkLogLevel returns an error unless level is a log level of MCP.
func checkLogLevel(level string) error {
	switch level {
	case "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency":
		return nil
	}
	return event.Fail(event.CodeInvalidArgument, event.ReasonInvalidRequest, nil,
		"%q is no log level of MCP; use debug, info, notice, warning, error, critical, alert or emergency",
		bounds.Printable(level))
}

// settleWait bounds how long a stop waits for the answers to the cancels of tasks. A task may outlive the connection,
// so its cancel must not be lost with it.
const settleWait = time.Second

var errSettledTooLate = errors.New("the cancels of tasks were not answered in time")

// awaitStop waits until done is closed; a nil done means that nothing ran. It is called without the lock.
func (s *server) awaitStop(ctx context.Context, done <-chan struct{}) error {
	if done == nil {
		return nil
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return event.Fail(event.CodeDeadlineExceeded, event.ReasonServerStopped, []string{"server", s.name},
			"server %q is still being stopped", s.name)
	}
}

// end cancels the requests of s and, once they are over, ends its connection or its start. The returned channel is
// closed when nothing of s runs any more; it is nil if nothing runs.
func (s *server) end(cause *event.CancelCause) <-chan struct{} {
	return s.ends(core.StopOrdered{Server: s.number, Cause: cause})
}

// outdated connects s anew if it is ready, because what runs of it is outdated.
func (s *server) outdated(cause *event.CancelCause) {
	s.ends(core.ServerOutdated{Server: s.number, Cause: cause})
}

// ends applies an event that may cancel the requests of s. The channel is that of stopping.
func (s *server) ends(e core.Event) <-chan struct{} {
	s.hub.held().seeWithdrawalsIn(core.Scope{Server: s.number})
	s.hub.held().apply(e)
	return s.stopping()
}

// stopping returns a channel that is closed when the stop under way has ended, or nil if there is none.
func (s *server) stopping() <-chan struct{} {
	if s.now().State != event.ServerStopping {
		return nil
	}
	if s.stopped == nil {
		s.stopped = make(chan struct{})
	}
	return s.stopped
}

// MuteServer makes the hub decline a server's questions (sampling and elicitation): the open ones now, and new ones as
// they come. That holds until somebody starts, restarts or switches on the server, or unmutes it. Calls go on.
func (h *Hub) MuteServer(name string, muted bool) (event.ServerInfo, error) {
	st := h.lock()
	defer st.unlock()
	s := st.server(name)
	if s == nil {
		return event.ServerInfo{}, st.noServer(name)
	}
	st.mute(s, muted, "")
	return s.info(), nil
}

// mute mutes or unmutes s.
func (st *state) mute(s *server, muted bool, windowID string) {
	if !s.allowance.mute(muted) {
		return
	}
	st.log.Info("questions of a server are switched off or on", "server", s.name, "muted", muted)
	if muted {
		for _, p := range st.promptsInOrder() {
			if p.asker != nil && p.request.server == s {
				st.close(p, closing{cause: event.CauseDeclined, origin: event.OriginUser, windowID: windowID,
					action: event.ActionDecline,
					reason: "the user wants no more questions of this server"})
			}
		}
	}
	s.changed()
}
