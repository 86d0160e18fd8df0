package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/toolset"
)

// source is the part of the hub that the shelf uses.
type source interface {
	Tools(ctx context.Context, server string) ([]event.ToolInfo, map[string]*event.Error, error)
	KnownTools(ctx context.Context, server string) ([]event.ToolInfo, map[string]*event.Error, error)
	KnownRest(ctx context.Context, server string) (*hub.Rest, error)
}

// Limits on the starts of servers whose lists are unknown.
const (
	// atOnce is how many such servers are started at the same time, and as many again of those that failed before.
	atOnce = 4
	// A server whose start fails is started again after retryFirst, and then after twice as long each time, up to
	// retryMost, as long as a client is there.
	retryFirst = 2 * time.Second
	retryMost  = 5 * time.Minute
	// patience is how long the first list that a client asks for waits for such servers.
	patience = 10 * time.Second
)

// shelf holds the lists of what the servers offer, in the form for clients. They are made from what the hub knows. A
// server is started for them only if the hub does not know what it offers, not even from an earlier hub.
type shelf struct {
	hub       source
	plain     bool
	mode      string               // Options.Tools
	bound     bool                 // results are bounded
	asks      bool                 // the client asks its user: ApprovalClient
	problem   func(config.Problem) // Options.Problem
	nameTaken func(NameTaken)      // Options.NameTaken
	trouble   func(server string, e *event.Error)
	// changed is called with the lists that have changed, also by two goroutines at once. It must not block.
	changed func(lists changes)

	owners struct{ tools, resources, templates, prompts *owners }

	// present reports whether a client is there. It must not block.
	present func() bool

	// places has a token for each server that is being started to learn its lists, retries for each of those that failed
	// before.
	places, retries chan struct{}
	work            sync.WaitGroup

	mu        sync.Mutex
	closed    bool
	profile   *config.Profile // replaced as a whole, never modified
	said      map[config.Problem]bool
	saidTaken map[string]map[NameTaken]bool // by server
	claimed   sync.Once                     // the names of what was there at the start have their owners
	servers   map[string]*known
	pending   int           // servers present at the start whose lists are still unknown
	settled   chan struct{} // closed when pending has become 0, or patience has passed
	tools     *listing
	rest      [3]*listing // resources, templates, prompts
	revision  uint64      // counts changes of the data of which tools is made
	made      uint64      // the revision when tools was made
	told      struct {
		tools told
		rest  [3]told // as rest
	}
}

// known is what the shelf knows of a server.
type known struct {
	place     int
	ready     bool
	begun     bool // it was started to learn its lists, so they are those of the present connection
	rest      *hub.Rest
	trouble   *event.Error  // why its start to learn its lists failed
	learning  bool          // the goroutine of learn runs
	again     bool          // the goroutine of learn has to look once more
	of        time.Time     // the ready time of the connection on which rest was listed
	tried     time.Time     // when its last start to learn its lists ended
	unvisited bool          // its next start waits for a client
	wake      chan struct{} // cap 1: ends the wait of learn
	anew      time.Time     // the ready time of a connection that was made while learning; rest may already be from it
}

// changes says which lists have changed, or may have, and whether the log level that clients want has.
type changes struct{ tools, resources, prompts, level bool }

func (c *changes) add(o changes) {
	c.tools, c.resources, c.prompts = c.tools || o.tools, c.resources || o.resources, c.prompts || o.prompts
	c.level = c.level || o.level
}

func newShelf(h source, o *Options, profile *config.Profile, changed func(changes)) *shelf {
	s := &shelf{hub: h, plain: o.PlainNames, mode: o.Tools, bound: o.MaxTokens > 0, asks: o.Approval == ApprovalClient,
		profile: profile, changed: changed,
		places: make(chan struct{}, atOnce), retries: make(chan struct{}, atOnce), present: func() bool { return true },
		problem: o.Problem, said: map[config.Problem]bool{}, trouble: o.Trouble,
		nameTaken: o.NameTaken, saidTaken: map[string]map[NameTaken]bool{},
		servers: map[string]*known{}, settled: make(chan struct{}), rest: [3]*listing{{}, {}, {}}}
	s.owners.tools, s.owners.resources = newOwners(), newOwners()
	s.owners.templates, s.owners.prompts = newOwners(), newOwners()
	return s
}

// start begins to learn what the servers in all offer.
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

// choose replaces the profile.
func (s *shelf) choose(p *config.Profile) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.profile = p
}

// profileNow returns the profile, or nil if everything is selected.
func (s *shelf) profileNow() *config.Profile {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.profile
}

// see records the present state of a server, and reports whether it has a new connection. first means that the server
// existed when the gateway opened. see does not block. If two entries have the same name, clients only get the one that
// has precedence.
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
		k = &known{wake: make(chan struct{}, 1)}
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
		k.wakeUp()
	default:
		s.learn(ctx, info.Name, k, first)
	}
	return connected
}

// again learns once more what a server offers.
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
	k := s.servers[server]
	delete(s.servers, server)
	s.mu.Unlock()
	if k != nil {
		k.wakeUp()
		for _, own := range []*owners{s.owners.tools, s.owners.resources, s.owners.templates, s.owners.prompts} {
			own.forget(server)
		}
		s.refresh()
		s.outdated()
	}
}

// outdated reports that the list of tools may have changed.
func (s *shelf) outdated() {
	s.mu.Lock()
	s.revision++
	s.mu.Unlock()
	s.changed(changes{tools: true})
}

// learn finds out what a server offers, on its own goroutine, and tries again if that fails. The lock is held.
func (s *shelf) learn(ctx context.Context, server string, k *known, first bool) {
	if s.closed || k.learning {
		k.again = k.learning
		k.wakeUp()
		return
	}
	k.learning = true
	if first {
		s.pending++
	}
	s.work.Go(func() {
		places, delay := s.places, retryFirst
		for more := true; more; {
			offered, failed := s.look(ctx, server, k, places)
			s.mu.Lock()
			if offered != nil {
				k.rest, k.of = offered, offered.Ready
			}
			if failed { // a connection that this look has made, and that has ended, is no news
				k.again, k.anew = false, time.Time{}
				select {
				case <-k.wake:
				default:
				}
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
			if failed {
				s.waitToRetry(ctx, k, delay-pace)
				places, delay = s.retries, min(2*delay, retryMost)
			} else {
				places, delay = s.places, retryFirst
			}
			s.mu.Lock()
			more = (failed || k.again || !k.anew.Equal(k.of) && !k.anew.IsZero()) && ctx.Err() == nil && s.servers[server] == k
			k.again, k.anew, k.learning = false, time.Time{}, more
			s.mu.Unlock()
		}
	})
}

// waitToRetry waits before the next look at a server that failed: for the delay, and until a client is there. What is
// new about the server ends the wait.
func (s *shelf) waitToRetry(ctx context.Context, k *known, delay time.Duration) {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-k.wake:
		return
	case <-ctx.Done():
		return
	}
	if s.present() {
		return
	}
	s.mu.Lock()
	k.unvisited = true
	s.mu.Unlock()
	select {
	case <-k.wake:
	case <-ctx.Done():
	}
	s.mu.Lock()
	k.unvisited = false
	s.mu.Unlock()
}

func (k *known) wakeUp() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// visited is called when a client asks for a list: starts that wait for a client begin.
func (s *shelf) visited() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.servers {
		if k.unvisited {
			k.wakeUp()
		}
	}
}

// look returns what a server offers apart from its tools, or nil if that is unknown. It starts a server whose lists are
// unknown. failed means that it should be tried again, without a person.
func (s *shelf) look(ctx context.Context, server string, k *known, places chan struct{}) (rest *hub.Rest,
	failed bool) {
	tools, _, err := s.hub.KnownTools(ctx, server)
	unknown := err == nil && len(tools) == 0
	if unknown {
		s.begin(ctx, server, k, places)
	}
	rest, restErr := s.hub.KnownRest(ctx, server)
	if restErr == nil && rest == nil && !unknown {
		s.begin(ctx, server, k, places)
		rest, restErr = s.hub.KnownRest(ctx, server)
	}
	if unknown {
		tools, _, err = s.hub.KnownTools(ctx, server)
	}
	s.mu.Lock()
	if err == nil && len(tools) > 0 && rest != nil {
		k.trouble = nil
	}
	failed = restErr != nil || k.trouble != nil && !slices.Contains(ofPeople, k.trouble.Reason)
	s.mu.Unlock()
	if err == nil && len(tools) > 0 {
		s.warn(server, tools)
	}
	if restErr != nil {
		return nil, failed
	}
	return rest, failed
}

// begin starts a server to learn its lists, when there is a place.
func (s *shelf) begin(ctx context.Context, server string, k *known, places chan struct{}) {
	select {
	case places <- struct{}{}:
	case <-ctx.Done():
		return
	}
	_ = s.startToKnow(ctx, server, k) // the error is recorded
	<-places
}

// startToKnow lists the tools of a server, which starts it, and records the error if that fails.
func (s *shelf) startToKnow(ctx context.Context, server string, k *known) (trouble *event.Error) {
	_, troubles, err := s.hub.Tools(ctx, server)
	trouble = troubles[server]
	if err != nil && trouble == nil {
		trouble = event.AsError(err)
	}
	if ctx.Err() != nil {
		return trouble // the caller stopped waiting, which says nothing about the server
	}
	s.mu.Lock()
	was := k.trouble
	k.tried = time.Now()
	if k.trouble = trouble; trouble == nil {
		k.begun, k.again, k.anew = true, false, time.Time{}
	}
	s.mu.Unlock()
	if trouble != nil && (was == nil || was.Message != trouble.Message) {
		s.trouble(server, trouble)
	}
	return trouble
}

// close waits for the goroutines of learn. The context of start has ended.
func (s *shelf) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.work.Wait()
}

// refresh makes the lists of resources, templates and prompts again from what is known.
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
	own := s.owners
	select {
	case <-s.settled:
	default: // until all servers that are there at the start are known, their order in the config counts, not their speed
		own.resources, own.templates, own.prompts = newOwners(), newOwners(), newOwners()
	}
	now := [3]*listing{resourcesOf(resources, own.resources), templatesOf(templates, own.templates, s.rest[1]),
		promptsOf(prompts, own.prompts, s.plain)}
	differs := func(i int) bool { return !bytes.Equal(now[i].entries, s.rest[i].entries) }
	c := changes{resources: differs(0) || differs(1), prompts: differs(2)}
	s.rest = now
	s.mu.Unlock()
	s.sayTaken(now[2].taken)
	if c.resources || c.prompts {
		s.changed(c)
	}
}

// wait waits until the lists of all servers that existed at the start are known, but not longer than patience.
func (s *shelf) wait(ctx context.Context) {
	select {
	case <-s.settled:
		s.claimed.Do(s.refresh)
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
		return !toolset.ForModels(t) || !profile.Has(t.Server, t.Name)
	}))
	s.sayTaken(made.taken)
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
