package ipc

import (
	"context"
	"os"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/journal"
	"github.com/mcphub-go/mcphub/hub/mcp"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// revisions of MCP that the hub speaks, newest first.
var revisions = []string{mcp.Revision20260728, mcp.Revision20251125, mcp.Revision20250618, mcp.Revision20250326,
	mcp.Revision20241105}

// features are the optional parts of the contract that this hub has. Later versions add names and remove none.
var features = []string{
	"cached_tools", "cancel_scopes", "completion", "config_input", "config_watch", "extensions", "history", "http",
	"launch_consent", "mcp_prompts", "model_tools", "preapproved", "progress_rate", "prompts",
	"remembered", "resources", "sampling_tools", "sign_in", "tasks", "trace", "trace_context",
	"window_orders",
}

type hubService struct {
	mcphubv1.UnimplementedMcpHubServiceServer
	*services
}

func (s *hubService) CallTool(ctx context.Context, r *mcphubv1.CallToolRequest) (*mcphubv1.CallToolResponse, error) {
	call := callRequest(ctx, r)
	if err := s.named(ctx, &call, r.GetModelName()); err != nil {
		return nil, err
	}
	result, err := s.domain.CallTool(ctx, call)
	if err != nil {
		return nil, err
	}
	m := s.convert.callResult(result)
	m.View = s.view(r.GetView(), result.Result)
	return m, nil
}

func (s *hubService) CancelRequest(ctx context.Context,
	r *mcphubv1.CancelRequestRequest) (*mcphubv1.CancelRequestResponse, error) {
	outcome, err := s.domain.CancelRequest(r.GetRequestId(), r.GetServer(), r.GetReason(), origin(ctx))
	return &mcphubv1.CancelRequestResponse{Outcome: mcphubv1.CancelOutcome(outcome)}, err
}

func (s *hubService) CancelRequests(ctx context.Context,
	r *mcphubv1.CancelRequestsRequest) (*mcphubv1.CancelRequestsResponse, error) {
	ids := s.domain.CancelRequests(cancelScope(r), r.GetReason(), origin(ctx))
	return &mcphubv1.CancelRequestsResponse{RequestIds: s.convert.texts(ids)}, nil
}

func (s *hubService) ListRequests(_ context.Context,
	r *mcphubv1.ListRequestsRequest) (*mcphubv1.ListRequestsResponse, error) {
	return &mcphubv1.ListRequestsResponse{Requests: list(s.domain.Requests(r.GetServer()), s.convert.request)}, nil
}

func (s *hubService) GetTrace(_ context.Context, r *mcphubv1.GetTraceRequest) (*mcphubv1.GetTraceResponse, error) {
	traces := s.domain.Traces(event.TraceFilter{RequestID: r.GetRequestId(), Server: r.GetServer(),
		Max: int(r.GetMaxTraces())})
	resp := &mcphubv1.GetTraceResponse{Traces: list(traces, s.convert.trace)}
	if !r.GetBundle() {
		return resp, nil
	}
	var err error
	resp.BundleJson, err = s.convert.traceBundle(s.domain.TraceBundle(), resp.GetTraces())
	return resp, err
}

func (s *hubService) ReadRequest(_ context.Context,
	r *mcphubv1.ReadRequestRequest) (*mcphubv1.ReadRequestResponse, error) {
	part := journal.Arguments
	if r.GetPart() == mcphubv1.RequestPart_REQUEST_PART_RESULT {
		part = journal.Result
	}
	p, err := s.domain.ReadRequest(r.GetRequestId(), part, r.GetOffset(), int(min(r.GetLimit(), 1<<30)))
	return &mcphubv1.ReadRequestResponse{Text: s.convert.text(p.Text), Offset: p.Offset, NextOffset: p.Next,
		Size: p.Size}, err
}

func (s *hubService) GetInfo(context.Context, *mcphubv1.GetInfoRequest) (*mcphubv1.GetInfoResponse, error) {
	return &mcphubv1.GetInfoResponse{
		Version:           s.convert.text(s.domain.Version()),
		HubId:             s.domain.ID(),
		ProtocolRevisions: revisions,
		Features:          features,
		ProcessId:         int32(os.Getpid()),
	}, nil
}

func (s *hubService) Drain(ctx context.Context, r *mcphubv1.DrainRequest) (*mcphubv1.DrainResponse, error) {
	cancelled, stopped := s.domain.Drain(ctx, r.GetReason())
	return &mcphubv1.DrainResponse{CancelledRequests: int32(cancelled), StoppedServers: int32(stopped)}, nil
}
