package ipc

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/catalog"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/config/edit"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/journal"
	"github.com/mcphub-go/mcphub/hub/proposal"
	"github.com/mcphub-go/mcphub/hub/sources"
	"github.com/mcphub-go/mcphub/hub/toolset"
	"github.com/mcphub-go/mcphub/internal/faketime"
)

// fakeHub is a domain that notes what it is asked, and answers something of each kind, or fails. A test drives its
// windows, whose orders run on goroutines.
type fakeHub struct {
	// nil: a result
	call     func(ctx context.Context, c hub.CallRequest) (*hub.CallResult, error)
	failure  error         // of every method that can fail
	full     bool          // windows have too much under way
	hold     chan struct{} // when not nil, requests wait for it
	draining bool
	panics   bool            // in orders to servers, and while a window attaches
	entries  int             // how many resources there are beyond one
	early    []event.Body    // delivered while a window attaches
	start    hub.WindowStart // what windows are sent first

	orders sync.WaitGroup // of windows, while they run

	mu      sync.Mutex // guards below
	seq     uint64
	windows []*fakeWindow
	asked   []string
}

type fakeWindow struct {
	hub  *fakeHub
	id   string
	sink hub.Sink

	mu     sync.Mutex // guards detach
	detach []bool
}

// did notes what the hub was asked.
func (h *fakeHub) did(what string, args ...any) {
	for _, a := range args {
		what += " " + plain(reflect.ValueOf(a))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, what)
}

// plain returns a value as text. Of structs, the fields that are set are shown.
func plain(v reflect.Value) string {
	var parts []string
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Field(i).IsZero() {
				parts = append(parts, v.Type().Field(i).Name+":"+plain(v.Field(i)))
			}
		}
		return "{" + strings.Join(parts, " ") + "}"
	case reflect.Slice:
		for i := range v.Len() {
			parts = append(parts, plain(v.Index(i)))
		}
		return "[" + strings.Join(parts, " ") + "]"
	case reflect.String:
		if v.Len() == 0 {
			return `""`
		}
	}
	return fmt.Sprint(v)
}

func (h *fakeHub) ID() string         { return "hub-1" }
func (h *fakeHub) Version() string    { return "1.2.3" }
func (h *fakeHub) Draining() bool     { return h.draining }
func (h *fakeHub) WatchConfig(w bool) { h.did("WatchConfig", w) }

func (h *fakeHub) SetHostPolicy(p hub.HostPolicy) { h.did("SetHostPolicy", p) }

func (h *fakeHub) Config() configFiles    { return fakeFiles{hub: h} }
func (h *fakeHub) Catalog() serverCatalog { return fakeCatalog{h} }

func (h *fakeHub) ModelTools() *toolset.Catalog {
	return toolset.NewCatalog(h, "", slog.New(slog.DiscardHandler))
}

func (h *fakeHub) Profiles() []config.Profile {
	return []config.Profile{{Name: "p", Servers: []string{"s"}, Origin: config.Origin{File: "f.json", Line: 3}}}
}

// Requests, which wait for hold.

func (h *fakeHub) request(ctx context.Context, what string, c any, r *hub.CallResult) (*hub.CallResult, error) {
	h.did(what, c)
	return r, h.wait(ctx, what)
}

func (h *fakeHub) wait(ctx context.Context, what string) error {
	if h.hold == nil {
		return h.failure
	}
	select {
	case <-h.hold:
		return h.failure
	case <-ctx.Done():
		h.did(what+" ends:", context.Cause(ctx))
		return ctx.Err()
	}
}

func (h *fakeHub) CallTool(ctx context.Context, c hub.CallRequest) (*hub.CallResult, error) {
	if h.call != nil {
		return h.call(ctx, c)
	}
	r := &hub.CallResult{RequestID: c.ID, Result: json.RawMessage(`{"content":[]}`), Rounds: 1}
	if c.Arguments != "" {
		r.Result = json.RawMessage(c.Arguments)
	}
	if c.Tool == "wrong" {
		r.Result, r.Error = nil, &event.McpError{Code: -32000, Message: "no", Data: "[1]"}
	}
	return h.request(ctx, "CallTool", c, r)
}

func (h *fakeHub) ReadResource(ctx context.Context, c hub.CallRequest) (*hub.CallResult, error) {
	return h.request(ctx, "ReadResource", c, &hub.CallResult{RequestID: c.ID, Result: []byte(`{"contents":[]}`)})
}

func (h *fakeHub) GetMcpPrompt(ctx context.Context, c hub.CallRequest) (*hub.CallResult, error) {
	return h.request(ctx, "GetMcpPrompt", c, &hub.CallResult{RequestID: c.ID, Result: []byte(`{"messages":[]}`)})
}

func (h *fakeHub) Complete(ctx context.Context, c hub.Completion) (*hub.CallResult, error) {
	return h.request(ctx, "Complete", c, &hub.CallResult{Result: []byte(`{"completion":{"values":[]}}`)})
}

func (h *fakeHub) CancelRequest(id, server, reason string, by event.Origin) (event.Outcome, error) {
	h.did("CancelRequest", id, server, reason, by)
	if id == "open" {
		return event.OutcomeCancelling, h.failure
	}
	return event.OutcomeUnknown, h.failure
}

func (h *fakeHub) CancelRequests(scope hub.CancelScope, reason string, by event.Origin) []string {
	h.did("CancelRequests", scope, reason, by)
	return []string{"a", "b"}
}

func (h *fakeHub) Requests(server string) []event.RequestInfo {
	return []event.RequestInfo{{ID: "r1", Server: server}}
}

func (h *fakeHub) ReadRequest(id string, part journal.Part, offset int64, limit int) (journal.Piece, error) {
	h.did("ReadRequest", id, part, offset, limit)
	return journal.Piece{Text: "text", Offset: offset, Next: offset + 1, Size: 99}, h.failure
}

func (h *fakeHub) Traces(f event.TraceFilter) []event.TraceInfo {
	h.did("Traces", f)
	return []event.TraceInfo{{Request: event.RequestInfo{ID: f.RequestID, Server: f.Server}, Omitted: f.Max}}
}

func (h *fakeHub) TraceBundle() map[string]any { return map[string]any{"about": "this"} }

func (h *fakeHub) Drain(_ context.Context, reason string) (int, int) {
	h.did("Drain", reason)
	return 3, 2
}

// Servers and what they offer.

func (h *fakeHub) server(s event.ServerInfo, what, name string, args ...any) (event.ServerInfo, error) {
	h.did(what, append([]any{name}, args...)...)
	if h.panics {
		panic("secret of the hub")
	}
	s.Name = name
	return s, h.failure
}

func (h *fakeHub) Servers() ([]event.ServerInfo, []event.ConfigProblem) {
	return []event.ServerInfo{{Name: "s"}}, []event.ConfigProblem{{Message: "odd"}}
}

func (h *fakeHub) LoadConfig(_ context.Context, s []hub.ConfigSource) ([]event.ServerInfo, []event.ConfigProblem,
	[]string, error) {
	if s == nil {
		h.did("LoadConfig of the same sources")
	} else {
		h.did("LoadConfig", s)
	}
	return []event.ServerInfo{{Name: "s"}}, []event.ConfigProblem{{Message: "odd"}}, []string{"gone"}, h.failure
}

func (h *fakeHub) StartServer(_ context.Context, name string) (event.ServerInfo, error) {
	return h.server(event.ServerInfo{State: event.ServerReady}, "StartServer", name)
}

func (h *fakeHub) StartWorkspaceEntry(_ context.Context, name string) (event.ServerInfo, error) {
	return h.server(event.ServerInfo{State: event.ServerReady}, "StartWorkspaceEntry", name)
}

func (h *fakeHub) LaunchQuestion(_ context.Context, name string) (*event.LaunchQuestion, bool, error) {
	h.did("LaunchQuestion", name)
	return &event.LaunchQuestion{Command: "c", Hash: "h"}, true, h.failure
}

func (h *fakeHub) AllowLaunch(_ context.Context, name, hash string,
	scope event.ApprovalScope) (event.ServerInfo, error) {
	return h.server(event.ServerInfo{State: event.ServerStopped}, "AllowLaunch", name, hash, scope)
}

func (h *fakeHub) StopServer(_ context.Context, name, reason string) (event.ServerInfo, error) {
	return h.server(event.ServerInfo{State: event.ServerStopped}, "StopServer", name, reason)
}

func (h *fakeHub) RestartServer(_ context.Context, name, reason string) (event.ServerInfo, error) {
	return h.server(event.ServerInfo{State: event.ServerReady}, "RestartServer", name, reason)
}

func (h *fakeHub) SetServerEnabled(_ context.Context, name string, on bool) (event.ServerInfo, error) {
	state := map[bool]event.ServerState{false: event.ServerDisabled, true: event.ServerStopped}[on]
	return h.server(event.ServerInfo{State: state}, "SetServerEnabled", name, on)
}

func (h *fakeHub) MuteServer(name string, muted bool) (event.ServerInfo, error) {
	return h.server(event.ServerInfo{Muted: muted}, "MuteServer", name, muted)
}

func (h *fakeHub) SignIn(_ context.Context, name string) (event.ServerInfo, error) {
	return h.server(event.ServerInfo{SignIn: event.SignInSignedIn}, "SignIn", name)
}

func (h *fakeHub) SignOut(_ context.Context, name string) (event.ServerInfo, error) {
	return h.server(event.ServerInfo{SignIn: event.SignInNeeded}, "SignOut", name)
}

func (h *fakeHub) Tools(_ context.Context, server string) ([]event.ToolInfo, map[string]*event.Error, error) {
	h.did("Tools", server)
	return []event.ToolInfo{{Server: "s", Name: "t"}}, map[string]*event.Error{
		"z": {Code: event.CodeUnavailable, Reason: event.ReasonServerFailed, Message: "no z"},
		"a": {Code: event.CodeUnavailable, Reason: event.ReasonServerFailed, Message: "no a"},
	}, h.failure
}

func (h *fakeHub) KnownTools(_ context.Context, server string) ([]event.ToolInfo, map[string]*event.Error, error) {
	h.did("KnownTools", server)
	const definition = `{"inputSchema":{"type":"object","properties":{"p":{"$ref":"#/$defs/p"}},` +
		`"$defs":{"p":{"minLength":1}}},"annotations":{"readOnlyHint":true}}`
	return []event.ToolInfo{{Server: "s", Name: "t", Title: "T", Description: "Does it", Definition: definition,
		Policy: event.PolicyAsk, Cached: true}, {Server: "s", Name: "odd"}}, nil, h.failure
}

func (h *fakeHub) SetLogLevel(_ context.Context, server, level string) error {
	h.did("SetLogLevel", server, level)
	return h.failure
}

func (h *fakeHub) Resources(_ context.Context, server string) ([]event.ResourceInfo, error) {
	all := []event.ResourceInfo{{Server: server, URI: "file:///a"}}
	for i := range h.entries {
		all = append(all, event.ResourceInfo{Server: server, URI: fmt.Sprint("file:///", i)})
	}
	return all, h.failure
}

func (h *fakeHub) ResourceTemplates(_ context.Context, server string) ([]event.ResourceTemplateInfo, error) {
	return []event.ResourceTemplateInfo{{Server: server, URITemplate: "file:///{a}"}}, h.failure
}

func (h *fakeHub) McpPrompts(_ context.Context, server string) ([]event.McpPromptInfo, error) {
	return []event.McpPromptInfo{{Server: server, Name: "p",
		Arguments: []event.McpPromptArgument{{Name: "a", Required: true}}}}, h.failure
}

func (h *fakeHub) SubscribeResource(_ context.Context, server, uri string) error {
	h.did("SubscribeResource", server, uri)
	return h.failure
}

func (h *fakeHub) UnsubscribeResource(_ context.Context, server, uri string) error {
	h.did("UnsubscribeResource", server, uri)
	return h.failure
}

func (h *fakeHub) Remembered(server string) []event.Remembered {
	return []event.Remembered{{ID: "r", Kind: event.RememberedApproval, Server: server, Tool: "t",
		Scope: event.ScopeWorkspace, Folders: []string{"/w"}}}
}

func (h *fakeHub) Forget(ids []string) int {
	h.did("Forget", ids)
	return len(ids)
}

// fakeFiles adds servers to a file.
type fakeFiles struct {
	configFiles // what no test asks for
	hub         *fakeHub
}

func (f fakeFiles) AddServer(_ context.Context, to sources.Target, form edit.Form, _ edit.Settings) (sources.Written,
	error) {
	f.hub.did("AddServer", to, form)
	if f.hub.failure != nil {
		return sources.Written{}, f.hub.failure
	}
	return sources.Written{Server: to.Server, File: "f.json"}, nil
}

// fakeCatalog finds one server, and a bundle.
type fakeCatalog struct{ hub *fakeHub }

func (c fakeCatalog) Search(ctx context.Context, base string, q catalog.Query) (catalog.Page, error) {
	c.hub.did("Search", base, q)
	return catalog.Page{Servers: []catalog.Server{filled[catalog.Server]()}, Next: "next", LeftOut: 2},
		c.hub.wait(ctx, "Search")
}

func (c fakeCatalog) Server(_ context.Context, base, name, version string) (catalog.Server, []catalog.Offer, error) {
	c.hub.did("Server", base, name, version)
	http := &proposal.Proposal{Server: "web", URL: proposal.Literal("https://example.com"), Transport: "http",
		Headers: []proposal.Named{{Name: "H", Text: proposal.Text{{Input: "in"}}}}, Inputs: []proposal.Input{{ID: "in"}}}
	return catalog.Server{Name: name, Version: version, Status: catalog.Deleted}, []catalog.Offer{c.offer("p"),
		{ID: "q", Proposal: http}, {ID: "r", Proposal: &proposal.Proposal{Unusable: "no", Warnings: []string{"odd"}}},
		{ID: "s", Proposal: &proposal.Proposal{Download: &proposal.Download{}}}}, c.hub.failure
}

func (fakeCatalog) offer(id string) catalog.Offer {
	in := filled[proposal.Input]()
	return catalog.Offer{ID: id, Bundle: new(filled[catalog.Bundle]()), Proposal: &proposal.Proposal{Server: "local",
		Kind: "npm", Subject: "subject", Command: "npx", Dir: "/d", Args: []proposal.Group{{proposal.Literal("-y")}},
		Env: []proposal.Named{{Name: "E", Text: proposal.Text{{Input: in.ID}}}}, Inputs: []proposal.Input{in}}}
}

func (c fakeCatalog) ReadBundle(_ context.Context, file string) (catalog.Offer, error) {
	c.hub.did("ReadBundle", file)
	return c.offer("of " + file), c.hub.failure
}

func (c fakeCatalog) FetchBundle(_ context.Context, id string) (catalog.Offer, error) {
	c.hub.did("FetchBundle", id)
	return c.offer("of " + id), c.hub.failure
}

func (c fakeCatalog) Fill(id string, values map[string][]string) (proposal.Entry, error) {
	c.hub.did("Fill", id, values)
	return proposal.Entry{Server: "local", Command: "npx", Missing: []string{"in"}}, c.hub.failure
}

func (c fakeCatalog) Unpack(_ context.Context, id string) (undo func(), err error) {
	c.hub.did("Unpack", id)
	return func() { c.hub.did("undo of Unpack", id) }, nil
}

// Windows.

func (h *fakeHub) Attach(hello hub.Hello, sink hub.Sink) (window, *hub.WindowStart, error) {
	h.did("Attach", hello)
	if h.panics {
		panic("secret of the hub")
	}
	if h.failure != nil {
		return nil, nil, h.failure
	}
	for _, b := range h.early {
		sink.Deliver(event.Event{Body: b})
	}
	w, start := &fakeWindow{hub: h, id: hello.WindowID, sink: sink}, h.start
	if w.id == "" {
		w.id = "minted"
	}
	if start.Snapshot == nil {
		start.Snapshot = &event.Snapshot{Time: time.Now()}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.windows = append(h.windows, w)
	return w, &start, nil
}

// emit delivers an event to every window, as the hub does: under its lock, one after the other.
func (h *fakeHub) emit(b event.Body) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seq++
	e := event.Event{Seq: h.seq, Time: time.Now(), Body: b}
	for _, w := range h.windows {
		if len(w.detached()) == 0 {
			w.sink.Deliver(e)
		}
	}
}

func (h *fakeHub) window(i int) *fakeWindow {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.windows[i]
}

func (w *fakeWindow) ID() string { return w.id }

func (w *fakeWindow) did(what string, args ...any) { w.hub.did(w.id+"."+what, args...) }

func (w *fakeWindow) BeginAnswer(a event.PromptAnswer, told func(error)) {
	w.did("BeginAnswer", a)
	told(w.hub.failure)
}

func (w *fakeWindow) Cancel(id, reason string) (event.Outcome, error) {
	w.did("Cancel", id, reason)
	return event.OutcomeCancelling, w.hub.failure
}

// run runs an order, or refuses it.
func (w *fakeWindow) run(f func()) error {
	if w.hub.full {
		return &event.Error{Code: event.CodeResourceExhausted, Reason: event.ReasonQueueFull, Message: "full"}
	}
	w.hub.orders.Go(f)
	return nil
}

func (w *fakeWindow) CallTool(c hub.CallRequest, over func(*hub.CallResult, error)) error {
	w.did("CallTool", c.ID)
	return w.run(func() { over(w.hub.CallTool(context.Background(), c)) })
}

func (w *fakeWindow) ReadResource(c hub.CallRequest, over func(*hub.CallResult, error)) error {
	w.did("ReadResource", c.ID)
	return w.run(func() { over(w.hub.ReadResource(context.Background(), c)) })
}

func (w *fakeWindow) GetMcpPrompt(c hub.CallRequest, over func(*hub.CallResult, error)) error {
	w.did("GetMcpPrompt", c.ID)
	return w.run(func() { over(w.hub.GetMcpPrompt(context.Background(), c)) })
}

func (w *fakeWindow) order(how string, f func(context.Context) func()) error {
	w.did(how)
	return w.run(func() {
		tell := f(context.Background())
		if w.hub.hold != nil {
			faketime.Pass(time.Second) // what has ended the order is replied to first
		}
		tell()
	})
}

func (w *fakeWindow) Go(f func(context.Context) func()) error { return w.order("Go", f) }
func (w *fakeWindow) GoAttached(f func(context.Context) func()) error {
	return w.order("GoAttached", f)
}
func (w *fakeWindow) Order(f func(context.Context) func()) error { return w.order("Order", f) }
func (w *fakeWindow) OrderAttached(f func(context.Context) func()) error {
	return w.order("OrderAttached", f)
}

func (w *fakeWindow) StopServer(ctx context.Context, name, reason string) (event.ServerInfo, error) {
	w.did("StopServer")
	return w.hub.StopServer(ctx, name, reason)
}

func (w *fakeWindow) RestartServer(ctx context.Context, name, reason string) (event.ServerInfo, error) {
	w.did("RestartServer")
	return w.hub.RestartServer(ctx, name, reason)
}

func (w *fakeWindow) SetServerEnabled(ctx context.Context, name string, on bool) (event.ServerInfo, error) {
	w.did("SetServerEnabled")
	return w.hub.SetServerEnabled(ctx, name, on)
}

func (w *fakeWindow) SignOut(ctx context.Context, name string) (event.ServerInfo, error) {
	w.did("SignOut")
	return w.hub.SignOut(ctx, name)
}

func (w *fakeWindow) SubscribeResource(ctx context.Context, server, uri string) error {
	w.did("SubscribeResource")
	return w.hub.SubscribeResource(ctx, server, uri)
}

func (w *fakeWindow) UnsubscribeResource(ctx context.Context, server, uri string) error {
	w.did("UnsubscribeResource")
	return w.hub.UnsubscribeResource(ctx, server, uri)
}

func (w *fakeWindow) SetRoots(roots []hub.Root) { w.did("SetRoots", roots) }

func (w *fakeWindow) SetCapabilities(kinds []event.PromptKind, tools bool, extensions map[string]json.RawMessage) {
	w.did("SetCapabilities", kinds, tools, len(extensions))
}

func (w *fakeWindow) Detach(final bool) {
	w.mu.Lock()
	first := len(w.detach) == 0
	w.detach = append(w.detach, final)
	w.mu.Unlock()
	if first { // the others have no effect
		w.did("Detach", final)
	}
}

// detached returns the arguments of the Detach calls so far; only the first call counts.
func (w *fakeWindow) detached() []bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.detach
}
