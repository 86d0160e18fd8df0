package hub_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
	"github.com/mcphub-go/mcphub/internal/faketime"
)

// modelSeeds is how many random histories a run goes through, a fifteenth of them with -short, since the explorer of
// hub/core plays all orders of what the hub decides. One alone: go test -run 'TestModel_long/seed_17$'.
const modelSeeds = 300

// TestModel_long drives a hub with two servers and two windows through random histories of everything that can
// happen to a request, often two things at once, and then checks what must hold after any history (model.check).
func TestModel_long(t *testing.T) {
	t.Parallel()
	seeds := uint64(modelSeeds)
	if testing.Short() {
		seeds /= 15
	}
	happened := &tally{}
	ran := uint64(0)
	for seed := range seeds {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newModel(t, rand.New(rand.NewPCG(seed, 2026)), happened)
				for range 40 {
					m.step()
				}
				m.check()
				m.tell()
			})
			ran++
		})
	}
	if ran == modelSeeds { // with fewer seeds, chance may leave something out
		happened.missing(t)
	}
}

// model is one random history, and what the test knows of it.
type model struct {
	t              *testing.T
	rnd            *rand.Rand // used by the goroutine of the test alone
	w              *world
	legacy, modern *fakeserver.Server
	tasks          map[string]*taskServer // of the same two servers
	asks           atomic.Int64
	witness        *view // attached from start to end; shows no prompt
	happened       *tally
	windows        [2]*modelWindow
	calls          []*modelCall
	background     sync.WaitGroup
	history        []string

	mu        sync.Mutex // guards below
	also      map[string]config.Server
	agreed    map[string]bool // servers whose launch somebody has allowed, or that needed no consent at some time
	questions []*fakeserver.OutRequest
}

type modelCall struct {
	*pendingCall
	id   string
	stop context.CancelCauseFunc
}

const modelLimits = `"timeouts":{"idle":"30s","total":"2m","human":"40s","connect":"20s"}`

func newModel(t *testing.T, rnd *rand.Rand, happened *tally) *model {
	m := &model{t: t, rnd: rnd, happened: happened, also: map[string]config.Server{}, agreed: map[string]bool{}}
	var probe []fakeserver.Option
	if rnd.IntN(2) == 0 {
		probe = append(probe, fakeserver.WithSilentProbe())
	}
	m.tasks = map[string]*taskServer{"legacy": newTaskServer(false, probe...), "modern": newTaskServer(true)}
	for _, s := range m.tasks {
		s.stubborn = rnd.IntN(2) == 0
	}
	m.legacy, m.modern = m.tasks["legacy"].Server, m.tasks["modern"].Server
	for _, s := range []*fakeserver.Server{m.legacy, m.modern} {
		s.Tool("hang", func(c *fakeserver.CallContext) { _ = c.Hang() })
		s.Tool("guarded", func(c *fakeserver.CallContext) { c.Text("ok") })
		s.Tool("echo", func(c *fakeserver.CallContext) { c.Text("ok") })
		s.Tool("fail", func(c *fakeserver.CallContext) { c.Error(-32000, "no") })
		s.Tool("stubborn", func(c *fakeserver.CallContext) {
			wait(c, 7*time.Second)
			c.Text("late")
			c.Text("twice")
		})
		s.Tool("busy", func(c *fakeserver.CallContext) {
			for i := range 12 {
				c.Progress(float64(i), 12, "")
				wait(c, 5*time.Second)
			}
			c.Text("ok")
		})
		s.Tool("die", func(c *fakeserver.CallContext) {
			wait(c, time.Second)
			c.Disconnect()
		})
	}
	m.legacy.Tool("ask", func(c *fakeserver.CallContext) {
		if q := m.ask(); q != nil {
			select {
			case answer, ok := <-q.Response():
				if ok {
					c.Text(answerOf(answer))
				}
			case <-c.Cancelled():
				if len(q.ID)%2 == 0 { // some servers withdraw their question
					q.Cancel("the call was cancelled")
				}
			case <-c.Context().Done():
			case <-time.NewTimer(time.Minute).C:
				c.Text("enough")
			}
		}
	})
	m.modern.Tool("ask", func(c *fakeserver.CallContext) {
		if c.Param("requestState") == nil {
			c.InputRequired(`{"a":{"method":"elicitation/create","params":`+formParams+
				`},"b":{"method":"sampling/createMessage","params":`+sampleParams+`}}`, "s")
			return
		}
		c.Text("ok")
	})
	o := hub.Options{Logger: slog.New(happened)}
	if rnd.IntN(5) == 0 {
		o.StateDir = t.TempDir()
	}
	m.w = editedWorld(t, o, m.edit)
	m.w.servers = map[string]*fakeserver.Server{"legacy": m.legacy, "modern": m.modern}
	m.witness = m.w.attach(hub.Hello{WindowID: "witness"}) // before anything starts
	m.w.loadAs([]string{"host", "workspace"}[rnd.IntN(2)], m.config()...)
	for i := range m.windows {
		m.windows[i] = &modelWindow{m: m, id: fmt.Sprintf("w%d", i)}
		m.windows[i].attach()
	}
	return m
}

// edit sets what choose has chosen for the servers, so that config need not spell it in the dialect of its file.
func (m *model) edit(s *config.Server) {
	m.mu.Lock()
	defer m.mu.Unlock()
	also := m.also[s.Name]
	s.Start, s.IdleStop, s.Tools, s.Env, s.Inputs = also.Start, also.IdleStop, also.Tools, also.Env, also.Inputs
	s.Origin.Trusted, s.Origin.Dialect = also.Origin.Trusted, config.DialectVSCode // which has inputs
	if s.Origin.Scope != "workspace" || s.Origin.Trusted {
		m.agreed[s.Name] = true
	}
}

func (m *model) choose(server string) {
	var also config.Server
	if m.rnd.IntN(4) == 0 {
		also.Start = config.StartEager
	}
	if m.rnd.IntN(3) == 0 {
		also.IdleStop = ptr(time.Duration(1+m.rnd.IntN(20)) * time.Second)
	}
	if m.rnd.IntN(6) == 0 {
		also.Tools.Hidden = []string{"echo"}
	}
	if m.rnd.IntN(3) == 0 {
		value := "${input:v}"
		in := config.Input{ID: "v", Secret: m.rnd.IntN(2) == 0, Origin: config.Origin{File: "test.json"}}
		if m.rnd.IntN(3) == 0 {
			in.Options = []config.InputOption{{Value: "red"}, {Value: "blue"}}
		}
		also.Env, also.Inputs = map[string]*string{"V": &value}, []config.Input{in}
	}
	also.Origin.Trusted = m.rnd.IntN(6) == 0
	m.mu.Lock()
	defer m.mu.Unlock()
	m.also[server] = also
}

func wait(c *fakeserver.CallContext, d time.Duration) {
	select {
	case <-time.NewTimer(d).C:
	case <-c.Context().Done():
	}
}

// ask sends a question of the legacy server, with an id that is never used again. It returns nil if the server is not
// connected.
func (m *model) ask() *fakeserver.OutRequest {
	n := m.asks.Add(1)
	method, params := elicitation, formParams
	if n%3 == 0 {
		method, params = sampling, sampleParams
	}
	q, err := m.legacy.RequestWithID(fmt.Sprintf(`"q%d"`, n), method, params)
	if err != nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.questions = append(m.questions, q)
	return q
}

func (m *model) config() []string {
	entry := func(name string) string {
		m.choose(name)
		e := name + `:"alwaysAllow":["hang","echo","fail","stubborn","busy","die","ask","work"],` + modelLimits
		switch m.rnd.IntN(6) {
		case 0:
			e += `,"args":["-v"]`
		case 1:
			e += `,"disabled":true`
		case 2:
			e += `,"approvals":{"echo":"deny"}`
		case 3:
			e += `,"approvals":{"guarded":"allow"}`
		case 4:
			e += `,"approvals":{"guarded":"deny"}`
		}
		return e
	}
	return []string{entry("legacy"), entry("modern")}
}

// step does one action, or two at the same time, and mostly waits until nothing moves.
func (m *model) step() {
	var now sync.WaitGroup
	for range 1 + m.rnd.IntN(2) {
		name, do := m.action()
		m.history = append(m.history, name)
		now.Go(do)
	}
	now.Wait()
	if bad := m.w.hub.Inconsistent(); bad != "" {
		m.t.Errorf("after %q: %s", m.history[max(0, len(m.history)-2):], bad)
	}
	if m.rnd.IntN(4) > 0 {
		synctest.Wait()
	}
}

// action picks an action. It makes the random choices itself, since do may run at the same time as another action.
func (m *model) action() (name string, do func()) {
	h := m.w.hub
	win := m.windows[m.rnd.IntN(2)]
	server := []string{"legacy", "modern"}[m.rnd.IntN(2)]
	fake := m.w.servers[server]
	switch m.rnd.IntN(27) {
	default:
		return m.begin(server)
	case 6, 7, 8:
		id := fmt.Sprintf("r%d", m.rnd.IntN(len(m.calls)+3)) // over, open, or not yet begun
		return "cancel " + id, func() {
			if _, err := h.CancelRequest(id, "", "reason of "+id, event.OriginUser); err != nil {
				m.t.Errorf("cancel %s: %v", id, err)
			}
		}
	case 9:
		if m.rnd.IntN(2) == 0 {
			return "cancel all of " + server, func() {
				h.CancelRequests(hub.CancelScope{Server: server}, "stop", event.OriginUser)
			}
		}
		open := h.Requests("") // includes the requests of servers
		if len(open) == 0 {
			return "nothing", func() {}
		}
		r := open[m.rnd.IntN(len(open))]
		return "cancel open " + r.ID, func() { _, _ = h.CancelRequest(r.ID, server, "x", event.OriginHost) }
	case 10:
		if len(m.calls) == 0 {
			return "nothing", func() {}
		}
		c := m.calls[m.rnd.IntN(len(m.calls))]
		return "give up " + c.id, func() { c.stop(nil) }
	case 11, 12, 13:
		return win.answer()
	case 14:
		m.mu.Lock()
		defer m.mu.Unlock()
		if len(m.questions) == 0 {
			return "nothing", func() {}
		}
		q := m.questions[m.rnd.IntN(len(m.questions))]
		return "withdraw " + string(q.ID), func() { q.Cancel("never mind") }
	case 15:
		return "a question of no call", func() { m.ask() }
	case 23: // the server fails to start until it is healed
		if m.rnd.IntN(3) > 0 {
			return server + " can start again", func() { m.w.fall(server, nil) }
		}
		return server + " fails to start, and its connection ends", func() {
			m.w.fall(server, &ill{err: errRefused, stderr: []string{"ill"}, exit: "exited with code 1"})
			fake.Disconnect()
		}
	case 16:
		switch m.rnd.IntN(8) {
		case 3:
			return "restart " + server, func() {
				m.background.Go(func() { _, _ = h.RestartServer(context.Background(), server, "anew") })
			}
		case 4:
			on := m.rnd.IntN(3) > 0
			return fmt.Sprintf("%s switched on: %v", server, on), func() {
				_, _ = h.SetServerEnabled(context.Background(), server, on)
			}
		case 0:
			return "death of " + server, fake.Disconnect
		case 1:
			return "stop " + server, func() { _, _ = h.StopServer(context.Background(), server, "stopped") }
		case 2:
			return "start " + server, func() {
				m.background.Go(func() { _, _ = h.StartServer(context.Background(), server) })
			}
		}
		if m.rnd.IntN(2) == 0 {
			tool, of := []string{"guarded", "echo"}[m.rnd.IntN(2)], []string{"one thing", "another"}[m.rnd.IntN(2)]
			return tool + " of " + server + " does " + of, func() {
				fake.ToolWith(fmt.Sprintf(`{"name":%q,"description":%q,"inputSchema":{"type":"object"}}`, tool, of),
					func(c *fakeserver.CallContext) {
						c.Text("ok")
					})
				_ = fake.NotifyToolsChanged()
			}
		}
		return "tools of " + server + " changed", func() { _ = fake.NotifyToolsChanged() }
	case 17:
		d := time.Duration(m.rnd.IntN(20000)) * time.Millisecond
		return "time passes: " + d.String(), func() { faketime.Pass(d) }
	case 18:
		return win.change()
	case 25:
		return win.folders()
	case 20, 21, 22:
		return m.task(server)
	case 24:
		return "some of what is remembered is forgotten", func() {
			for i, r := range h.Remembered("") {
				if i%2 == 0 {
					h.Forget([]string{r.ID})
				}
			}
		}
	case 19:
		entries := m.config()
		scope := []string{"host", "user", "workspace"}[m.rnd.IntN(3)]
		return "reload as " + scope + " " + strings.Join(entries, " "), func() {
			m.happened.add("a reload as " + scope)
			source := hub.ConfigSource{Path: "test.json", Scope: scope, JSON: m.w.config(entries...)}
			if _, problems, _, err := h.LoadConfig(context.Background(), []hub.ConfigSource{source}); err != nil ||
				len(problems) > 0 {
				m.t.Errorf("reload as %s: %v, %v", scope, err, problems)
			}
		}
	}
}

// task lets one of the newest tasks of a server go on, ask or end.
func (m *model) task(server string) (string, func()) {
	s := m.tasks[server]
	s.mu.Lock()
	made := s.made
	s.mu.Unlock()
	if made == 0 {
		return "nothing", func() {}
	}
	id := fmt.Sprintf("T-%d", max(1, made-m.rnd.IntN(3)))
	status := []string{"completed", "completed", "failed", "cancelled", "", "working", "ask", "ask", "ask"}[m.rnd.IntN(9)]
	return fmt.Sprintf("%s of %s: %q", id, server, status), func() {
		if status == "ask" {
			s.ask(id)
		} else {
			s.set(id, status, "words")
		}
	}
}

func (m *model) begin(server string) (string, func()) {
	tools := []string{"hang", "guarded", "echo", "fail", "stubborn", "busy", "die", "ask", "ask", "ask", "guarded",
		"guarded", "guarded", "nosuch", "work", "work", "work", "work"}
	c := hub.CallRequest{ID: fmt.Sprintf("r%d", len(m.calls)), Server: server, Tool: tools[m.rnd.IntN(len(tools))],
		Preapproved: m.rnd.IntN(8) == 0}
	if m.rnd.IntN(3) == 0 {
		c.OwnerWindowID = m.windows[m.rnd.IntN(2)].id
	}
	ctx, stop := context.WithCancelCause(context.Background())
	call := &modelCall{id: c.ID, stop: stop, pendingCall: &pendingCall{done: make(chan struct{})}}
	m.calls = append(m.calls, call)
	if !c.Preapproved && m.rnd.IntN(3) == 0 {
		return fmt.Sprintf("the witness begins %s: %s of %s", c.ID, c.Tool, server), func() {
			if err := m.witness.win.CallTool(c, func(r *hub.CallResult, err error) {
				call.result, call.err = r, err
				close(call.done)
			}); err != nil {
				call.err = err
				close(call.done)
			}
		}
	}
	return fmt.Sprintf("begin %s: %s of %s", c.ID, c.Tool, server), func() {
		go func() {
			defer close(call.done)
			call.result, call.err = m.w.hub.CallTool(ctx, c)
		}()
	}
}

// modelWindow is a window that detaches and attaches again with the same id.
type modelWindow struct {
	m     *model
	id    string
	view  *view // nil while detached
	last  *view
	since uint64 // it must have been told everything after this number
}

// kinds returns at least that many of allKinds, and often those of launches and inputs.
func (m *model) kinds(atLeast int) []event.PromptKind {
	kinds := slices.Clone(allKinds[:atLeast+m.rnd.IntN(5-atLeast)])
	if m.rnd.IntN(3) > 0 {
		kinds = append(kinds, event.PromptServerLaunch)
	}
	if m.rnd.IntN(3) > 0 {
		kinds = append(kinds, event.PromptConfigInput)
	}
	return kinds
}

func (w *modelWindow) attach() {
	m := w.m
	hello := hub.Hello{WindowID: w.id, Kinds: m.kinds(1), SamplingTools: true,
		Roots: []hub.Root{{URI: "file:///" + w.id}}}
	if w.last != nil && m.rnd.IntN(3) > 0 {
		hello.ComesBackTo = m.w.hub.ID()
	}
	synctest.Wait() // no event comes before the snapshot
	w.since = m.w.hub.Seq()
	w.view = m.w.attach(hello)
}

func (w *modelWindow) detach(final bool) {
	w.view.win.Detach(final)
	w.last, w.view = w.view, nil
}

func (w *modelWindow) change() (string, func()) {
	kinds := w.m.kinds(0)
	switch choice := w.m.rnd.IntN(4); {
	case w.view == nil:
		w.attach() // not in the action, which may run beside another one: it sets w.view
		return w.id + " attached", func() {}
	case choice == 0:
		win := w.view.win
		return w.id + " shows other kinds", func() { win.SetCapabilities(kinds, true, nil) }
	default:
		final := choice == 1
		w.detach(final)
		return fmt.Sprintf("%s detached (final %v)", w.id, final), func() {}
	}
}

// folders makes an action that opens other folders.
func (w *modelWindow) folders() (string, func()) {
	open := [][]hub.Root{nil, roots("file:///" + w.id), roots("file:///" + w.id),
		roots("file:///both")}[w.m.rnd.IntN(4)]
	if w.view == nil {
		return "nothing", func() {}
	}
	win := w.view.win
	return fmt.Sprintf("%s opens %v", w.id, open), func() { win.SetRoots(open) }
}

// answer makes an action that answers a prompt which this attachment was shown, mostly an open one, and mostly with a
// Yes.
func (w *modelWindow) answer() (string, func()) {
	if w.view == nil {
		return "nothing", func() {}
	}
	w.view.mu.Lock()
	defer w.view.mu.Unlock()
	var prompts []event.PromptInfo
	if s := w.view.start.Snapshot; s != nil {
		prompts = append(prompts, s.Prompts...)
	}
	for _, e := range w.view.events {
		if o, ok := e.Body.(*event.PromptOpened); ok {
			prompts = append(prompts, o.Prompt)
		}
	}
	if len(prompts) == 0 {
		return "nothing", func() {}
	}
	if open := slices.DeleteFunc(slices.Clone(prompts), func(p event.PromptInfo) bool {
		return !w.view.open[p.ID]
	}); len(open) > 0 && w.m.rnd.IntN(4) > 0 {
		prompts = open
	}
	p := prompts[max(0, len(prompts)-1-w.m.rnd.IntN(3))]
	action := []event.Action{event.ActionAccept, event.ActionAccept, event.ActionAccept, event.ActionDecline,
		event.ActionDismiss}[w.m.rnd.IntN(5)]
	a := event.PromptAnswer{PromptID: p.ID, Action: action, Scope: event.ApprovalScope(w.m.rnd.IntN(4))}
	switch p.Kind {
	case event.PromptSampling:
		a.Content = sampleYes
	case event.PromptElicitationForm:
		a.Content = []string{formYes, formYes, `{}`}[w.m.rnd.IntN(3)]
	case event.PromptConfigInput:
		a.Content, a.KeptByHost = []string{`"red"`, `"red"`, `7`}[w.m.rnd.IntN(3)], w.m.rnd.IntN(2) == 0
	}
	win := w.view.win
	return fmt.Sprintf("%s answers %s with %d", w.id, p.ID, a.Action), func() {
		if win.Answer(a) != nil {
			return
		}
		w.m.happened.add(fmt.Sprintf("%s answered with %d for scope %d", p.Kind, a.Action, a.Scope))
		if p.Kind == event.PromptServerLaunch && a.Action == event.ActionAccept {
			w.m.mu.Lock()
			w.m.agreed[p.Server] = true
			w.m.mu.Unlock()
		}
	}
}
