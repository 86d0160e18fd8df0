package ipc

import (
	"cmp"
	"context"
	"slices"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/kept"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// Operations that both a host (by a unary call) and a window (by a message of its stream) can request. The requester
// decides the origin of what the operation cancels.

// steering gives orders to servers: the hub for the host, or a hub.Window for its user. The difference is the origin of
// what the order cancels.
type steering interface {
	StopServer(ctx context.Context, name, reason string) (event.ServerInfo, error)
	RestartServer(ctx context.Context, name, reason string) (event.ServerInfo, error)
	SetServerEnabled(ctx context.Context, name string, enabled bool) (event.ServerInfo, error)
	SignOut(ctx context.Context, name string) (event.ServerInfo, error)
}

func (c *services) cancelRequests(r *mcphubv1.CancelRequestsRequest, by event.Origin) *mcphubv1.CancelRequestsResponse {
	return &mcphubv1.CancelRequestsResponse{RequestIds: c.convert.texts(c.domain.CancelRequests(cancelScope(r),
		r.GetReason(), by))}
}

func (c *services) traces(r *mcphubv1.GetTraceRequest) (*mcphubv1.GetTraceResponse, error) {
	traces := c.domain.Traces(event.TraceFilter{RequestID: r.GetRequestId(), Server: r.GetServer(),
		Max: int(r.GetMaxTraces())})
	resp := &mcphubv1.GetTraceResponse{Traces: list(traces, c.convert.trace)}
	if r.GetBundle() {
		bundle, err := c.convert.traceBundle(c.domain.TraceBundle(), resp.GetTraces())
		if err != nil {
			return nil, err
		}
		resp.BundleJson = bundle
	}
	return resp, nil
}

func (c *services) readRequest(r *mcphubv1.ReadRequestRequest) (*mcphubv1.ReadRequestResponse, error) {
	part := kept.Arguments
	if r.GetPart() == mcphubv1.RequestPart_REQUEST_PART_RESULT {
		part = kept.Result
	}
	p, err := c.domain.ReadRequest(r.GetRequestId(), part, r.GetOffset(), int(min(r.GetLimit(), 1<<30)))
	if err != nil {
		return nil, err
	}
	return &mcphubv1.ReadRequestResponse{Text: c.convert.text(p.Text), Offset: p.Offset, NextOffset: p.Next,
		Size: p.Size}, nil
}

func (c *services) listTools(ctx context.Context, r *mcphubv1.ListToolsRequest) (*mcphubv1.ListToolsResponse, error) {
	ask := c.domain.Tools
	if r.GetAllowCached() {
		ask = c.domain.KnownTools
	}
	tools, troubles, err := ask(ctx, r.GetServer())
	if err != nil {
		return nil, err
	}
	resp := &mcphubv1.ListToolsResponse{Tools: list(tools, c.convert.tool)}
	for name, trouble := range troubles {
		resp.Troubles = append(resp.Troubles, &mcphubv1.ServerTrouble{Server: c.convert.text(name),
			Error: c.convert.hubError(trouble)})
	}
	slices.SortFunc(resp.Troubles, func(a, b *mcphubv1.ServerTrouble) int {
		return cmp.Compare(a.GetServer(), b.GetServer())
	})
	return resp, nil
}

func (c *services) startServer(ctx context.Context,
	r *mcphubv1.StartServerRequest) (*mcphubv1.StartServerResponse, error) {
	start := c.domain.StartServer
	if r.GetWorkspaceEntry() {
		start = c.domain.StartWorkspaceEntry
	}
	server, err := start(ctx, r.GetServer())
	if err != nil {
		return nil, err
	}
	return &mcphubv1.StartServerResponse{Server: c.convert.server(server)}, nil
}

func (c *services) stopServer(ctx context.Context, by steering,
	r *mcphubv1.StopServerRequest) (*mcphubv1.StopServerResponse, error) {
	server, err := by.StopServer(ctx, r.GetServer(), r.GetReason())
	if err != nil {
		return nil, err
	}
	return &mcphubv1.StopServerResponse{Server: c.convert.server(server)}, nil
}

func (c *services) restartServer(ctx context.Context, by steering,
	r *mcphubv1.RestartServerRequest) (*mcphubv1.RestartServerResponse, error) {
	server, err := by.RestartServer(ctx, r.GetServer(), r.GetReason())
	if err != nil {
		return nil, err
	}
	return &mcphubv1.RestartServerResponse{Server: c.convert.server(server)}, nil
}

func (c *services) setServerEnabled(ctx context.Context, by steering,
	r *mcphubv1.SetServerEnabledRequest) (*mcphubv1.SetServerEnabledResponse, error) {
	server, err := by.SetServerEnabled(ctx, r.GetServer(), r.GetEnabled())
	if err != nil {
		return nil, err
	}
	return &mcphubv1.SetServerEnabledResponse{Server: c.convert.server(server)}, nil
}

func (c *services) muteServer(r *mcphubv1.MuteServerRequest) (*mcphubv1.MuteServerResponse, error) {
	server, err := c.domain.MuteServer(r.GetServer(), r.GetMuted())
	if err != nil {
		return nil, err
	}
	return &mcphubv1.MuteServerResponse{Server: c.convert.server(server)}, nil
}

func (c *services) signIn(ctx context.Context, r *mcphubv1.SignInRequest) (*mcphubv1.SignInResponse, error) {
	server, err := c.domain.SignIn(ctx, r.GetServer())
	if err != nil {
		return nil, err
	}
	return &mcphubv1.SignInResponse{Server: c.convert.server(server)}, nil
}

func (c *services) signOut(ctx context.Context, by steering,
	r *mcphubv1.SignOutRequest) (*mcphubv1.SignOutResponse, error) {
	server, err := by.SignOut(ctx, r.GetServer())
	if err != nil {
		return nil, err
	}
	return &mcphubv1.SignOutResponse{Server: c.convert.server(server)}, nil
}
