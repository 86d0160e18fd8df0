package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
	"github.com/mcphub-go/mcphub/internal/faketime"
)

// world is a hub with servers in memory. It lives in a synctest bubble: time is fake, and synctest.Wait waits until
// nothing moves, that is until all goroutines are blocked.
type world struct {
	t   *testing.T
	hub *hub.Hub

	mu      sync.Mutex // guards below
	servers map[string]*fakeserver.Server
	procs   map[string][]*fakeserver.Process
	killed  map[string]string // what Link.Kill was told
	ills    map[string]*ill   // how the processes of a server misbehave
	live    map[string]int    // processes that have not ended
	most    map[string]int    // of those at once
	opened  []config.Server   // what was started, in order
	stderr  map[string]func(line string)
}

// newWorld configures the servers by name, each with the given members of its entry (JSON members such as
// `"era":"legacy"`), and closes all at the end.
func newWorld(t *testing.T, servers map[string]*fakeserver.Server, entries ...string) *world {
	return newWorldIn(t, "", servers, entries...)
}

func newWorldIn(t *testing.T, stateDir string, servers map[string]*fakeserver.Server, entries ...string) *world {
	t.Helper()
	return newWorldWith(t, hub.Options{StateDir: stateDir}, servers, entries...)
}

func newWorldWith(t *testing.T, o hub.Options, servers map[string]*fakeserver.Server, entries ...string) *world {
	t.Helper()
	w := &world{t: t, servers: servers, procs: map[string][]*fakeserver.Process{}, killed: map[string]string{},
		ills: map[string]*ill{}, stderr: map[string]func(string){}}
	w.live, w.most = map[string]int{}, map[string]int{}
	o.Version = "test"
	if o.RoundTripper == nil && o.Open == nil {
		o.Open = w.open
	}
	w.hub = hub.New(o)
	t.Cleanup(func() {
		if err := w.hub.Close(context.Background()); err != nil {
			t.Errorf("closing the hub: %v", err)
		}
		if _, diff, complete := w.hub.Replayed(); complete && diff != "" {
			t.Errorf("played again, the core orders something else (-then +now):\n%s", diff)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, procs := range w.procs {
			for _, p := range procs {
				_ = p.Wait()
			}
		}
	})
	w.load(entries...)
	return w
}

// editedWorld is a world in which edit changes each server's config whenever it is loaded. It has no servers before
// load.
func editedWorld(t *testing.T, o hub.Options, edit func(*config.Server)) *world {
	t.Helper()
	w := newWorldWith(t, o, nil)
	w.hub.EditConfig(edit)
	return w
}

// load writes a config with an entry for each server; an entry is `name: members`.
func (w *world) load(entries ...string) []string {
	w.t.Helper()
	return w.loadAs("host", entries...)
}

// loadAs is load of a file that belongs to a user, a workspace or the host.
func (w *world) loadAs(scope string, entries ...string) []string {
	w.t.Helper()
	_, problems, stopped, err := w.hub.LoadConfig(context.Background(),
		[]hub.ConfigSource{{Path: "test.json", Scope: scope, JSON: w.config(entries...)}})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, p := range problems {
		w.t.Errorf("config: %v", p)
	}
	return stopped
}

func (w *world) config(entries ...string) string {
	var members []string
	named := map[string]bool{}
	for _, e := range entries {
		name, rest, _ := strings.Cut(e, ":")
		named[name] = true
		members = append(members, fmt.Sprintf(`%q:{"command":%q,%s}`, name, name, rest))
	}
	for name := range w.servers {
		if !named[name] {
			members = append(members, fmt.Sprintf(`%q:{"command":%q}`, name, name))
		}
	}
	slices.Sort(members)
	return `{"mcpServers":{` + strings.Join(members, ",") + `}}`
}

func (w *world) open(s config.Server, stderr func(string)) mcp.Opener {
	return func(context.Context) (*mcp.Link, error) {
		ails, err := w.ail(s.Command, stderr)
		if err != nil {
			return nil, err
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.opened = append(w.opened, s)
		w.stderr[s.Command] = stderr
		fake := w.servers[s.Command]
		if fake == nil {
			return nil, errors.New("no such program: " + s.Command)
		}
		p := fake.Start(context.Background())
		w.procs[s.Command] = append(w.procs[s.Command], p)
		w.live[s.Command]++
		w.most[s.Command] = max(w.most[s.Command], w.live[s.Command])
		ends := sync.OnceFunc(func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.live[s.Command]--
		})
		conn := jsonrpc.NewLineConn(p.Stdout, p.Stdin, jsonrpc.LineConnOptions{Close: func() error {
			_ = p.Stdin.Close()
			p.Kill() // a fake that hangs has to end, as a process is made to
			<-p.Done()
			ails.linger()
			ends()
			return nil
		}})
		return &mcp.Link{Conn: conn, Exit: ails.exited, Ended: ails.ended, Kill: func(why string) {
			w.mu.Lock()
			w.killed[s.Command] = why
			w.mu.Unlock()
			p.Kill()
		}}, nil
	}
}

func (w *world) starts(name string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.procs[name])
}

// call runs a tool call in the background.
func (w *world) call(c hub.CallRequest) *pendingCall { return w.callContext(context.Background(), c) }

func (w *world) callContext(ctx context.Context, c hub.CallRequest) *pendingCall {
	p := &pendingCall{done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.result, p.err = w.hub.CallTool(ctx, c)
	}()
	return p
}

type pendingCall struct {
	done   chan struct{}
	result *hub.CallResult
	err    error
}

func (p *pendingCall) over() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// cancelled checks that the call ended since somebody cancelled it, and gives its error.
func (p *pendingCall) cancelled(t *testing.T) *event.Error {
	t.Helper()
	return p.want(t, event.CodeCancelled, event.ReasonCancelled)
}

// want checks that the call ended with an error of that code and reason, and gives it.
func (p *pendingCall) want(t *testing.T, code event.Code, reason string) *event.Error {
	t.Helper()
	<-p.done
	e, ok := errors.AsType[*event.Error](p.err)
	if !ok {
		t.Fatalf("the call ended with result %+v, error %v; want %s %s", p.result, p.err, code, reason)
	}
	if e.Code != code || e.Reason != reason {
		t.Fatalf("the call ended with %s %s (%s); want %s %s", e.Code, e.Reason, e.Message, code, reason)
	}
	return e
}

// ok checks that the call ended with a result, and gives it.
func (p *pendingCall) ok(t *testing.T) *hub.CallResult {
	t.Helper()
	<-p.done
	if p.err != nil {
		t.Fatalf("the call failed: %v", p.err)
	}
	return p.result
}

// begin calls a tool of server s, and returns when nothing moves.
func (w *world) begin(id, tool string) *pendingCall {
	defer synctest.Wait()
	return w.call(hub.CallRequest{ID: id, Server: "s", Tool: tool})
}

// withWindow is a world with server s, whose tools need no approval, and a window that can show everything.
func withWindow(t *testing.T, s *fakeserver.Server) (*world, *view) {
	t.Helper()
	w := newWorld(t, serversOf("s", s), "s:"+allow)
	return w, w.everything()
}

// together does things at the same instant.
func together(things ...func()) {
	var all sync.WaitGroup
	for _, do := range things {
		all.Go(do)
	}
	all.Wait()
}

var allKinds = []event.PromptKind{event.PromptToolApproval, event.PromptSampling, event.PromptElicitationForm,
	event.PromptElicitationURL}

// view is a window of a test: it keeps what it was told and checks what every window may rely on.
type view struct {
	t     *testing.T
	win   *hub.Window
	start *hub.WindowStart

	mu     sync.Mutex
	events []event.Event
	early  []event.Event
	seq    uint64
	ended  map[string]bool // requests with a terminal event
	open   map[string]bool // prompts
	closed *event.Error
}

func (w *world) attach(hello hub.Hello) *view {
	w.t.Helper()
	v, err := w.tryAttach(hello)
	if err != nil {
		w.t.Fatal(err)
	}
	return v
}

func (w *world) tryAttach(hello hub.Hello) (*view, error) {
	v := &view{t: w.t, ended: map[string]bool{}, open: map[string]bool{}}
	win, start, err := w.hub.Attach(hello, v)
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.win, v.start = win, start
	for _, p := range start.Snapshot.Prompts {
		v.open[p.ID] = true
	}
	for _, e := range slices.Concat(start.Events, v.early) {
		v.take(e)
	}
	return v, nil
}

// everything attaches a window that can show every kind.
func (w *world) everything() *view {
	return w.attach(hub.Hello{Kinds: allKinds, SamplingTools: true})
}

func (v *view) Deliver(e event.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.start == nil { // what follows the start may come before Attach has returned it
		v.early = append(v.early, e)
		return
	}
	v.take(e)
}

func (v *view) take(e event.Event) {
	if e.Seq <= v.seq {
		v.t.Errorf("sequence %d after %d", e.Seq, v.seq)
	}
	v.seq = e.Seq
	v.events = append(v.events, e)
	switch b := e.Body.(type) {
	case *event.RequestCancelled:
		v.terminal(b.RequestID)
	case *event.RequestFinished:
		v.terminal(b.RequestID)
	case *event.PromptOpened:
		v.open[b.Prompt.ID] = true
	case *event.PromptClosed:
		if _, known := v.open[b.PromptID]; known && !v.open[b.PromptID] {
			v.t.Errorf("prompt %s closed twice", b.PromptID)
		}
		v.open[b.PromptID] = false
	}
}

func (v *view) terminal(id string) {
	if v.ended[id] {
		v.t.Errorf("request %s ended twice", id)
	}
	v.ended[id] = true
}

func (v *view) Closed(err *event.Error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = err
}

// eventsOf gives the bodies of one type, once nothing moves.
func eventsOf[T event.Body](v *view) []T {
	synctest.Wait()
	v.mu.Lock()
	defer v.mu.Unlock()
	var list []T
	for _, e := range v.events {
		if b, ok := e.Body.(T); ok {
			list = append(list, b)
		}
	}
	return list
}

// last gives the newest body of one type.
func last[T event.Body](v *view) T {
	v.t.Helper()
	list := eventsOf[T](v)
	if len(list) == 0 {
		v.t.Fatalf("no event of type %T came", *new(T))
	}
	return list[len(list)-1]
}

// prompt gives the one open prompt, once nothing moves.
func (v *view) prompt() event.PromptInfo {
	v.t.Helper()
	synctest.Wait()
	v.mu.Lock()
	defer v.mu.Unlock()
	var found []event.PromptInfo
	for _, e := range v.events {
		if b, ok := e.Body.(*event.PromptOpened); ok && v.open[b.Prompt.ID] {
			found = append(found, b.Prompt)
		}
	}
	if v.start.Snapshot != nil {
		for _, p := range v.start.Snapshot.Prompts {
			if v.open[p.ID] {
				found = append(found, p)
			}
		}
	}
	if len(found) != 1 {
		v.t.Fatalf("%d prompts are open, want 1", len(found))
	}
	return found[0]
}

func (v *view) answer(a event.PromptAnswer) {
	v.t.Helper()
	if err := v.win.Answer(a); err != nil {
		v.t.Fatalf("answer: %v", err)
	}
}

// cancel cancels a request as the user of the window.
func (v *view) cancel(id, why string) {
	v.t.Helper()
	if out, err := v.win.Cancel(id, why); out != event.OutcomeCancelling || err != nil {
		v.t.Fatalf("the cancel gave %v, %v", out, err)
	}
}

// accept answers the one open prompt with a Yes.
func (v *view) accept(content string) {
	v.t.Helper()
	v.answer(event.PromptAnswer{PromptID: v.prompt().ID, Action: event.ActionAccept, Content: content})
}

// decline answers the one open prompt with a No.
func (v *view) decline() {
	v.t.Helper()
	v.answer(event.PromptAnswer{PromptID: v.prompt().ID, Action: event.ActionDecline})
}

// pass lets fake time go by, and then waits until nothing moves.
func pass(d time.Duration) {
	faketime.Pass(d)
	synctest.Wait()
}

// bubble is a whole test in fake time, which runs beside others.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, f)
}

// subtest is a subtest in fake time.
func subtest(t *testing.T, name string, f func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}

// cancels returns the params of the cancel notifications that a fake server got.
func cancels(s *fakeserver.Server) []string {
	synctest.Wait()
	var list []string
	for _, m := range s.Received() {
		if m.Method == "notifications/cancelled" {
			list = append(list, string(m.Params))
		}
	}
	return list
}

// responses gives the responses that a fake server got.
func responses(s *fakeserver.Server) []string {
	synctest.Wait()
	var list []string
	for _, m := range s.Received() {
		if m.IsResponse() {
			list = append(list, m.Raw)
		}
	}
	return list
}

func toolCalls(s *fakeserver.Server) int {
	synctest.Wait()
	return s.Count(fakeserver.Method("tools/call"))
}

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return m
}

// allow is an entry whose tools need no approval.
const allow = `"alwaysAllow":["*"]`

// hanging is a server with a tool that works until it is cancelled, and one that answers at once.
func hanging(opts ...fakeserver.Option) *fakeserver.Server {
	s := fakeserver.New(opts...)
	s.Tool("hang", func(c *fakeserver.CallContext) { _ = c.Hang() })
	s.Tool("echo", func(c *fakeserver.CallContext) { c.Text("hello") })
	return s
}

func serversOf(name string, s *fakeserver.Server) map[string]*fakeserver.Server {
	return map[string]*fakeserver.Server{name: s}
}

// terminals returns the terminal events that v was told, in order, by request.
func (v *view) terminals() map[string]string {
	synctest.Wait()
	v.mu.Lock()
	defer v.mu.Unlock()
	ends := map[string]string{}
	for _, e := range v.events {
		switch b := e.Body.(type) {
		case *event.RequestCancelled:
			ends[b.RequestID] += "cancelled "
		case *event.RequestFinished:
			ends[b.RequestID] += b.State.String() + " "
		}
	}
	return ends
}

// terminalOf gives the one terminal event of a request.
func (v *view) terminalOf(id string) event.Body {
	v.t.Helper()
	var found []event.Body
	for _, e := range eventsOf[*event.RequestCancelled](v) {
		if e.RequestID == id {
			found = append(found, e)
		}
	}
	for _, e := range eventsOf[*event.RequestFinished](v) {
		if e.RequestID == id {
			found = append(found, e)
		}
	}
	if len(found) != 1 {
		v.t.Fatalf("request %s has %d terminal events", id, len(found))
	}
	return found[0]
}

// lastSeq is the number of the last event that the window was told.
func (v *view) lastSeq() uint64 {
	synctest.Wait()
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.seq
}

// back attaches v's window again.
func (w *world) back(v *view, kinds []event.PromptKind) *view {
	return w.attach(hub.Hello{WindowID: v.win.ID(), Kinds: kinds, SamplingTools: true, ComesBackTo: w.hub.ID(),
		MaxHistory: 10})
}
