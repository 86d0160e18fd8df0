package ipc

import (
	"context"
	"os"

	"github.com/mcphub-go/mcphub/hub/event"
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
	"remembered", "resources", "resume", "sampling_tools", "sign_in", "tasks", "trace", "trace_context",
	"window_orders",
}

type hubService struct {
	mcphubv1.UnimplementedMcpHubServiceServer
	*services
}

// loggedStatus returns err as a status. It logs the text of an error that the host must not see.
func (c *services) loggedStatus(ctx context.Context, err error) error {
	if e := hubErrorOf(err); e.Code == event.CodeInternal {
		beneath := err
		if e.Err != nil {
			beneath = e.Err
		}
		c.log.ErrorContext(ctx, "call failed", "reason", e.Reason, "error", bound(clean(beneath.Error())))
	}
	return statusOf(err)
}

// reply returns the results of a unary call: resp, or err as a status.
func reply[R any](ctx context.Context, c *services, resp *R, err error) (*R, error) {
	if err != nil {
		return nil, c.loggedStatus(ctx, err)
	}
	return resp, nil
}

func (s *hubService) CallTool(ctx context.Context, r *mcphubv1.CallToolRequest) (*mcphubv1.CallToolResponse, error) {
	call := callRequest(ctx, r)
	if err := s.named(ctx, &call, r.GetModelName()); err != nil {
		return nil, s.loggedStatus(ctx, err)
	}
	result, err := s.domain.CallTool(ctx, call)
	if err != nil {
		return nil, s.loggedStatus(ctx, err)
	}
	m := s.convert.callResult(result)
	m.View = s.view(r.GetView(), result.Result)
	return m, nil
}

func (s *hubService) CancelRequest(ctx context.Context,
	r *mcphubv1.CancelRequestRequest) (*mcphubv1.CancelRequestResponse, error) {
	outcome, err := s.domain.CancelRequest(r.GetRequestId(), r.GetServer(), r.GetReason(), event.OriginHost)
	if err != nil {
		return nil, s.loggedStatus(ctx, err)
	}
	return &mcphubv1.CancelRequestResponse{Outcome: outcomes.proto(outcome)}, nil
}

func (s *hubService) CancelRequests(_ context.Context,
	r *mcphubv1.CancelRequestsRequest) (*mcphubv1.CancelRequestsResponse, error) {
	return s.cancelRequests(r, event.OriginHost), nil
}

func (s *hubService) ListRequests(_ context.Context,
	r *mcphubv1.ListRequestsRequest) (*mcphubv1.ListRequestsResponse, error) {
	return &mcphubv1.ListRequestsResponse{Requests: list(s.domain.Requests(r.GetServer()), s.convert.request)}, nil
}

func (s *hubService) GetTrace(ctx context.Context, r *mcphubv1.GetTraceRequest) (*mcphubv1.GetTraceResponse, error) {
	resp, err := s.traces(r)
	return reply(ctx, s.services, resp, err)
}

func (s *hubService) ReadRequest(ctx context.Context,
	r *mcphubv1.ReadRequestRequest) (*mcphubv1.ReadRequestResponse, error) {
	resp, err := s.readRequest(r)
	return reply(ctx, s.services, resp, err)
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
