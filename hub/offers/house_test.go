package offers_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/offers"
	"github.com/mcphub-go/mcphub/hub/servers"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// house is as much of a hub as offers need: servers in memory, which nobody is asked about. It lives in a synctest
// bubble.
type house struct {
	*offers.Offers
	t     *testing.T
	table *servers.Table
	fakes map[string]*fakeserver.Server
	work  sync.WaitGroup

	mu       sync.Mutex // the lock; guards below
	core     *core.State
	pending  []core.Effect      // to be carried out
	carrying bool               // they are being carried out
	opened   core.RequestNumber // the latest
	held     bool
	draining bool
	all      []offers.Server
	policies map[string]config.Policy // by tool
	starts   map[string]int           // connections by server
}

// newHouse configures these servers, in this order; a name without a fake is a program that does not exist. All are
// stopped at the end, and the goroutines of Go are waited for.
func newHouse(t *testing.T, fakes map[string]*fakeserver.Server, confs ...config.Server) *house {
	h := &house{t: t, core: core.New("house"), fakes: fakes, policies: map[string]config.Policy{},
		starts: map[string]int{}}
	h.Offers = offers.New(h)
	o := servers.Options{House: h, Core: h.core, Apply: h.apply, Logger: slog.New(slog.DiscardHandler), Open: h.open}
	fill(&o.Redactor)
	h.table = servers.NewTable(o)
	h.Update(func() {
		for _, conf := range confs {
			conf.Command = conf.Name
			o := &owner{house: h}
			o.server = h.table.New(servers.Entry{Conf: conf}, servers.Accounts{}, o)
			h.table.Add(o.server, false)
			h.all = append(h.all, offers.Server{Server: o.server, Policy: func(tool string) config.Policy {
				return h.policies[tool]
			}})
		}
	})
	t.Cleanup(func() {
		for _, s := range h.all {
			if _, err := s.Stop(context.Background(), event.OriginShutdown, ""); err != nil {
				t.Errorf("stopping %q: %v", s.Name(), err)
			}
		}
		h.work.Wait()
	})
	return h
}

// fill allocates what p points to: this package must not import the package of its type.
func fill[T any](p **T) { *p = new(T) }

// The house, for offers and for servers.

func (h *house) Update(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.held = true
	defer func() { h.held = false }()
	f()
}

func (h *house) Go(f func()) { h.work.Go(f) }

func (h *house) Draining() bool { return h.draining }

// apply applies an event, and carries out what follows, as a hub does.
func (h *house) apply(e core.Event) {
	for _, effect := range h.core.Apply(time.Now(), e) {
		if r, ok := effect.(core.RequestOpened); ok {
			h.opened = r.Request
		}
		h.pending = append(h.pending, effect)
	}
	if h.carrying {
		return
	}
	h.carrying = true
	for len(h.pending) > 0 {
		next := h.pending[0]
		h.pending = h.pending[1:]
		h.table.CarryOut(next)
	}
	h.carrying = false
}

func (h *house) Find(name string) offers.Server {
	h.mustBeHeld()
	if i := slices.IndexFunc(h.all, func(s offers.Server) bool { return s.Name() == name }); i >= 0 {
		return h.all[i]
	}
	return offers.Server{}
}

func (h *house) NotFound(name string) *event.Error {
	h.mustBeHeld()
	return servers.ErrNotFound(name)
}

func (h *house) All() []offers.Server {
	h.mustBeHeld()
	return h.all
}

func (h *house) mustBeHeld() {
	if !h.held {
		h.t.Error("a method that is called with the lock was called without it")
	}
}

func (h *house) open(conf config.Server, _ func(string)) mcp.Opener {
	return func(ctx context.Context) (*mcp.Link, error) {
		fake := h.fakes[conf.Command]
		if fake == nil {
			return nil, errors.New("no such program: " + conf.Command)
		}
		h.mu.Lock()
		h.starts[conf.Name]++
		h.mu.Unlock()
		p := fake.Start(context.WithoutCancel(ctx))
		return &mcp.Link{Kill: func(string) { p.Kill() },
			Conn: jsonrpc.NewLineConn(p.Stdout, p.Stdin, jsonrpc.LineConnOptions{Close: func() error {
				_ = p.Stdin.Close()
				p.Kill()
				<-p.Done()
				return nil
			}})}, nil
	}
}

// started gives how often a server was started.
func (h *house) started(name string) (n int) {
	h.Update(func() { n = h.starts[name] })
	return n
}

// owner is the hub of one server, which agrees to everything. What it has no method for must not be called.
type owner struct {
	servers.Owner
	house  *house
	server *servers.Server
}

func (o *owner) Prepare(_ context.Context, conf config.Server) (config.Resolved, error) {
	return config.Resolved{Server: conf}, nil
}

func (o *owner) BeginStart(limit time.Duration, expire func()) servers.Start {
	o.house.apply(core.RequestMade{Prefix: "start", Server: o.server.Number(), Name: o.server.Name(), Start: true})
	return start{o.house, o.house.opened, time.AfterFunc(limit, expire)}
}

func (o *owner) Connect(servers.Start, core.ConnectionNumber) (servers.Client, mcp.Options) {
	return client{owner: o}, mcp.Options{Client: mcp.Implementation{Name: "test", Version: "1"}}
}

func (o *owner) Info() event.ServerInfo     { return o.server.Info() }
func (o *owner) Ordered(bool)               {}
func (o *owner) TookEffect(context.Context) {}
func (o *owner) SeeWithdrawals()            {}
func (o *owner) Refusal() error             { return nil }
func (o *owner) MustAsk() bool              { return false }
func (o *owner) Leaving() []<-chan struct{} { return nil }
func (o *owner) Shown(core.ServerShown)     {}
func (o *owner) ToolsChanged()              {}
func (o *owner) Up()                        {}
func (o *owner) Rested()                    {}
func (o *owner) Stderr(string)              {}

// start is the request of a start, reduced to its time limit.
type start struct {
	house   *house
	request core.RequestNumber
	limit   *time.Timer
}

func (s start) End(err *event.Error, e core.StartOver) {
	s.limit.Stop()
	e.Request, e.Failed = s.request, err != nil
	s.house.apply(e)
}

// client receives the notifications of a server.
type client struct {
	mcp.Handler
	owner *owner
}

func (c client) Capabilities() mcp.Capabilities     { return mcp.Capabilities{} }
func (c client) Offers() (was, is mcp.Capabilities) { return was, is }
func (c client) ToolsChanged()                      { c.owner.house.Update(c.owner.server.ToolsOutdated) }
func (c client) ResourcesChanged()                  {}
func (c client) PromptsChanged()                    {}
func (c client) ResourceUpdated(string)             {}
func (c client) LateResponse(jsonrpc.ID)            {}

// wants checks an error by its code, its reason and a part of its text.
func wants(t *testing.T, what string, err error, code event.Code, reason, text string) {
	t.Helper()
	e, ok := err.(*event.Error) // itself, not somewhere within
	if !ok || e.Code != code || e.Reason != reason || !strings.Contains(e.Message, text) {
		t.Errorf("%s: error %v, want %s %s with %q", what, err, code, reason, text)
	}
}
