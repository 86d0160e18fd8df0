package hostile

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// Tool is the tool that starts the attack in every hostile server. Attacks that begin by themselves need no call.
const Tool = "attack"

// Server is a hostile server.
type Server struct {
	*fakeserver.Server
	// Stderr, if set, is called with the writer for the process's stderr, and returns when done is closed.
	Stderr func(w io.Writer, done <-chan struct{})

	mu     sync.Mutex // guards the fields below
	counts map[string]int
	seen   chan struct{} // closed and renewed with each count
}

// behaviour describes a hostile server and how to make it.
type behaviour struct {
	about string
	make  func(s *Server)
	opts  []fakeserver.Option
}

var behaviours = map[string]behaviour{}

// Names returns the names of all behaviours.
func Names() []string { return slices.Sorted(maps.Keys(behaviours)) }

// About returns the description of a behaviour.
func About(name string) string { return behaviours[name].about }

// New returns the server of that name. It always has the tools echo (which answers at once) and Tool.
func New(name string) (*Server, error) {
	b, ok := behaviours[name]
	if !ok {
		return nil, fmt.Errorf("hostile: no behaviour %q; there are %q", name, Names())
	}
	s := &Server{Server: fakeserver.New(b.opts...), counts: map[string]int{}, seen: make(chan struct{})}
	s.Tool("echo", func(c *fakeserver.CallContext) { c.Text("hello") })
	b.make(s)
	return s, nil
}

// count counts an action of the server or its outcome, for tests.
func (s *Server) count(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[what]++
	close(s.seen)
	s.seen = make(chan struct{})
	return s.counts[what]
}

// Count returns how often something has happened so far. The comment of each behaviour lists what it counts.
func (s *Server) Count(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[what]
}

// Await waits until something has happened the given number of times. It returns false if done is closed before that.
func (s *Server) Await(what string, times int, done <-chan struct{}) bool {
	for {
		s.mu.Lock()
		n, seen := s.counts[what], s.seen
		s.mu.Unlock()
		if n >= times {
			return true
		}
		select {
		case <-seen:
		case <-done:
			return false
		}
	}
}
