package hostile

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// Tool is the tool of every hostile server that starts its attack; what begins by itself needs no call.
const Tool = "attack"

// Server is a hostile server.
type Server struct {
	*fakeserver.Server
	// Stderr, if set, is run with what the process writes its stderr to, and ends when done is closed.
	Stderr func(w io.Writer, done <-chan struct{})

	mu     sync.Mutex // guards what follows
	counts map[string]int
	seen   chan struct{} // closed and renewed with each count
}

// behaviour makes a server of what its options say.
type behaviour struct {
	about string
	make  func(s *Server)
	opts  []fakeserver.Option
}

var behaviours = map[string]behaviour{}

// Names gives the names of all behaviours.
func Names() []string { return slices.Sorted(maps.Keys(behaviours)) }

// About says what a behaviour does.
func About(name string) string { return behaviours[name].about }

// New makes the server of that name. The tools echo (answers at once) and Tool are always there.
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

// count counts what the server did, or what became of it, for tests.
func (s *Server) count(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[what]++
	close(s.seen)
	s.seen = make(chan struct{})
	return s.counts[what]
}

// Count tells how often something was done so far. What there is to count is said beside each behaviour.
func (s *Server) Count(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[what]
}

// Await waits until something was done so often; false when done ended before.
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
