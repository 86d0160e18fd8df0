package servers

import (
	"slices"

	"github.com/mcphub-go/mcphub/hub/config"
)

// enable notes what SetEnabled says.
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

// switched brings what people want of s in line with what the config says and what SetEnabled has said.
func (s *Server) switched() {
	if s.Disabled() {
		s.life.apply(SwitchOff)
		return
	}
	s.life.apply(SwitchOn)
}

// Reconfigure makes an entry the one of the server. What SetEnabled said holds until the config says something else of
// it. The caller ends what runs and is not to, and then calls Reconsider.
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

// Relaunch forgets what was of another launch.
func (s *Server) Relaunch() {
	s.EndSignIn()
	s.forgetTools()
	s.tools.of, s.era, s.transport, s.lastError, s.cause, s.stderr = nil, 0, 0, "", nil, nil
}

// Reconsider draws the consequences of a change of the config that is in place already. old is what it said before, was
// whether the server was switched off then, relaunch whether something else runs now.
func (s *Server) Reconsider(old *config.Server, was, relaunch bool) {
	disabled := s.Disabled()
	switch {
	case relaunch:
		s.forget()
	case disabled != was || !equal(old.Timeouts.Connect, s.conf.Timeouts.Connect) || old.Memory != s.conf.Memory:
		s.forgive() // perhaps that is what was wrong
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
