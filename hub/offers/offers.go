package offers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/outcome"
	"github.com/mcphub-go/mcphub/hub/servers"
)

// House is the hub that the servers belong to.
type House interface {
	// Update runs f with the hub's lock. f must not wait for anything.
	Update(f func())
	// Find returns the server with this name or address; its Server is nil if there is none. It is called with the lock.
	Find(name string) Server
	// NotFound returns the error for a name that no server has. It is called with the lock.
	NotFound(name string) *event.Error
	// All returns the servers in config order. It is called with the lock.
	All() []Server
}

// Server is a server of a house.
type Server struct {
	*servers.Server
	// Policy returns the policy for a tool, from the config and the consent to it. It is called with the lock.
	Policy func(tool string) config.Policy
}

// Offers is what the servers of a house offer. New makes it. All methods may be called concurrently; they take the
// lock.
type Offers struct {
	house  House
	starts chan struct{} // holds a token for each server that a list of all is starting
	// turns has a channel for each resource whose subscription is being changed. It is closed, and removed, once that is
	// over. Guarded by the lock.
	turns map[resource]chan struct{}
}

// New returns the Offers of a house.
func New(house House) *Offers {
	return &Offers{house: house, starts: make(chan struct{}, core.MaxEager), turns: map[resource]chan struct{}{}}
}

func (o *Offers) find(name string) (s Server, err error) {
	o.house.Update(func() {
		if s = o.house.Find(name); s.Server == nil {
			err = o.house.NotFound(name)
		}
	})
	return s, err
}

// nameOf returns the own name of the server that a name or an address means. Its own name stays the same when other
// servers come and go.
func (o *Offers) nameOf(name string) (string, error) {
	s, err := o.find(name)
	if err != nil {
		return "", err
	}
	return s.Name(), nil
}

// ask runs something short, such as a list or a completion, with the session of a server, which it connects if
// necessary. That is no request of the hub: nobody is told of it, and no person is asked. It ends with ctx, and when
// the time that the server has for its start is over. doing completes "server x did not ...".
func (o *Offers) ask(ctx context.Context, name, doing string, ask func(context.Context, *mcp.Session) error) error {
	s, err := o.find(name)
	if err != nil {
		return err
	}
	session, err := s.Acquire(ctx, 0)
	if err != nil {
		return event.StoppedWaiting(ctx, err)
	}
	defer s.Unlease()
	var limit time.Duration
	var late *event.Error
	o.house.Update(func() { limit, late = s.ConnectLimit("did not " + doing) })
	within, stop := s.Within(ctx, limit, late)
	defer stop()
	err = ask(within, session)
	if outcome.NotRun(err) {
		if session, err = s.Renew(within, 0, session); err == nil {
			err = ask(within, session)
		}
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return event.StoppedWaiting(ctx, err)
	case within.Err() != nil:
		return late
	}
	if refused, ok := errors.AsType[*mcp.CapabilityError](err); ok {
		return outcome.NotOffered(s.Server, refused)
	}
	return outcome.Exchange(s.Server, fmt.Sprintf("server %q did not %s", name, doing), err)
}

// listed asks a server for a list, and returns the entries in the form that clients see.
func listed[E, I any](ctx context.Context, o *Offers, name, doing string,
	list func(*mcp.Session, context.Context) ([]E, error), show func(string, E) I) (infos []I, err error) {
	if name, err = o.nameOf(name); err != nil {
		return nil, err
	}
	err = o.ask(ctx, name, doing, func(ctx context.Context, session *mcp.Session) error {
		entries, err := list(session, ctx)
		infos = shownAs(name, entries, show)
		return err
	})
	return infos, err
}

func shownAs[E, I any](server string, entries []E, show func(string, E) I) (infos []I) {
	for _, e := range entries {
		infos = append(infos, show(server, e))
	}
	return infos
}
