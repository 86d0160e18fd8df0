package servers

import (
	"slices"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
)

// entry returns what the config entry says of the life of s.
func (s *Server) entry(broken bool) core.Entry {
	e := core.Entry{Eager: s.conf.Start == config.StartEager, Disabled: s.conf.Disabled, Broken: broken}
	if limit := s.conf.IdleStop; limit != nil {
		e.IdleStop = *limit
	}
	return e
}

// Reconfigure replaces the config entry of s by e. The caller calls Reconsider afterwards.
func (s *Server) Reconfigure(e Entry) { s.conf, s.key, s.problems = e.Conf, e.Key, e.Problems }

// Reconsider does what follows from a config change that Reconfigure has recorded. old is the previous config; relaunch
// reports whether the change affects what is launched, and why is the reason. The channel, if not nil, is closed when
// what may not run any more has ended.
func (s *Server) Reconsider(broken bool, old *config.Server, relaunch bool, why string) (done <-chan struct{}) {
	was := s.Disabled()
	if !relaunch {
		why = "the server was switched off"
	}
	done = s.ends(core.ServerConfigured{Server: s.number, Entry: s.entry(broken), Relaunch: relaunch,
		LimitChanged: !equal(old.Timeouts.Connect, s.conf.Timeouts.Connect),
		Cause:        &event.CancelCause{Origin: event.OriginHost, Reason: why}})
	if !sameFilter(old.Tools, s.conf.Tools) {
		s.owner.ToolsChanged()
	}
	if !relaunch && (was || !s.Disabled()) {
		return nil // nothing had to end
	}
	return done
}

// relaunch discards what is known of the previous launch of s: its sign-in, tools, era, transport, last error and
// stderr, and how it failed.
func (s *Server) relaunch() {
	s.EndSignIn()
	s.forgetTools()
	s.tools.of, s.era, s.transport, s.lastError, s.cause, s.stderr = nil, 0, 0, "", nil, nil
	s.how, s.lastExit = "", ""
}

func equal[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

func sameFilter(a, b config.ToolFilter) bool {
	return slices.Equal(a.Only, b.Only) && (a.Only == nil) == (b.Only == nil) && slices.Equal(a.Hidden, b.Hidden)
}
