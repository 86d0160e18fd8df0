package ipc

import (
	"context"

	"github.com/mcphub-go/mcphub/hub/offers"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// The methods of McpServerService for resources, prompt templates and completion.

func (s *serverService) ListResources(ctx context.Context,
	r *mcphubv1.ListResourcesRequest) (*mcphubv1.ListResourcesResponse, error) {
	all, err := s.domain.Resources(ctx, r.GetServer())
	if err != nil {
		return nil, err
	}
	some, matched := offers.Select(search(ctx, r), all, offers.ResourceTexts)
	return &mcphubv1.ListResourcesResponse{Resources: list(some, s.convert.resource), Matched: int32(matched)}, nil
}

func (s *serverService) ListResourceTemplates(ctx context.Context,
	r *mcphubv1.ListResourceTemplatesRequest) (*mcphubv1.ListResourceTemplatesResponse, error) {
	all, err := s.domain.ResourceTemplates(ctx, r.GetServer())
	if err != nil {
		return nil, err
	}
	some, matched := offers.Select(search(ctx, r), all, offers.TemplateTexts)
	return &mcphubv1.ListResourceTemplatesResponse{ResourceTemplates: list(some, s.convert.resourceTemplate),
		Matched: int32(matched)}, nil
}

func (s *serverService) ListMcpPrompts(ctx context.Context,
	r *mcphubv1.ListMcpPromptsRequest) (*mcphubv1.ListMcpPromptsResponse, error) {
	all, err := s.domain.McpPrompts(ctx, r.GetServer())
	if err != nil {
		return nil, err
	}
	some, matched := offers.Select(search(ctx, r), all, offers.PromptTexts)
	return &mcphubv1.ListMcpPromptsResponse{Prompts: list(some, s.convert.mcpPrompt), Matched: int32(matched)}, nil
}

// windowEntries limits how many entries of a list a window is sent. The window learns how many more there are, and can
// search.
const windowEntries = 1000

// search returns what a request for a part of a list asks for.
func search(ctx context.Context, r interface {
	GetQuery() string
	GetLimit() int32
}) offers.Search {
	s := offers.Search{Query: r.GetQuery(), Limit: int(r.GetLimit())}
	if windowOf(ctx) != nil && (s.Limit == 0 || s.Limit > windowEntries) {
		s.Limit = windowEntries
	}
	return s
}

func (s *serverService) ReadResource(ctx context.Context,
	r *mcphubv1.ReadResourceRequest) (*mcphubv1.ReadResourceResponse, error) {
	result, err := s.domain.ReadResource(ctx, resourceRequest(ctx, r))
	if err != nil {
		return nil, err
	}
	return s.convert.readResult(result), nil
}

func (s *serverService) SubscribeResource(ctx context.Context,
	r *mcphubv1.SubscribeResourceRequest) (*mcphubv1.SubscribeResourceResponse, error) {
	return &mcphubv1.SubscribeResourceResponse{}, s.by(ctx).SubscribeResource(ctx, r.GetServer(), r.GetUri())
}

func (s *serverService) UnsubscribeResource(ctx context.Context,
	r *mcphubv1.UnsubscribeResourceRequest) (*mcphubv1.UnsubscribeResourceResponse, error) {
	return &mcphubv1.UnsubscribeResourceResponse{}, s.by(ctx).UnsubscribeResource(ctx, r.GetServer(), r.GetUri())
}

func (s *serverService) GetMcpPrompt(ctx context.Context,
	r *mcphubv1.GetMcpPromptRequest) (*mcphubv1.GetMcpPromptResponse, error) {
	result, err := s.domain.GetMcpPrompt(ctx, mcpPromptRequest(ctx, r))
	if err != nil {
		return nil, err
	}
	return s.convert.promptResult(result), nil
}

func (s *serverService) Complete(ctx context.Context, r *mcphubv1.CompleteRequest) (*mcphubv1.CompleteResponse, error) {
	result, err := s.domain.Complete(ctx, completion(r))
	if err != nil {
		return nil, err
	}
	return s.convert.completionResult(result), nil
}

func (s *serverService) ExpandUriTemplate(_ context.Context,
	r *mcphubv1.ExpandUriTemplateRequest) (*mcphubv1.ExpandUriTemplateResponse, error) {
	uri, err := offers.Expand(r.GetUriTemplate(), r.GetValues())
	return &mcphubv1.ExpandUriTemplateResponse{Uri: uri}, err
}
