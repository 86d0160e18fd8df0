package ipc

import (
	"context"
	"encoding/json"
	"log/slog"

	"google.golang.org/grpc"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/journal"
	"github.com/mcphub-go/mcphub/hub/toolset"
	"github.com/mcphub-go/mcphub/ipc/gateway"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// Options are the options of the services. The zero value is usable.
type Options struct {
	// Logger gets one record for each finished call, and records of problems, but never payloads. Nil: nothing is logged.
	Logger *slog.Logger
	// OnReplaced is called for each text that was not valid UTF-8 and was repaired on its way to a host, since protobuf
	// strings can carry nothing else. It may be called concurrently, and must not block. Nil: it is not called.
	OnReplaced func()
	// Gateways holds the gateways that hosts open. Nil: hosts cannot open any. The caller of Register closes it.
	Gateways *gateway.Set
}

func (o Options) logger() *slog.Logger {
	if o.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return o.Logger
}

// Register registers the services of the contract for h with s. The server should be made with [ServerOptions].
func Register(s grpc.ServiceRegistrar, h *hub.Hub, o Options) { register(s, wholeHub{h}, o) }

func register(s grpc.ServiceRegistrar, d domain, o Options) {
	c := &services{domain: d, convert: converter{onReplaced: o.OnReplaced}, log: o.logger()}
	c.sharing.convert = c.convert
	methods := methods{}
	to := func(desc *grpc.ServiceDesc, service any) {
		s.RegisterService(desc, service)
		methods.add(desc, service)
	}
	to(&mcphubv1.McpHubService_ServiceDesc, &hubService{services: c})
	to(&mcphubv1.McpServerService_ServiceDesc, &serverService{services: c})
	to(&mcphubv1.ModelToolService_ServiceDesc, &modelToolService{services: c})
	to(&mcphubv1.ConfigService_ServiceDesc, &configService{services: c})
	to(&mcphubv1.RegistryService_ServiceDesc, &registryService{services: c})
	if o.Gateways != nil {
		to(&mcphubv1.GatewayService_ServiceDesc, &gatewayService{services: c, gateways: o.Gateways})
	}
	s.RegisterService(&mcphubv1.EditorService_ServiceDesc, &editorService{services: c, methods: methods})
}

// services holds what all services need.
type services struct {
	domain  domain
	convert converter
	log     *slog.Logger
	sharing sharing
}

// steering gives orders to servers: the hub for the host, or a hub.Window for its user. They differ in the origin of
// what the order cancels, and in who is subscribed.
type steering interface {
	StopServer(ctx context.Context, name, reason string) (event.ServerInfo, error)
	RestartServer(ctx context.Context, name, reason string) (event.ServerInfo, error)
	SetServerEnabled(ctx context.Context, name string, enabled bool) (event.ServerInfo, error)
	SignOut(ctx context.Context, name string) (event.ServerInfo, error)
	SubscribeResource(ctx context.Context, server, uri string) error
	UnsubscribeResource(ctx context.Context, server, uri string) error
}

// domain is the part of the hub that the services need.
type domain interface {
	steering
	MuteServer(name string, muted bool) (event.ServerInfo, error)
	ID() string
	Version() string
	CallTool(ctx context.Context, c hub.CallRequest) (*hub.CallResult, error)
	CancelRequest(id, server, reason string, origin event.Origin) (event.Outcome, error)
	CancelRequests(scope hub.CancelScope, reason string, origin event.Origin) []string
	Requests(server string) []event.RequestInfo
	Drain(ctx context.Context, reason string) (cancelled, stopped int)
	Servers() ([]event.ServerInfo, []event.ConfigProblem)
	StartServer(ctx context.Context, name string) (event.ServerInfo, error)
	StartWorkspaceEntry(ctx context.Context, name string) (event.ServerInfo, error)
	LaunchQuestion(ctx context.Context, name string) (q *event.LaunchQuestion, agreed bool, err error)
	AllowLaunch(ctx context.Context, name, hash string, scope event.ApprovalScope) (event.ServerInfo, error)
	LoadConfig(ctx context.Context, sources []hub.ConfigSource) (servers []event.ServerInfo,
		problems []event.ConfigProblem,
		stopped []string, err error)
	WatchConfig(on bool)
	SetHostPolicy(p hub.HostPolicy)
	Tools(ctx context.Context, server string) ([]event.ToolInfo, map[string]*event.Error, error)
	KnownTools(ctx context.Context, server string) ([]event.ToolInfo, map[string]*event.Error, error)
	Remembered(server string) []event.Remembered
	Forget(ids []string) int
	Traces(f event.TraceFilter) []event.TraceInfo
	TraceBundle() map[string]any
	ReadRequest(id string, part journal.Part, offset int64, limit int) (journal.Piece, error)
	SetLogLevel(ctx context.Context, server, level string) error
	Resources(ctx context.Context, server string) ([]event.ResourceInfo, error)
	ResourceTemplates(ctx context.Context, server string) ([]event.ResourceTemplateInfo, error)
	ReadResource(ctx context.Context, c hub.CallRequest) (*hub.CallResult, error)
	McpPrompts(ctx context.Context, server string) ([]event.McpPromptInfo, error)
	GetMcpPrompt(ctx context.Context, c hub.CallRequest) (*hub.CallResult, error)
	Complete(ctx context.Context, c hub.Completion) (*hub.CallResult, error)
	SignIn(ctx context.Context, name string) (event.ServerInfo, error)
	ModelTools() *toolset.Catalog
	Profiles() []config.Profile
	Config() configFiles
	Catalog() serverCatalog
	Draining() bool
	Attach(hello hub.Hello, sink hub.Sink) (window, *hub.WindowStart, error)
}

// window is the part of an attached window that the services need.
type window interface {
	steering
	ID() string
	BeginAnswer(a event.PromptAnswer, told func(error))
	Cancel(id, reason string) (event.Outcome, error)
	CallTool(c hub.CallRequest, over func(*hub.CallResult, error)) error
	ReadResource(c hub.CallRequest, over func(*hub.CallResult, error)) error
	GetMcpPrompt(c hub.CallRequest, over func(*hub.CallResult, error)) error
	Go(f func(ctx context.Context) (tell func())) error
	GoAttached(f func(ctx context.Context) (tell func())) error
	Order(f func(ctx context.Context) (tell func())) error
	OrderAttached(f func(ctx context.Context) (tell func())) error
	SetRoots(roots []hub.Root)
	SetCapabilities(kinds []event.PromptKind, samplingTools bool, extensions map[string]json.RawMessage)
	Detach(final bool)
}

// wholeHub is the real domain. It only replaces the type of the hub's windows by the interface.
type wholeHub struct{ *hub.Hub }

func (h wholeHub) Config() configFiles { return h.Hub.Config() }

func (h wholeHub) Catalog() serverCatalog { return h.Hub.Catalog() }

func (h wholeHub) Attach(hello hub.Hello, sink hub.Sink) (window, *hub.WindowStart, error) {
	w, start, err := h.Hub.Attach(hello, sink)
	if err != nil {
		return nil, nil, err
	}
	return w, start, nil
}
