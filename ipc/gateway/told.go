package gateway

import (
	"bytes"
	"context"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
)

// told holds the version of a list that all clients have, as far as the gateway knows.
type told struct {
	last    *listing // nil before the first client asked
	strayed bool     // some client has another version than last
}

// give records that a client gets the version now.
func (o *told) give(now *listing) {
	if o.last == nil {
		o.last = now
	}
	o.strayed = o.strayed || now != o.last && !bytes.Equal(now.entries, o.last.entries)
}

// differs reports whether some client may have another version than now, and assumes that the caller tells them.
func (o *told) differs(now *listing) bool {
	if o.last == nil {
		return false
	}
	differs := o.strayed || !bytes.Equal(now.entries, o.last.entries)
	o.last, o.strayed = now, false
	return differs
}

// news returns the changed lists that differ from those that clients have. The caller notifies the clients.
func (s *shelf) news(ctx context.Context, changed changes) (c changes) {
	var tools *listing
	if changed.tools {
		s.mu.Lock()
		listed := s.told.tools.last != nil
		s.mu.Unlock()
		if listed {
			tools = s.toolList(ctx)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c.tools = tools != nil && s.told.tools.differs(tools)
	differs := func(i int) bool { return s.told.rest[i].differs(s.rest[i]) }
	if changed.resources {
		resources, templates := differs(0), differs(1)
		c.resources = resources || templates
	}
	c.prompts = changed.prompts && differs(2)
	return c
}

// giveTools returns the list of tools for a client, and records that the client has it. give does the same for list i
// of rest.
func (s *shelf) giveTools(ctx context.Context) *listing {
	s.visited()
	now := s.toolList(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told.tools.give(now)
	return now
}

func (s *shelf) give(ctx context.Context, i int) *listing {
	s.visited()
	s.wait(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told.rest[i].give(s.rest[i])
	return s.rest[i]
}

// warn reports, once each, the tools that the profile names for a server and that the server does not have.
func (s *shelf) warn(server string, tools []event.ToolInfo) {
	there := make(map[string]bool, len(tools))
	for _, t := range tools {
		there[t.Name] = true
	}
	var news []config.Problem
	s.mu.Lock()
	for _, p := range s.profile.MissingTools(server, there) {
		if !s.said[p] && len(s.said) < maxSaid {
			s.said[p] = true
			news = append(news, p)
		}
	}
	s.mu.Unlock()
	for _, p := range news {
		s.problem(p)
	}
}

// sayTaken reports, once each, the tools and prompts that could not have their names.
func (s *shelf) sayTaken(all []NameTaken) {
	if len(all) == 0 {
		return
	}
	var news []NameTaken
	s.mu.Lock()
	for _, t := range all {
		of := s.saidTaken[t.Server]
		if of == nil {
			of = map[NameTaken]bool{}
			s.saidTaken[t.Server] = of
		}
		if !of[t] && len(of) < maxSaidTaken {
			of[t] = true
			news = append(news, t)
		}
	}
	s.mu.Unlock()
	for _, t := range news {
		s.nameTaken(t)
	}
}

// maxSaidTaken limits the record of reported names of one server, since servers may change their lists all the time.
const maxSaidTaken = 100

// maxSaid limits the record of reported problems, since profiles may change all the time.
const maxSaid = 1000
