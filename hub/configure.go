package hub

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mcphub-go/mcphub/hub/config"
)

// LoadConfig reads the config and brings the servers in line with it: new ones appear, missing ones are stopped and go, and one whose launch changed is
// stopped and starts anew on its next use. A change of approvals, timeouts or the like touches no process. nil sources: the same as last time.
func (h *Hub) LoadConfig(ctx context.Context, sources []ConfigSource) (servers []ServerInfo, problems []ConfigProblem, stopped []string, err error) {
	h.mu.Lock()
	if h.draining {
		h.mu.Unlock()
		return nil, nil, nil, errDraining()
	}
	if sources == nil {
		sources = h.sources
	}
	h.sources = sources
	h.mu.Unlock()

	var read []config.Source
	for _, s := range sources {
		src := config.Source{Path: s.Path, Scope: s.Scope, Dialect: s.Dialect, Folder: s.Folder, Trusted: s.Trusted}
		if s.JSON != "" {
			src.JSON = []byte(s.JSON)
		}
		read = append(read, src)
	}
	want, found := config.Load(read) // reads files: outside the lock
	for _, p := range found {
		problems = append(problems, ConfigProblem{File: p.File, Line: p.Line, Column: p.Column, Server: p.Server, Key: p.Key, Message: p.Message, Fatal: p.Fatal})
	}

	h.mu.Lock()
	var waits []<-chan struct{}
	for _, a := range reconcile(want, problems, h.servers) {
		if done := h.carryOut(a); done != nil {
			stopped = append(stopped, a.have.name)
			waits = append(waits, done)
		}
	}
	h.servers = slices.DeleteFunc(h.servers, func(s *server) bool { return s.removed })
	order(h.servers, sources, want)
	h.problems = slices.DeleteFunc(slices.Clone(problems), func(p ConfigProblem) bool { return p.Server != "" })
	h.mu.Unlock()

	for _, w := range waits {
		select {
		case <-w:
		case <-ctx.Done():
			return nil, nil, nil, fail(CodeDeadlineExceeded, ReasonServerStopped, nil, "the config was read; servers are still being stopped")
		}
	}
	list, _ := h.Servers()
	return list, problems, stopped, nil
}

// WatchConfig says whether the hub watches the files of its config from the next LoadConfig on.
func (h *Hub) WatchConfig(bool) {}

// step is what becomes of one server when the config changes. have is nil for a new one.
type step struct {
	have     *server
	conf     config.Server
	problems []ConfigProblem
	broken   bool
	remove   bool
	relaunch bool
}

// reconcile compares what the config wants with what there is. It changes nothing. A file that cannot be read as a whole, perhaps because an editor is
// halfway through saving it, takes away none of the servers that it brought before.
func reconcile(want []config.Server, problems []ConfigProblem, have []*server) []step {
	by := map[string]*server{}
	for _, s := range have {
		by[s.name] = s
	}
	of := map[string][]ConfigProblem{}
	var brokenOnly []string
	wanted := map[string]bool{}
	unread := map[string]bool{}
	for _, p := range problems {
		if p.Server == "" && p.Fatal {
			unread[p.File] = true
		}
	}
	for _, c := range want {
		wanted[c.Name] = true
		unread[c.Origin.File] = false
	}
	for _, p := range problems {
		if p.Server == "" {
			continue
		}
		of[p.Server] = append(of[p.Server], p)
		if !wanted[p.Server] && p.Fatal && !slices.Contains(brokenOnly, p.Server) {
			brokenOnly = append(brokenOnly, p.Server)
		}
	}
	var steps []step
	for _, c := range want {
		s := by[c.Name]
		steps = append(steps, step{have: s, conf: c, problems: of[c.Name], relaunch: s != nil && !s.broken && s.conf.LaunchKey() != c.LaunchKey()})
		delete(by, c.Name)
	}
	for _, name := range brokenOnly {
		p := of[name][0]
		conf := config.Server{Name: name, Origin: config.Origin{File: p.File, Line: p.Line}}
		steps = append(steps, step{have: by[name], conf: conf, problems: of[name], broken: true, relaunch: true})
		delete(by, name)
	}
	for _, s := range have {
		if by[s.name] == s && !unread[s.conf.Origin.File] {
			steps = append(steps, step{have: s, remove: true})
		}
	}
	return steps
}

// carryOut does one step. The channel, if any, closes when a stop that it began is over. h.mu is held.
func (h *Hub) carryOut(a step) <-chan struct{} {
	s := a.have
	if s == nil {
		s = &server{name: a.conf.Name, conf: a.conf, problems: a.problems, broken: a.broken}
		s.state = s.rest()
		h.servers = append(h.servers, s)
		h.changed(s)
		return nil
	}
	if a.remove {
		s.removed = true
		done := h.beginStop(s, &cancelCause{Origin: OriginHost, Reason: "the server was removed from the config"})
		h.forgetSignIn(s)
		h.changed(s)
		return done
	}
	was, old := s.disabled(), s.conf
	s.conf, s.problems, s.broken = a.conf, a.problems, a.broken
	if old.Disabled != a.conf.Disabled {
		s.off = nil
	}
	var done <-chan struct{}
	switch {
	case a.relaunch:
		done = h.beginStop(s, &cancelCause{Origin: OriginHost, Reason: "the server's config changed"})
		h.forgetSignIn(s)
		s.tools, s.toolsOf, s.remembered, s.transport, s.lastError, s.stderr = nil, nil, 0, 0, "", nil
	case s.disabled() && !was:
		done = h.beginStop(s, &cancelCause{Origin: OriginHost, Reason: "the server was switched off"})
	}
	if !s.running() && s.stopping == nil && (s.state != ServerFailed || a.relaunch) {
		s.state = s.rest()
	}
	h.changed(s)
	return done
}

// order puts the servers in config order: by source, then by line, broken entries among the sound ones; on one line as they were read.
func order(servers []*server, sources []ConfigSource, want []config.Server) {
	source, read := map[string]int{}, map[string]int{}
	for i, src := range sources {
		source[src.Path] = i
	}
	for i, c := range want {
		read[c.Name] = i - len(want) // a broken entry has 0: after them
	}
	slices.SortStableFunc(servers, func(a, b *server) int {
		x, y := a.conf.Origin, b.conf.Origin
		return cmp.Or(cmp.Compare(source[x.File], source[y.File]), cmp.Compare(x.Line, y.Line), cmp.Compare(read[a.name], read[b.name]))
	})
}

// String is for logs and tests.
func (p ConfigProblem) String() string {
	return fmt.Sprintf("%s:%d:%d: %s: %s: %s", p.File, p.Line, p.Column, p.Server, p.Key, p.Message)
}
