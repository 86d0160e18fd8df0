package gateway

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

// This file finds the server to which a name belongs that a client uses.

func (s *shelf) tool(ctx context.Context, name string) (origin, error) {
	s.mu.Lock()
	if s.tools != nil {
		if at, ok := s.tools.from[name]; ok {
			s.mu.Unlock()
			return at, nil
		}
	}
	s.mu.Unlock()
	at, err := s.toolList(ctx).find("tool", name)
	unknown, ok := err.(*jsonrpc.Error)
	if !ok {
		return at, err
	}
	if trouble := s.tryNamed(ctx, name); trouble != "" {
		unknown.Message += trouble
		return at, unknown
	}
	return s.toolList(ctx).find("tool", name)
}

// tryNamed starts the server to which an unknown name would belong, if it is not known what that offers. By now it may
// be up, or somebody may be there who can be asked. It returns the end of an error that says why the name is still
// unknown, or "" if the lists may be others now.
func (s *shelf) tryNamed(ctx context.Context, name string) string {
	server, unknown := s.ownerNotKnown(name)
	if !unknown {
		return ""
	}
	trouble := s.ask(ctx, server)
	if trouble == nil {
		return ""
	}
	return "; it is not known what server " + quoted(server) + " offers: " + trouble.Message
}

// ofPeople lists the reasons of failed starts that a person can resolve.
var ofPeople = []string{event.ReasonNoApprover, event.ReasonSignInFailed, event.ReasonSignInDeclined,
	event.ReasonLaunchDeclined, event.ReasonInputMissing}

// ownerNotKnown looks for the server that name would belong to, if its lists are not known: its start for them has
// failed, or goes on.
func (s *shelf) ownerNotKnown(name string) (server string, unknown bool) {
	before, _, _ := strings.Cut(name, "__")
	s.mu.Lock()
	defer s.mu.Unlock()
	for server, k := range s.servers {
		if own, _, _ := strings.Cut(nameOf(origin{server, "x"}), "__"); own == before && (k.trouble != nil || k.starts()) {
			return server, true
		}
	}
	return "", false
}

// starts reports whether the first start of a server for its lists goes on. It may take longer than patience: beside
// endless loops a call of TestGatewayAtRandomMoments was told that its tool did not exist. The shelf's lock is held.
func (k *known) starts() bool { return k.learning && !k.begun && k.trouble == nil }

// ask starts a server for its lists in the course of a call, which waits for that, also if a person has to be asked:
// the hub decides how soon a person is asked again. It returns the error of the start, or of one that has ended just
// before.
func (s *shelf) ask(ctx context.Context, server string) *event.Error {
	s.mu.Lock()
	k := s.servers[server]
	if k == nil {
		s.mu.Unlock()
		return nil
	}
	before := k.trouble
	if before == nil && !k.starts() ||
		before != nil && !slices.Contains(ofPeople, before.Reason) && time.Since(k.tried) < pace {
		s.mu.Unlock()
		return before
	}
	s.mu.Unlock()
	trouble := s.startToKnow(ctx, server, k)
	if trouble != nil {
		return trouble
	}
	if rest, err := s.hub.KnownRest(ctx, server); err == nil && rest != nil {
		s.mu.Lock()
		k.rest, k.of = rest, rest.Ready
		s.mu.Unlock()
	}
	k.wakeUp()
	s.refresh()
	s.outdated()
	return nil
}

// schema returns the input schema of a tool that may want arguments repeated in headers, or nil for other tools.
func (s *shelf) schema(name string) json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tools == nil {
		return nil
	}
	return s.tools.schemas[name]
}

func (s *shelf) resource(ctx context.Context, uri string) (origin, error) {
	at, err := resolve(ctx, uri, s.list(ctx, 0), s.list(ctx, 1))
	if err == nil && !s.has(at.server) { // an address with the gateway's scheme
		return origin{}, invalid("there is no server " + quoted(at.server))
	}
	return at, err
}

// has reports whether a server is one of the gateway's. The name of another one, such as the address of an entry in a
// scope that does not count, must not start that.
func (s *shelf) has(server string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.servers[server] != nil && s.profile.HasServer(server)
}

func (s *shelf) template(ctx context.Context, uri string) (origin, error) {
	if at, listed := s.list(ctx, 1).from[uri]; listed {
		return at, nil
	}
	return s.resource(ctx, uri)
}

func (s *shelf) prompt(ctx context.Context, name string) (origin, error) {
	at, err := s.list(ctx, 2).find("prompt", name)
	unknown, ok := err.(*jsonrpc.Error)
	if !ok {
		return at, err
	}
	if trouble := s.tryNamed(ctx, name); trouble != "" {
		unknown.Message += trouble
		return at, unknown
	}
	return s.list(ctx, 2).find("prompt", name)
}
