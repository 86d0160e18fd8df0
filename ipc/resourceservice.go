package ipc

import (
	"context"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// The part of McpServerService about resources, prompt templates, completion and sign-in.

func (s *serverService) ListResources(ctx context.Context,
	r *mcphubv1.ListResourcesRequest) (*mcphubv1.ListResourcesResponse, error) {
	resources, err := s.domain.Resources(ctx, r.GetServer())
	if err != nil {
		return nil, s.loggedStatus(ctx, err)
	}
	return &mcphubv1.ListResourcesResponse{Resources: list(resources, s.convert.resource)}, nil
}

func (s *serverService) ListResourceTemplates(ctx context.Context,
	r *mcphubv1.ListResourceTemplatesRequest) (*mcphubv1.ListResourceTemplatesResponse, error) {
	templates, err := s.domain.ResourceTemplates(ctx, r.GetServer())
	if err != nil {
		return nil, s.loggedStatus(ctx, err)
	}
	return &mcphubv1.ListResourceTemplatesResponse{ResourceTemplates: list(templates, s.convert.resourceTemplate)}, nil
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
	prompts, err := s.domain.McpPrompts(ctx, r.GetServer())
	if err != nil {
		return nil, s.loggedStatus(ctx, err)
	}
	return &mcphubv1.ListMcpPromptsResponse{Prompts: list(prompts, s.convert.mcpPrompt)}, nil
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
	result, err := s.domain.Complete(ctx, completion(r))
	if err != nil {
		return nil, s.loggedStatus(ctx, err)
	}
	return s.convert.completionResult(result), nil
}

func (s *serverService) SignIn(ctx context.Context, r *mcphubv1.SignInRequest) (*mcphubv1.SignInResponse, error) {
	resp, err := s.signIn(ctx, r)
	return reply(ctx, s.services, resp, err)
}

func (s *serverService) SignOut(ctx context.Context, r *mcphubv1.SignOutRequest) (*mcphubv1.SignOutResponse, error) {
	resp, err := s.signOut(ctx, s.domain, r)
	return reply(ctx, s.services, resp, err)
}
