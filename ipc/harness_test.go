package ipc

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/journal"
	"github.com/mcphub-go/mcphub/hub/toolset"
	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// serve serves d on an in-memory connection. Inside a synctest bubble a goroutine that is left behind fails the test.
func serve(t *testing.T, d domain, o Options) *grpc.ClientConn {
	t.Helper()
	s := grpc.NewServer(ServerOptions(o)...)
	register(s, d, o)
	if h, ok := d.(interface{ settle() }); ok {
		t.Cleanup(h.settle) // after the connection has closed
	}
	return fakeeditor.Serve(t, s, nil)
}

// callOf returns the message that calls the method of a request.
func callOf(messageID string, request proto.Message) *mcphubv1.AttachRequest {
	name := strings.TrimSuffix(string(request.ProtoReflect().Descriptor().Name()), "Request")
	for path := range orderings {
		if strings.HasSuffix(path, "/"+name) {
			m, err := mcphubv1.NewCall(path, request)
			if err != nil {
				panic(err)
			}
			m.MessageId = messageID
			return m
		}
	}
	panic("no method " + name)
}

// responseOf returns the response of a reply, nil if it has none of that type.
func responseOf[R proto.Message](r *mcphubv1.Reply) (response R) {
	if r.GetResponse() != nil {
		m, err := r.GetResponse().UnmarshalNew()
		if err != nil {
			panic(err)
		}
		response, _ = m.(R)
	}
	return response
}

// fakeHub is a domain whose answers a test sets, and whose windows it drives. Answers that are not set are plain ones.
// Its windows run orders on goroutines, for whose end the test waits.
type fakeHub struct {
	call func(ctx context.Context, c hub.CallRequest) (*hub.CallResult, error)
	full bool // windows have too much under way
	// what writes config files
	files configFiles
	// what finds servers
	catalog serverCatalog
	// the error of every other method that can fail
	failure error
	answer  func(a event.PromptAnswer) error                                       // of windows
	attach  func(hello hub.Hello, sink hub.Sink) (start *hub.WindowStart, e error) // nil: a snapshot

	orders sync.WaitGroup // of windows, while they run

	mu      sync.Mutex // guards below
	seq     uint64
	windows []*fakeWindow
	scopes  []hub.CancelScope
	sources [][]hub.ConfigSource
	watched []bool
}

type fakeWindow struct {
	hub   *fakeHub
	id    string
	hello hub.Hello
	sink  hub.Sink

	mu      sync.Mutex // guards below
	actions []string
	detach  []bool
}

func (h *fakeHub) settle() { h.orders.Wait() }

func (h *fakeHub) ID() string      { return "hub-1" }
func (h *fakeHub) Version() string { return "1.2.3" }

func (h *fakeHub) ModelTools() *toolset.Catalog {
	return toolset.NewCatalog(h, "", slog.New(slog.DiscardHandler))
}

func (h *fakeHub) Profiles() []config.Profile {
	return []config.Profile{{Name: "p", Servers: []string{"s"}, Origin: config.Origin{File: "f.json", Line: 3}}}
}

func (h *fakeHub) Config() configFiles { return h.files }

func (h *fakeHub) Catalog() serverCatalog { return h.catalog }

func (h *fakeHub) Draining() bool { return false }

func (h *fakeHub) CallTool(ctx context.Context, c hub.CallRequest) (*hub.CallResult, error) {
	return h.call(ctx, c)
}

func (h *fakeHub) CancelRequest(id, server, reason string, origin event.Origin) (event.Outcome, error) {
	if id == "open" && origin == event.OriginHost {
		return event.OutcomeCancelling, h.failure
	}
	return event.OutcomeUnknown, h.failure
}

func (h *fakeHub) CancelRequests(scope hub.CancelScope, reason string, origin event.Origin) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.scopes = append(h.scopes, scope)
	return []string{"a", "b"}
}

func (h *fakeHub) Requests(server string) []event.RequestInfo {
	return []event.RequestInfo{{ID: "r1", Server: server}}
}

func (h *fakeHub) Drain(context.Context, string) (int, int) { return 3, 2 }

func (h *fakeHub) Servers() ([]event.ServerInfo, []event.ConfigProblem) {
	return []event.ServerInfo{{Name: "s"}}, []event.ConfigProblem{{Message: "odd"}}
}

func (h *fakeHub) one(name string, s event.ServerState) (event.ServerInfo, error) {
	return event.ServerInfo{Name: name, State: s}, h.failure
}

func (h *fakeHub) StartServer(_ context.Context, name string) (event.ServerInfo, error) {
	return h.one(name, event.ServerReady)
}

func (h *fakeHub) StartWorkspaceEntry(_ context.Context, name string) (event.ServerInfo, error) {
	return h.one(name+" of the workspace", event.ServerReady)
}
func (h *fakeHub) StopServer(_ context.Context, name, _ string) (event.ServerInfo, error) {
	return h.one(name, event.ServerStopped)
}
func (h *fakeHub) RestartServer(_ context.Context, name, _ string) (event.ServerInfo, error) {
	return h.one(name, event.ServerReady)
}
func (h *fakeHub) MuteServer(name string, muted bool) (event.ServerInfo, error) {
	return event.ServerInfo{Name: name, State: event.ServerReady, Muted: muted}, nil
}

func (h *fakeHub) SetServerEnabled(_ context.Context, name string, on bool) (event.ServerInfo, error) {
	if on {
		return h.one(name, event.ServerStopped)
	}
	return h.one(name, event.ServerDisabled)
}

func (h *fakeHub) WatchConfig(on bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.watched = append(h.watched, on)
}

func (h *fakeHub) KnownTools(ctx context.Context, server string) ([]event.ToolInfo, map[string]*event.Error, error) {
	tools, troubles, err := h.Tools(ctx, server)
	for i := range tools {
		tools[i].Cached = true
	}
	return tools, troubles, err
}

func (h *fakeHub) Remembered(server string) []event.Remembered {
	return []event.Remembered{{ID: "r", Kind: event.RememberedApproval, Server: server,
		Tool: "t", Scope: event.ScopeWorkspace,
		Folders: []string{"/w"}}}
}

func (h *fakeHub) Forget(ids []string) int { return len(ids) }

func (h *fakeHub) Traces(f event.TraceFilter) []event.TraceInfo {
	return []event.TraceInfo{{Request: event.RequestInfo{ID: f.RequestID, Server: f.Server}, Omitted: f.Max}}
}

func (h *fakeHub) TraceBundle() map[string]any { return map[string]any{"about": "this"} }

func (h *fakeHub) LoadConfig(_ context.Context, s []hub.ConfigSource) ([]event.ServerInfo, []event.ConfigProblem,
	[]string,
	error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sources = append(h.sources, s)
	return []event.ServerInfo{{Name: "s"}}, nil, []string{"gone"}, h.failure
}

func (h *fakeHub) Tools(_ context.Context, server string) ([]event.ToolInfo, map[string]*event.Error, error) {
	return []event.ToolInfo{{Server: "s", Name: "t"}}, map[string]*event.Error{
		"z": {Code: event.CodeUnavailable, Reason: event.ReasonServerFailed, Message: "no z"},
		"a": {Code: event.CodeUnavailable, Reason: event.ReasonServerFailed, Message: "no a"},
	}, h.failure
}

func (h *fakeHub) SetLogLevel(context.Context, string, string) error { return h.failure }

func (h *fakeHub) Resources(_ context.Context, server string) ([]event.ResourceInfo, error) {
	return []event.ResourceInfo{{Server: server, URI: "file:///a"}}, h.failure
}

func (h *fakeHub) ResourceTemplates(_ context.Context, server string) ([]event.ResourceTemplateInfo, error) {
	return []event.ResourceTemplateInfo{{Server: server, URITemplate: "file:///{a}"}}, h.failure
}

func (h *fakeHub) ReadResource(_ context.Context, c hub.CallRequest) (*hub.CallResult, error) {
	return &hub.CallResult{RequestID: c.ID, Result: []byte(`{"contents":[]}`)}, h.failure
}

func (h *fakeHub) ReadRequest(id string, part journal.Part, offset int64, limit int) (journal.Piece, error) {
	text := fmt.Sprintf("%s %d %d %d", id, part, offset, limit)
	return journal.Piece{Text: text, Offset: offset, Next: offset + 1, Size: 99}, h.failure
}

func (h *fakeHub) SubscribeResource(context.Context, string, string) error { return h.failure }

func (h *fakeHub) UnsubscribeResource(context.Context, string, string) error { return h.failure }

func (h *fakeHub) McpPrompts(_ context.Context, server string) ([]event.McpPromptInfo, error) {
	return []event.McpPromptInfo{{Server: server, Name: "p", Arguments: []event.McpPromptArgument{{Name: "a",
		Required: true}}}}, h.failure
}

func (h *fakeHub) GetMcpPrompt(_ context.Context, c hub.CallRequest) (*hub.CallResult, error) {
	return &hub.CallResult{RequestID: c.ID, Result: []byte(`{"messages":[]}`)}, h.failure
}

func (h *fakeHub) Complete(context.Context, hub.Completion) (*hub.CallResult, error) {
	return &hub.CallResult{Result: []byte(`{"completion":{"values":[]}}`)}, h.failure
}

func (h *fakeHub) SignIn(_ context.Context, name string) (event.ServerInfo, error) {
	return event.ServerInfo{Name: name, SignIn: event.SignInSignedIn}, h.failure
}

func (h *fakeHub) SignOut(_ context.Context, name string) (event.ServerInfo, error) {
	return event.ServerInfo{Name: name, SignIn: event.SignInNeeded}, h.failure
}

func (h *fakeHub) Attach(hello hub.Hello, sink hub.Sink) (window, *hub.WindowStart, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	start := &hub.WindowStart{Snapshot: &event.Snapshot{Time: time.Now()}}
	if h.attach != nil {
		var err error
		if start, err = h.attach(hello, sink); err != nil {
			return nil, nil, err
		}
	}
	w := &fakeWindow{hub: h, id: hello.WindowID, hello: hello, sink: sink}
	if w.id == "" {
		w.id = "minted"
	}
	h.windows = append(h.windows, w)
	return w, start, nil
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

func (w *fakeWindow) did(s string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.actions = append(w.actions, s)
}

func (w *fakeWindow) BeginAnswer(a event.PromptAnswer, told func(error)) {
	w.did("answer " + a.PromptID)
	if w.hub.answer == nil {
		told(nil)
		return
	}
	told(w.hub.answer(a))
}

func (w *fakeWindow) Cancel(id, reason string) (event.Outcome, error) {
	w.did("cancel " + id + " " + reason)
	if id == "over" {
		return event.OutcomeAlreadyFinished, nil
	}
	return event.OutcomeCancelling, nil
}

func (w *fakeWindow) CallTool(c hub.CallRequest, over func(*hub.CallResult, error)) error {
	if w.hub.full {
		return &event.Error{Code: event.CodeResourceExhausted, Reason: event.ReasonQueueFull, Message: "full"}
	}
	w.hub.orders.Go(func() { over(w.hub.call(context.Background(), c)) })
	return nil
}

func (w *fakeWindow) ReadResource(c hub.CallRequest, over func(*hub.CallResult, error)) error {
	if w.hub.full {
		return &event.Error{Code: event.CodeResourceExhausted, Reason: event.ReasonQueueFull, Message: "full"}
	}
	w.hub.orders.Go(func() { over(w.hub.ReadResource(context.Background(), c)) })
	return nil
}

func (w *fakeWindow) GetMcpPrompt(c hub.CallRequest, over func(*hub.CallResult, error)) error {
	if w.hub.full {
		return &event.Error{Code: event.CodeResourceExhausted, Reason: event.ReasonQueueFull, Message: "full"}
	}
	w.hub.orders.Go(func() { over(w.hub.GetMcpPrompt(context.Background(), c)) })
	return nil
}

func (w *fakeWindow) SubscribeResource(_ context.Context, server, uri string) error {
	w.did("subscribe " + uri + " of " + server)
	return w.hub.failure
}

func (w *fakeWindow) UnsubscribeResource(_ context.Context, server, uri string) error {
	w.did("unsubscribe " + uri + " of " + server)
	return w.hub.failure
}

func (w *fakeWindow) Go(f func(context.Context) func()) error {
	if w.hub.full {
		return &event.Error{Code: event.CodeResourceExhausted, Reason: event.ReasonQueueFull, Message: "full"}
	}
	w.hub.orders.Go(func() { f(context.Background())() })
	return nil
}

func (w *fakeWindow) GoAttached(f func(context.Context) func()) error { return w.Go(f) }

func (w *fakeWindow) Order(f func(context.Context) func()) error { return w.Go(f) }

func (w *fakeWindow) OrderAttached(f func(context.Context) func()) error { return w.Go(f) }

func (w *fakeWindow) StopServer(ctx context.Context, name, reason string) (event.ServerInfo, error) {
	w.did("stop " + name + " " + reason)
	return w.hub.StopServer(ctx, name, reason)
}

func (w *fakeWindow) RestartServer(ctx context.Context, name, reason string) (event.ServerInfo, error) {
	w.did("restart " + name + " " + reason)
	return w.hub.RestartServer(ctx, name, reason)
}

func (w *fakeWindow) SetServerEnabled(ctx context.Context, name string, on bool) (event.ServerInfo, error) {
	w.did("switch " + name)
	return w.hub.SetServerEnabled(ctx, name, on)
}

func (w *fakeWindow) SignOut(ctx context.Context, name string) (event.ServerInfo, error) {
	w.did("sign out of " + name)
	return w.hub.SignOut(ctx, name)
}

func (w *fakeWindow) SetRoots(roots []hub.Root) {
	for _, r := range roots {
		w.did("root " + r.URI)
	}
}

func (w *fakeWindow) SetCapabilities(kinds []event.PromptKind, _ bool, _ map[string]json.RawMessage) {
	for _, k := range kinds {
		w.did("kind " + k.String())
	}
}

func (w *fakeWindow) Detach(final bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.detach = append(w.detach, final)
}

// detached returns the arguments of the Detach calls so far; only the first call counts.
func (w *fakeWindow) detached() []bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.detach
}

func started(id string) *event.RequestStarted {
	return &event.RequestStarted{Request: event.RequestInfo{ID: id, Server: "s", State: event.StateRunning}}
}

func progressed(id string, n int) *event.RequestProgressed {
	return &event.RequestProgressed{RequestID: id, Server: "s", State: event.StateRunning,
		Progress: &event.Progress{Progress: float64(n)}}
}

func finished(id string) *event.RequestFinished {
	return &event.RequestFinished{RequestID: id, Server: "s", State: event.StateDone}
}

func cancelMessage(messageID, requestID string) *mcphubv1.AttachRequest {
	return &mcphubv1.AttachRequest{MessageId: messageID, Message: &mcphubv1.AttachRequest_CancelMcpRequest{
		CancelMcpRequest: &mcphubv1.CancelMcpRequest{RequestId: requestID},
	}}
}
