package ipc

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// A window calls the methods of the services by messages of its stream. The service's own handler carries the call out,
// and finds the window in the context.

// ordering says how a method is carried out for a window.
type ordering int

const (
	forHosts        ordering = iota // it is refused
	atOnce                          // before the next message of the window is read
	attached                        // on a goroutine; it ends with the stream, or when the window gives it up
	toItsEnd                        // on a goroutine, even if the stream ends: half a change is worse than none
	inOrder                         // toItsEnd; it takes effect before the next message is read
	inOrderAttached                 // attached, and takes effect before the next message is read
	asRequest                       // a request of the hub, which goes on when the window closes
)

// orderings has every method of the contract. A cancel takes effect before a later message, and finds each request that
// came before it; an order that changes a server has taken effect when a call follows it.
var orderings = map[string]ordering{
	mcphubv1.McpHubService_CallTool_FullMethodName:       asRequest,
	mcphubv1.McpHubService_CancelRequest_FullMethodName:  atOnce,
	mcphubv1.McpHubService_CancelRequests_FullMethodName: atOnce,
	mcphubv1.McpHubService_ListRequests_FullMethodName:   attached,
	mcphubv1.McpHubService_GetTrace_FullMethodName:       atOnce,
	mcphubv1.McpHubService_ReadRequest_FullMethodName:    attached,
	mcphubv1.McpHubService_GetInfo_FullMethodName:        attached,
	mcphubv1.McpHubService_Drain_FullMethodName:          forHosts,

	mcphubv1.McpServerService_ListServers_FullMethodName:           attached,
	mcphubv1.McpServerService_StartServer_FullMethodName:           inOrderAttached,
	mcphubv1.McpServerService_StopServer_FullMethodName:            inOrder,
	mcphubv1.McpServerService_RestartServer_FullMethodName:         inOrder,
	mcphubv1.McpServerService_SetServerEnabled_FullMethodName:      inOrder,
	mcphubv1.McpServerService_MuteServer_FullMethodName:            atOnce,
	mcphubv1.McpServerService_ReloadConfig_FullMethodName:          forHosts, // it names files, and whose they are
	mcphubv1.McpServerService_GetLaunch_FullMethodName:             forHosts,
	mcphubv1.McpServerService_AllowLaunch_FullMethodName:           forHosts, // a window answers the prompt
	mcphubv1.McpServerService_ListTools_FullMethodName:             attached,
	mcphubv1.McpServerService_ListResources_FullMethodName:         attached,
	mcphubv1.McpServerService_ListResourceTemplates_FullMethodName: attached,
	mcphubv1.McpServerService_ReadResource_FullMethodName:          asRequest,
	mcphubv1.McpServerService_SubscribeResource_FullMethodName:     attached,
	mcphubv1.McpServerService_UnsubscribeResource_FullMethodName:   toItsEnd,
	mcphubv1.McpServerService_ListMcpPrompts_FullMethodName:        attached,
	mcphubv1.McpServerService_GetMcpPrompt_FullMethodName:          asRequest,
	mcphubv1.McpServerService_ExpandUriTemplate_FullMethodName:     atOnce,
	mcphubv1.McpServerService_Complete_FullMethodName:              attached,
	mcphubv1.McpServerService_SignIn_FullMethodName:                attached,
	mcphubv1.McpServerService_SignOut_FullMethodName:               toItsEnd,
	mcphubv1.McpServerService_ListRemembered_FullMethodName:        attached,
	mcphubv1.McpServerService_Forget_FullMethodName:                toItsEnd,
	mcphubv1.McpServerService_SetLogLevel_FullMethodName:           toItsEnd,

	mcphubv1.ModelToolService_ListModelTools_FullMethodName: attached,
	mcphubv1.ModelToolService_SearchTools_FullMethodName:    attached,
	mcphubv1.ModelToolService_ReadResult_FullMethodName:     attached,
	mcphubv1.ModelToolService_ListProfiles_FullMethodName:   attached,

	mcphubv1.ConfigService_AddServer_FullMethodName:       toItsEnd,
	mcphubv1.ConfigService_UpdateServer_FullMethodName:    toItsEnd,
	mcphubv1.ConfigService_RemoveServer_FullMethodName:    toItsEnd,
	mcphubv1.ConfigService_UndoConfigWrite_FullMethodName: toItsEnd,
	mcphubv1.ConfigService_ListConfigFiles_FullMethodName: attached,
	mcphubv1.ConfigService_ReadConfigText_FullMethodName:  attached,
	mcphubv1.ConfigService_GetServerEntry_FullMethodName:  attached,

	mcphubv1.RegistryService_SearchRegistry_FullMethodName:    attached,
	mcphubv1.RegistryService_GetRegistryServer_FullMethodName: attached,
	mcphubv1.RegistryService_ReadBundle_FullMethodName:        attached,
	mcphubv1.RegistryService_FillProposal_FullMethodName:      attached,

	mcphubv1.GatewayService_OpenGateway_FullMethodName:  forHosts, // its answer holds a token
	mcphubv1.GatewayService_CloseGateway_FullMethodName: forHosts,
	mcphubv1.GatewayService_ListGateways_FullMethodName: forHosts,
}

// IsForHosts reports whether the method with this gRPC path is for the host of a hub: a window may not call it, or its
// reply to a window does not have the response.
func IsForHosts(method string) bool {
	o, ok := orderings[method]
	return ok && (o == forHosts || o == asRequest)
}

// methods has the methods of the registered services by their gRPC paths.
type methods map[string]method

type method struct {
	grpc.MethodDesc
	service any
}

func (ms methods) add(desc *grpc.ServiceDesc, service any) {
	for _, m := range desc.Methods {
		ms["/"+desc.ServiceName+"/"+m.MethodName] = method{m, service}
	}
}

// windowKey is the context key of the window that calls a method.
type windowKey struct{}

// windowOf returns the window that calls a method, nil for a host.
func windowOf(ctx context.Context) window {
	w, _ := ctx.Value(windowKey{}).(window)
	return w
}

// origin returns the origin of what the call cancels.
func origin(ctx context.Context) event.Origin {
	if windowOf(ctx) != nil {
		return event.OriginUser
	}
	return event.OriginHost
}

// by returns who gives an order to a server.
func (c *services) by(ctx context.Context) steering {
	if w := windowOf(ctx); w != nil {
		return w
	}
	return c.domain
}

// call carries out a call of the window, or begins to.
func (m *message) call(c *mcphubv1.Call) {
	path := c.GetMethod()
	called, ok := m.s.methods[path]
	if !ok {
		m.answer(nil, invalid(fmt.Errorf(
			"call.method: this hub has no method \"%s\"; the gRPC path of a method is \"/mcphub.v1.SERVICE/METHOD\"",
			bounds.Printable(path))))
		return
	}
	run := func(ctx context.Context) (*mcphubv1.Reply, error) {
		return called.invoke(context.WithValue(ctx, windowKey{}, m.w), c)
	}
	switch orderings[path] {
	case atOnce:
		m.answer(run(context.Background()))
	case attached:
		m.look(run)
	case toItsEnd:
		m.run(m.w.Go, run)
	case inOrder:
		m.run(m.w.Order, run)
	case inOrderAttached:
		m.run(m.w.OrderAttached, run)
	case asRequest:
		if err := m.request(c); err != nil {
			m.answer(nil, err)
		}
	default:
		m.answer(nil, event.Fail(event.CodePermissionDenied, reasonMethodOfHosts, nil,
			"%s is for the host of the hub, not for its windows", path))
	}
}

// invoke calls the method.
func (m *method) invoke(ctx context.Context, c *mcphubv1.Call) (*mcphubv1.Reply, error) {
	response, err := m.Handler(m.service, ctx, func(into any) error { return decode(c, into.(proto.Message)) }, nil)
	if err != nil {
		return nil, err
	}
	packed, err := anypb.New(response.(proto.Message))
	return &mcphubv1.Reply{Response: packed}, err
}

// decode reads the request of a call, and checks it as it is checked for a host.
func decode(c *mcphubv1.Call, into proto.Message) error {
	in := c.GetRequest()
	if !in.MessageIs(into) { // also if there is none: a relay must not have to guess what the hub makes of that
		return invalid(fmt.Errorf("call.request: is a \"%s\", and %s takes %s", bounds.Printable(in.GetTypeUrl()),
			c.GetMethod(), into.ProtoReflect().Descriptor().FullName()))
	}
	if err := proto.Unmarshal(in.GetValue(), into); err != nil {
		return invalid(errors.New("call.request: is not a valid message"))
	}
	if err := mcphubv1.Check(into); err != nil {
		return invalid(err)
	}
	return nil
}

var errOfHosts = errors.New(
	"model_name, view and caller are for hosts, whose CallTool gives them the result")

// request begins a request of the hub. It is not made with the context of the stream: the trace context in its metadata
// belongs to the stream, and is not the parent of each call. It is registered when request returns, so that a cancel
// right after it finds it.
func (m *message) request(c *mcphubv1.Call) error {
	over := func(_ *hub.CallResult, err error) { m.answer(nil, err) }
	switch c.GetMethod() {
	case mcphubv1.McpHubService_CallTool_FullMethodName:
		var r mcphubv1.CallToolRequest
		if err := decode(c, &r); err != nil {
			return err
		}
		if r.GetModelName() != "" || r.GetView() != nil || r.GetCaller() != "" {
			return invalid(errOfHosts)
		}
		return m.w.CallTool(callRequest(context.Background(), &r), over)
	case mcphubv1.McpServerService_ReadResource_FullMethodName:
		var r mcphubv1.ReadResourceRequest
		if err := decode(c, &r); err != nil {
			return err
		}
		return m.w.ReadResource(resourceRequest(context.Background(), &r), over)
	default:
		var r mcphubv1.GetMcpPromptRequest
		if err := decode(c, &r); err != nil {
			return err
		}
		return m.w.GetMcpPrompt(mcpPromptRequest(context.Background(), &r), over)
	}
}

var errGivenUp = &event.CancelCause{Origin: event.OriginUser, Reason: "the window gave it up"}

// givable holds the pending calls of one window that it can give up, by the ids of their messages.
type givable struct {
	mu      sync.Mutex // guards cancels
	cancels map[string]context.CancelCauseFunc
}

func (g *givable) giveUp(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if cancel := g.cancels[id]; cancel != nil {
		cancel(errGivenUp)
	}
}

// hold registers a message as one that can be given up, until release is called. given ends when the window gives it
// up.
func (g *givable) hold(id string) (given context.Context, release func()) {
	given, cancel := context.WithCancelCause(context.Background())
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cancels == nil {
		g.cancels = map[string]context.CancelCauseFunc{}
	}
	if _, used := g.cancels[id]; id == "" || used {
		return given, func() { cancel(nil) }
	}
	g.cancels[id] = cancel
	return given, func() {
		cancel(nil)
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.cancels, id)
	}
}

// look runs an order that ends with the stream, or when the window gives it up.
func (m *message) look(order func(context.Context) (*mcphubv1.Reply, error)) {
	given, release := m.waits.hold(m.GetMessageId())
	begun := false
	m.run(func(f func(context.Context) func()) error {
		err := m.w.GoAttached(f)
		begun = err == nil
		return err
	}, func(ctx context.Context) (*mcphubv1.Reply, error) {
		defer release()
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(given, func() { cancel(context.Cause(given)) })()
		return order(ctx)
	})
	if !begun {
		release()
	}
}
