package ipc

import (
	"context"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// The methods of McpServerService for resources, prompt templates, completion and sign-in.

func (s *serverService) ListResources(ctx context.Context,
	r *mcphubv1.ListResourcesRequest) (*mcphubv1.ListResourcesResponse, error) {
	resp, err := s.listResources(ctx, r)
	return reply(ctx, s.services, resp, err)
}

func (s *serverService) ListResourceTemplates(ctx context.Context,
	r *mcphubv1.ListResourceTemplatesRequest) (*mcphubv1.ListResourceTemplatesResponse, error) {
	resp, err := s.listResourceTemplates(ctx, r)
	return reply(ctx, s.services, resp, err)
}

func (s *serverService) ReadResource(ctx context.Context,
	r *mcphubv1.ReadResourceRequest) (*mcphubv1.ReadResourceResponse, error) {
	result, err := s.domain.ReadResource(ctx, resourceRequest(ctx, r))
	if err != nil {
		return nil, s.loggedStatus(ctx, err)
	}
	return s.convert.readResult(result), nil
}

func (s *serverService) SubscribeResource(ctx context.Context,
	r *mcphubv1.SubscribeResourceRequest) (*mcphubv1.SubscribeResourceResponse, error) {
	if err := s.domain.SubscribeResource(ctx, r.GetServer(), r.GetUri()); err != nil {
		return nil, s.loggedStatus(ctx, err)
	}
	return &mcphubv1.SubscribeResourceResponse{}, nil
}

func (s *serverService) UnsubscribeResource(ctx context.Context,
	r *mcphubv1.UnsubscribeResourceRequest) (*mcphubv1.UnsubscribeResourceResponse, error) {
	if err := s.domain.UnsubscribeResource(ctx, r.GetServer(), r.GetUri()); err != nil {
		return nil, s.loggedStatus(ctx, err)
	}
	return &mcphubv1.UnsubscribeResourceResponse{}, nil
}

func (s *serverService) ListMcpPrompts(ctx context.Context,
	r *mcphubv1.ListMcpPromptsRequest) (*mcphubv1.ListMcpPromptsResponse, error) {
	resp, err := s.listMcpPrompts(ctx, r)
	return reply(ctx, s.services, resp, err)
}

func (s *serverService) GetMcpPrompt(ctx context.Context,
	r *mcphubv1.GetMcpPromptRequest) (*mcphubv1.GetMcpPromptResponse, error) {
	result, err := s.domain.GetMcpPrompt(ctx, mcpPromptRequest(ctx, r))
	if err != nil {
		return nil, s.loggedStatus(ctx, err)
	}
	return s.convert.promptResult(result), nil
}

func (s *serverService) Complete(ctx context.Context, r *mcphubv1.CompleteRequest) (*mcphubv1.CompleteResponse, error) {
	resp, err := s.complete(ctx, r)
	return reply(ctx, s.services, resp, err)
}

func (s *serverService) ExpandUriTemplate(ctx context.Context,
	r *mcphubv1.ExpandUriTemplateRequest) (*mcphubv1.ExpandUriTemplateResponse, error) {
	resp, err := s.expandURITemplate(r)
	return reply(ctx, s.services, resp, err)
}

func (s *serverService) SignIn(ctx context.Context, r *mcphubv1.SignInRequest) (*mcphubv1.SignInResponse, error) {
	resp, err := s.signIn(ctx, r)
	return reply(ctx, s.services, resp, err)
}

func (s *serverService) SignOut(ctx context.Context, r *mcphubv1.SignOutRequest) (*mcphubv1.SignOutResponse, error) {
	resp, err := s.signOut(ctx, s.domain, r)
	return reply(ctx, s.services, resp, err)
}
