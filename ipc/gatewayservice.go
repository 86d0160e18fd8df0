package ipc

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/mcphub-go/mcphub/ipc/gateway"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// gateways is the part of a gateway.Set that the service needs.
type gateways interface {
	Open(o gateway.Options, port int) (*gateway.Opened, error)
	Close(id string) bool
	List() []*gateway.Opened
}

type gatewayService struct {
	mcphubv1.UnimplementedGatewayServiceServer
	*services
	gateways gateways
}

func (s *gatewayService) OpenGateway(_ context.Context,
	r *mcphubv1.OpenGatewayRequest) (*mcphubv1.OpenGatewayResponse, error) {
	opened, err := s.gateways.Open(gateway.Options{
		Title:      r.GetTitle(),
		Profile:    r.GetProfile(),
		Approval:   gatewayApprovals[r.GetApproval()],
		Questions:  gatewayQuestions[r.GetQuestions()],
		Tools:      gatewayTools[r.GetTools()],
		MaxTokens:  int(min(r.GetMaxTokens(), 1<<30)),
		PlainNames: r.GetPlainNames(), CancelReason: r.GetCancelReason(),
	}, int(r.GetPort()))
	if err != nil {
		return nil, err
	}
	return &mcphubv1.OpenGatewayResponse{Gateway: s.gateway(opened), Token: opened.Endpoint.Token}, nil
}

func (s *gatewayService) CloseGateway(_ context.Context,
	r *mcphubv1.CloseGatewayRequest) (*mcphubv1.CloseGatewayResponse, error) {
	s.gateways.Close(r.GetGatewayId())
	return &mcphubv1.CloseGatewayResponse{}, nil
}

func (s *gatewayService) ListGateways(context.Context,
	*mcphubv1.ListGatewaysRequest) (*mcphubv1.ListGatewaysResponse, error) {
	return &mcphubv1.ListGatewaysResponse{Gateways: list(s.gateways.List(), s.gateway)}, nil
}

// The constants of the gateway's options, and those of the contract.
var (
	gatewayApprovals = map[mcphubv1.GatewayApproval]string{
		mcphubv1.GatewayApproval_GATEWAY_APPROVAL_WINDOW: gateway.ApprovalWindow,
		mcphubv1.GatewayApproval_GATEWAY_APPROVAL_CLIENT: gateway.ApprovalClient,
	}
	gatewayQuestions = map[mcphubv1.GatewayQuestions]string{
		mcphubv1.GatewayQuestions_GATEWAY_QUESTIONS_CLIENT: "client",
		mcphubv1.GatewayQuestions_GATEWAY_QUESTIONS_WINDOW: "window",
		mcphubv1.GatewayQuestions_GATEWAY_QUESTIONS_EITHER: "either",
	}
	gatewayTools = map[mcphubv1.GatewayTools]string{
		mcphubv1.GatewayTools_GATEWAY_TOOLS_ALL:    gateway.ToolsAll,
		mcphubv1.GatewayTools_GATEWAY_TOOLS_SEARCH: gateway.ToolsSearch,
		mcphubv1.GatewayTools_GATEWAY_TOOLS_AUTO:   gateway.ToolsAuto,
	}
)

func keyOf[K comparable](words map[K]string, word string) (key K) {
	for k, w := range words {
		if w == word {
			return k
		}
	}
	return key
}

func (s *services) gateway(o *gateway.Opened) *mcphubv1.Gateway {
	of := o.Endpoint.Gateway.Options()
	return &mcphubv1.Gateway{
		GatewayId: o.ID, Title: s.convert.text(of.Title), Url: o.Endpoint.URL, OpenTime: timestamppb.New(o.Time),
		Clients: uint32(o.Endpoint.Gateway.Clients()), PlainNames: of.PlainNames, Profile: s.convert.text(of.Profile),
		Approval: keyOf(gatewayApprovals, of.Approval), Questions: keyOf(gatewayQuestions, of.Questions),
		Tools: keyOf(gatewayTools, of.Tools), MaxTokens: uint32(of.MaxTokens),
	}
}
