package gateway

import (
	"cmp"
	"crypto/rand"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
)

// MaxOpen is how many gateways may be open in a Set at the same time.
const MaxOpen = 16

// Set is the set of gateways that a host has opened. All methods are safe for concurrent use.
type Set struct {
	hub *hub.Hub
	log *slog.Logger

	mu     sync.Mutex
	open   []*Opened // oldest first
	count  int       // the gateways in open, and those that are being opened or closed
	closed bool
	busy   sync.WaitGroup // opens and closes; added to with mu held, while closed is false
}

// Opened is an open gateway in a Set.
type Opened struct {
	ID       string
	Time     time.Time
	Endpoint *Endpoint
}

// NewSet returns a Set without gateways.
func NewSet(h *hub.Hub) *Set { return &Set{hub: h, log: h.Logger()} }

// Open opens a gateway on a port of the loopback interface; 0 picks a free one. Errors are *event.Error.
func (s *Set) Open(o Options, port int) (*Opened, error) {
	if err := s.reserve(); err != nil {
		return nil, err
	}
	defer s.busy.Done()
	opened, err := s.make(o, port)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.count--
		return nil, err
	}
	s.open = append(s.open, opened)
	return opened, nil
}

func (s *Set) reserve() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return event.ErrDraining()
	case s.count >= MaxOpen:
		return event.Fail(event.CodeResourceExhausted, event.ReasonBoundExceeded, nil,
			"%d gateways are open, and more are not opened; close one that is not needed any more", MaxOpen)
	}
	s.count++
	s.busy.Add(1)
	return nil
}

// openTheView is the Advice of a gateway that a host has opened.
const openTheView = "no window is open. Ask the user to open McpHub's view in the program that has opened this " +
	"gateway, and call again."

func (s *Set) make(o Options, port int) (*Opened, error) {
	o.Logger, o.Advice = s.log, cmp.Or(o.Advice, openTheView)
	g, err := New(s.hub, o)
	if err != nil {
		return nil, err
	}
	endpoint, err := Listen(g, net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), "")
	if err != nil {
		return nil, event.Fail(event.CodeUnavailable, event.ReasonExchangeFailed, []string{"port", strconv.Itoa(port)},
			"%s; leave the port out for a free one", err.Error())
	}
	return &Opened{ID: "gateway-" + strings.ToLower(rand.Text()[:10]), Time: time.Now(), Endpoint: endpoint}, nil
}

// List returns the open gateways, oldest first.
func (s *Set) List() []*Opened {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.open)
}

// Close closes the gateway with that id and waits for its end. It returns false if there is none.
func (s *Set) Close(id string) bool {
	s.mu.Lock()
	i := slices.IndexFunc(s.open, func(o *Opened) bool { return o.ID == id })
	if i < 0 {
		s.mu.Unlock()
		return false
	}
	opened := s.open[i]
	s.open = slices.Delete(s.open, i, i+1)
	if !s.closed { // CloseAll may be waiting already; a WaitGroup must not grow from 0 during Wait
		s.busy.Add(1)
		defer s.busy.Done()
	}
	s.mu.Unlock()
	opened.Endpoint.Close(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count--
	return true
}

// CloseAll closes every gateway, waits for their end, and refuses to open others. It must be called before the hub is
// closed.
func (s *Set) CloseAll() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	for _, opened := range s.List() {
		s.Close(opened.ID)
	}
	s.busy.Wait()
	for _, opened := range s.List() { // opened meanwhile
		s.Close(opened.ID)
	}
}
