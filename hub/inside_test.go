package hub

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// secret must be in no text that people or programs are told, whoever says it.
const secret = "tok-7731-secret"

// inside is a hub with servers in memory, for tests that look below its exported methods. It lives in a synctest
// bubble.
type inside struct {
	*Hub
	t     *testing.T
	fakes map[string]*fakeserver.Server

	opening sync.Mutex     // guards below
	starts  map[string]int // connections by server
}

// newInside configures these servers, in this order; one without a fake is a program that does not exist. The hub ends
// with the test.
func newInside(t *testing.T, o Options, fakes map[string]*fakeserver.Server, confs ...config.Server) *inside {
	t.Helper()
	h := &inside{t: t, fakes: fakes, starts: map[string]int{}}
	o.Version, o.Open = "test", h.open
	if o.Environ == nil {
		o.Environ = []string{"HOME=/config"}
	}
	h.Hub = New(o)
	h.redactor.Add(secret)
	t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			t.Errorf("closing the hub: %v", err)
		}
		if left := h.Leftovers(); left != "" {
			t.Errorf("left over: %s", left)
		}
	})
	h.reads(confs...)
	return h
}

// inBubble runs a test with a hub that has these servers.
func inBubble(t *testing.T, f func(t *testing.T, h *inside), confs ...config.Server) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, newInside(t, Options{}, nil, confs...)) })
}

// reads makes these entries the config, as if they had been read from a file. An entry that does not say otherwise is
// the host's, with its name for its command.
func (h *inside) reads(confs ...config.Server) {
	h.t.Helper()
	confs = slices.Clone(confs)
	for i := range confs {
		c := &confs[i]
		if c.Command == "" && c.URL == "" {
			c.Command = c.Name
		}
		if c.Origin.Scope == "" {
			c.Origin.Scope = "host"
		}
	}
	h.config.parse = func([]config.Source) config.Contents { return config.Contents{Servers: confs} }
	if _, _, _, err := h.LoadConfig(context.Background(), []ConfigSource{{Path: "test.json", JSON: "{}"}}); err != nil {
		h.t.Fatal(err)
	}
}

func (h *inside) open(conf config.Server, _ func(string)) mcp.Opener {
	return func(ctx context.Context) (*mcp.Link, error) {
		fake := h.fakes[conf.Command]
		if fake == nil {
			return nil, errors.New("no such program: " + conf.Command)
		}
		h.opening.Lock()
		h.starts[conf.Name]++
		h.opening.Unlock()
		p := fake.Start(context.WithoutCancel(ctx))
		return &mcp.Link{Kill: func(string) { p.Kill() },
			Conn: jsonrpc.NewLineConn(p.Stdout, p.Stdin, jsonrpc.LineConnOptions{Close: func() error {
				_ = p.Stdin.Close()
				p.Kill()
				return p.Wait()
			}})}, nil
	}
}

// started is how often a server was connected.
func (h *inside) started(name string) int {
	h.opening.Lock()
	defer h.opening.Unlock()
	return h.starts[name]
}

// the returns a server of the config.
func (h *inside) the(name string) *server {
	h.t.Helper()
	s, err := h.find(name)
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

// view is an attached window, and what it was told. The hub's lock guards it.
type view struct {
	*Window
	start *WindowStart
	told  []event.Event
	ends  []*event.Error
}

func (v *view) Deliver(e event.Event) {
	if len(v.ends) > 0 {
		panic("an event after the end")
	}
	v.told = append(v.told, e)
}

func (v *view) Closed(err *event.Error) { v.ends = append(v.ends, err) }

func (h *inside) try(hello Hello) (*view, error) {
	v := &view{}
	var err error
	v.Window, v.start, err = h.Attach(hello, v)
	return v, err
}

func (h *inside) attach(hello Hello) *view {
	h.t.Helper()
	v, err := h.try(hello)
	if err != nil {
		h.t.Fatal(err)
	}
	return v
}

// heard returns what the window was told since it was asked last, once nothing moves.
func (v *view) heard() (list []event.Event) {
	synctest.Wait()
	v.h.within(func() { list, v.told = v.told, nil })
	return list
}

// wantsRefused checks an error by its code, its reason and a part of its text.
func wantsRefused(t *testing.T, what string, err error, code event.Code, reason, text string) {
	t.Helper()
	e, ok := err.(*event.Error) // itself, not somewhere within
	if !ok || e.Code != code || e.Reason != reason || !strings.Contains(e.Message, text) {
		t.Errorf("%s: error %v, want %s %s with %q", what, err, code, reason, text)
	}
}

// wantReason checks an error by its reason alone.
func wantReason(t *testing.T, err error, reason string) {
	t.Helper()
	if err == nil || event.AsError(err).Reason != reason {
		t.Errorf("error %v, want %s", err, reason)
	}
}
