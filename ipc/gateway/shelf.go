package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/modeltools"
	"github.com/mcphub-go/mcphub/hub/offers"
)

// source is what the shelf needs of the hub.
type source interface {
	Tools(ctx context.Context, server string) ([]event.ToolInfo, map[string]*event.Error, error)
	KnownTools(ctx context.Context, server string) ([]event.ToolInfo, map[string]*event.Error, error)
	KnownRest(ctx context.Context, server string) (*offers.Rest, error)
}

// Limits of getting to know servers.
const (
	// atOnce is how many servers are started at once to be known.
	atOnce = 4
	// patience is how long the first list of a client waits for servers that nobody knows yet.
	patience = 10 * time.Second
)

// shelf holds what the servers offer, as clients see it. Lists come from what is known: only a server of which it is
// not known what it offers, from no earlier hub either, is started, once, to be known.
type shelf struct {
	hub     source
	plain   bool
	mode    string               // Options.Tools
	bound   bool                 // results are bounded
	problem func(config.Problem) // Options.Problem
	trouble func(server string, e *event.Error)
	// changed hears, by method, of lists that are others now. It must not block.
	changed func(lists changes)

	places chan struct{} // a token for each server that is started to be known
	work   sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	profile  *config.Profile // not changed once it is here
	said     map[config.Problem]bool
	servers  map[string]*known
	pending  int           // servers of the start that are not known yet
	settled  chan struct{} // closed when there are none
	tools    *listing
	rest     [3]*listing // resources, templates, prompts
	revision uint64      // of what the lists are made of
	made     uint64      // the revision that tools is made of
	told     struct {
		tools told
		rest  [3]told // as rest
	}
}

// known is what is known of a server.
type known struct {
	place    int
	ready    bool
	begun    bool // it is up because it was started to be known: its lists are those of this connection
	rest     *offers.Rest
	trouble  *event.Error // why it could not be started to be known
	learning bool         // somebody is at it
	again    bool         // and has to look once more
	of       time.Time    // when the connection became ready on which rest was listed
	anew     time.Time    // when the connection became ready that came up while learning; rest may be of it already
}

// changes are the lists that are others now, or may be, and the level of logs that clients want.
type changes struct{ tools, resources, prompts, level bool }

func (c *changes) add(o changes) {
	c.tools, c.resources, c.prompts = c.tools || o.tools, c.resources || o.resources, c.prompts || o.prompts
	c.level = c.level || o.level
}

func newShelf(h source, o *Options, profile *config.Profile, changed func(changes)) *shelf {
	return &shelf{hub: h, plain: o.PlainNames, mode: o.Tools, bound: o.MaxTokens > 0, profile: profile, changed: changed,
		places:  make(chan struct{}, atOnce),
		problem: o.Problem, said: map[config.Problem]bool{}, trouble: o.Trouble,
		servers: map[string]*known{}, settled: make(chan struct{}), rest: [3]*listing{{}, {}, {}}}
}

// start gets to know the servers that there are.
func (s *shelf) start(ctx context.Context, all []event.ServerInfo) {
	s.mu.Lock()
	s.pending = 1
	s.mu.Unlock()
	for _, info := range all {
		s.see(ctx, info, true)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.oneSettled()
	time.AfterFunc(patience, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.pending > 0 {
			s.pending = 0
			close(s.settled)
		}
	})
}

func (s *shelf) oneSettled() {
	if s.pending--; s.pending == 0 {
		close(s.settled)
	}
}

// choose puts another profile in the place of the one that counts.
func (s *shelf) choose(p *config.Profile) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.profile = p
}

// profileNow is the profile that counts; nil is everything.
func (s *shelf) profileNow() *config.Profile {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.profile
}

// see takes notice of a server as it is now, and tells whether it is connected anew. It does not block. One that is
// beside another of its name is none of the gateway's: of two entries a client gets the one that counts.
func (s *shelf) see(ctx context.Context, info event.ServerInfo, first bool) (connected bool) {
	if info.Beside() || info.State == event.ServerDisabled || !s.profileNow().HasServer(info.Name) {
		s.drop(info.Name)
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.servers[info.Name]
	fresh := k == nil
	if fresh {
		k = &known{}
		s.servers[info.Name] = k
	}
	ready := info.State == event.ServerReady
	connected = ready && !k.ready
	k.place, k.ready, k.begun = info.Place, ready, k.begun && (ready || !k.ready)
	switch {
	case fresh:
		s.learn(ctx, info.Name, k, first)
	case !connected || k.begun || !info.Ready.IsZero() && info.Ready.Equal(k.of): // its lists are known
	case k.learning:
		k.anew = info.Ready
	default:
		s.learn(ctx, info.Name, k, first)
	}
	return connected
}

// again looks once more at what a server offers.
func (s *shelf) again(ctx context.Context, server string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.servers[server]; k != nil {
		s.learn(ctx, server, k, false)
	}
}

// drop forgets a server.
func (s *shelf) drop(server string) {
	s.mu.Lock()
	_, was := s.servers[server]
	delete(s.servers, server)
	s.mu.Unlock()
	if was {
		s.refresh()
		s.outdated()
	}
}

// outdated says that the list of tools may be another now.
func (s *shelf) outdated() {
	s.mu.Lock()
	s.revision++
	s.mu.Unlock()
	s.changed(changes{tools: true})
}

// learn gets to know a server, on a goroutine of its own. The lock is held.
func (s *shelf) learn(ctx context.Context, server string, k *known, first bool) {
	if s.closed || k.learning {
		k.again = k.learning
		return
	}
	k.learning = true
	if first {
		s.pending++
	}
	s.work.Go(func() {
		for more := true; more; {
			offered := s.look(ctx, server, k)
			s.mu.Lock()
			if offered != nil {
				k.rest, k.of = offered, offered.Ready
			}
			s.mu.Unlock()
			s.refresh()
			s.outdated()
			s.mu.Lock()
			if first && s.pending > 0 {
				s.oneSettled()
			}
			s.mu.Unlock()
			first = false
			rest(ctx)
			s.mu.Lock()
			more = (k.again || !k.anew.Equal(k.of) && !k.anew.IsZero()) && ctx.Err() == nil
			k.again, k.anew, k.learning = false, time.Time{}, more
			s.mu.Unlock()
		}
	})
}

// look asks for what a server offers; nil: nothing is known beside its tools, or nothing new.
func (s *shelf) look(ctx context.Context, server string, k *known) *offers.Rest {
	tools, _, err := s.hub.KnownTools(ctx, server)
	unknown := err == nil && len(tools) == 0
	if unknown {
		s.begin(ctx, server, k)
	}
	rest, restErr := s.hub.KnownRest(ctx, server)
	if restErr == nil && rest == nil && !unknown {
		s.begin(ctx, server, k)
		rest, restErr = s.hub.KnownRest(ctx, server)
	}
	if unknown {
		tools, _, err = s.hub.KnownTools(ctx, server)
	}
	if err == nil && len(tools) > 0 {
		s.mu.Lock()
		k.trouble = nil
		s.mu.Unlock()
		s.warn(server, tools)
	}
	if restErr != nil {
		return nil
	}
	return rest
}

// begin starts a server to be known, a few at a time. Its lists are asked for behind it.
func (s *shelf) begin(ctx context.Context, server string, k *known) {
	select {
	case s.places <- struct{}{}:
	case <-ctx.Done():
		return
	}
	_ = s.startToKnow(ctx, server, k) // it is noted
	<-s.places
}

// startToKnow lists the tools of a server, which starts it, and notes why that was not possible.
func (s *shelf) startToKnow(ctx context.Context, server string, k *known) (trouble *event.Error) {
	_, troubles, err := s.hub.Tools(ctx, server)
	trouble = troubles[server]
	if err != nil && trouble == nil {
		trouble = event.AsError(err)
	}
	if ctx.Err() != nil {
		return trouble // nobody waits any more, which says nothing of the server
	}
	s.mu.Lock()
	was := k.trouble
	if k.trouble = trouble; trouble == nil {
		k.begun, k.again, k.anew = true, false, time.Time{}
	}
	s.mu.Unlock()
	if trouble != nil && (was == nil || was.Message != trouble.Message) {
		s.trouble(server, trouble)
	}
	return trouble
}

// close waits for what gets to know servers. The context of start has ended.
func (s *shelf) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.work.Wait()
}

// refresh makes the lists of what there is beside tools anew.
func (s *shelf) refresh() {
	var resources []event.ResourceInfo
	var templates []event.ResourceTemplateInfo
	var prompts []event.McpPromptInfo
	s.mu.Lock()
	for _, k := range slices.SortedFunc(maps.Values(s.servers), func(a, b *known) int { return a.place - b.place }) {
		if k.rest != nil {
			resources = append(resources, k.rest.Resources...)
			templates = append(templates, k.rest.Templates...)
			prompts = append(prompts, k.rest.Prompts...)
		}
	}
	now := [3]*listing{resourcesOf(resources), templatesOf(templates), promptsOf(prompts, s.plain)}
	differs := func(i int) bool { return !bytes.Equal(now[i].entries, s.rest[i].entries) }
	c := changes{resources: differs(0) || differs(1), prompts: differs(2)}
	s.rest = now
	s.mu.Unlock()
	if c.resources || c.prompts {
		s.changed(c)
	}
}

// wait waits until the servers of the start are known, for as long as patience lasts.
func (s *shelf) wait(ctx context.Context) {
	select {
	case <-s.settled:
	case <-ctx.Done():
	}
}

func (s *shelf) toolList(ctx context.Context) *listing {
	s.wait(ctx)
	s.mu.Lock()
	tools, revision, fresh := s.tools, s.revision, s.tools != nil && s.made == s.revision
	profile := s.profile
	s.mu.Unlock()
	if fresh {
		return tools
	}
	infos, _, err := s.hub.KnownTools(ctx, "")
	if err != nil && tools != nil {
		return tools
	}
	made := s.toolsOf(slices.DeleteFunc(infos, func(t event.ToolInfo) bool {
		return !modeltools.ForModels(t) || !profile.Has(t.Server, t.Name)
	}))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tools == nil || s.made < revision {
		s.tools, s.made = made, revision
	}
	return made
}

func (s *shelf) list(ctx context.Context, i int) *listing {
	s.wait(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rest[i]
}

func (g *Gateway) listTools(ctx context.Context) (json.RawMessage, error) {
	return g.shelf.giveTools(ctx).result("tools"), nil
}

func (g *Gateway) listResources(ctx context.Context) (json.RawMessage, error) {
	return g.shelf.give(ctx, 0).result("resources"), nil
}

func (g *Gateway) listTemplates(ctx context.Context) (json.RawMessage, error) {
	return g.shelf.give(ctx, 1).result("resourceTemplates"), nil
}

func (g *Gateway) listPrompts(ctx context.Context) (json.RawMessage, error) {
	return g.shelf.give(ctx, 2).result("prompts"), nil
}
