package servers

import (
	"slices"

	"github.com/mcphub-go/mcphub/hub/config"
)

// enable records the argument of SetEnabled. A change also clears the failures counted so far.
func (s *Server) enable(enabled bool) {
	off, was := !enabled, s.Disabled()
	s.off = &off
	if was != off {
		s.supervised.failures = 0
		s.life.apply(Forgive)
		s.life.apply(Abandon)
	}
	s.switched()
}

// switched derives the intent of s (Off or not) from the config and from the last SetEnabled.
func (s *Server) switched() {
	if s.Disabled() {
		s.life.apply(SwitchOff)
		return
	}
	s.life.apply(SwitchOn)
}

// Reconfigure replaces the config entry of s by e. A switch by SetEnabled holds until the entry's own disabled value
// changes. Reconfigure itself ends and starts nothing: the caller ends what may no longer run, and calls Reconsider
// afterwards.
func (s *Server) Reconfigure(e Entry) {
	if s.conf.Disabled != e.Conf.Disabled {
		s.off = nil
	}
	s.conf, s.key, s.problems = e.Conf, e.Key, e.Problems
	if e.Broken {
		s.life.apply(Break)
	} else {
		s.life.apply(Mend)
	}
	s.switched()
}

// Relaunch discards what is known of the previous launch of s: its sign-in, tools, era, transport, last error and
// stderr. It is called after the entry has changed so that something else is launched from now on.
func (s *Server) Relaunch() {
	s.EndSignIn()
	s.forgetTools()
	s.tools.of, s.era, s.transport, s.lastError, s.cause, s.stderr = nil, 0, 0, "", nil, nil
}

// Reconsider starts, forgives or announces what follows from a config change that Reconfigure has applied. old is the
// previous config; was reports whether the server was switched off under it; relaunch reports whether the change
// affects what is launched.
func (s *Server) Reconsider(old *config.Server, was, relaunch bool) {
	disabled := s.Disabled()
	switch {
	case relaunch:
		s.forget()
	case disabled != was || !equal(old.Timeouts.Connect, s.conf.Timeouts.Connect):
		s.forgive() // the changed setting may have caused the failures
	}
	if !disabled && s.Eager() && (relaunch || was || old.Start != config.StartEager) {
		s.StartEagerly()
	}
	if !sameFilter(old.Tools, s.conf.Tools) {
		s.owner.ToolsChanged()
	}
	s.watchIdle()
}

func equal[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

func sameFilter(a, b config.ToolFilter) bool {
	return slices.Equal(a.Only, b.Only) && (a.Only == nil) == (b.Only == nil) && slices.Equal(a.Hidden, b.Hidden)
}
