package ipc

import (
	"context"

	"github.com/mcphub-go/mcphub/hub/offers"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// Operations that a host requests by a call and a window by a message of its stream, as in orders.go: resources, prompt
// templates and completion.

func (c *services) listResources(ctx context.Context,
	r *mcphubv1.ListResourcesRequest) (*mcphubv1.ListResourcesResponse, error) {
	all, err := c.domain.Resources(ctx, r.GetServer())
	if err != nil {
		return nil, err
	}
	some, matched := offers.Select(search(r), all, offers.ResourceTexts)
	return &mcphubv1.ListResourcesResponse{Resources: list(some, c.convert.resource), Matched: int32(matched)}, nil
}

func (c *services) listResourceTemplates(ctx context.Context,
	r *mcphubv1.ListResourceTemplatesRequest) (*mcphubv1.ListResourceTemplatesResponse, error) {
	all, err := c.domain.ResourceTemplates(ctx, r.GetServer())
	if err != nil {
		return nil, err
	}
	some, matched := offers.Select(search(r), all, offers.TemplateTexts)
	return &mcphubv1.ListResourceTemplatesResponse{ResourceTemplates: list(some, c.convert.resourceTemplate),
		Matched: int32(matched)}, nil
}

func (c *services) listMcpPrompts(ctx context.Context,
	r *mcphubv1.ListMcpPromptsRequest) (*mcphubv1.ListMcpPromptsResponse, error) {
	all, err := c.domain.McpPrompts(ctx, r.GetServer())
	if err != nil {
		return nil, err
	}
	some, matched := offers.Select(search(r), all, offers.PromptTexts)
	return &mcphubv1.ListMcpPromptsResponse{Prompts: list(some, c.convert.mcpPrompt), Matched: int32(matched)}, nil
}

func (c *services) complete(ctx context.Context, r *mcphubv1.CompleteRequest) (*mcphubv1.CompleteResponse, error) {
	result, err := c.domain.Complete(ctx, completion(r))
	if err != nil {
		return nil, err
	}
	return c.convert.completionResult(result), nil
}

func (c *services) expandURITemplate(
	r *mcphubv1.ExpandUriTemplateRequest) (*mcphubv1.ExpandUriTemplateResponse, error) {
	uri, err := offers.Expand(r.GetUriTemplate(), r.GetValues())
	if err != nil {
		return nil, err
	}
	return &mcphubv1.ExpandUriTemplateResponse{Uri: uri}, nil
}

// searched is a request for a part of a list.
type searched interface {
	GetQuery() string
	GetLimit() int32
}

func search(r searched) offers.Search {
	return offers.Search{Query: r.GetQuery(), Limit: int(r.GetLimit())}
}

// windowEntries limits how many entries of a list a window is sent. The window learns how many more there are, and can
// search.
const windowEntries = 1000

func ofWindow(limit int32) int32 {
	if limit == 0 {
		return windowEntries
	}
	return min(limit, windowEntries)
}

// browse begins a request of a window about resources and prompt templates. Lists and completions end with the stream.
func (m *message) browse() {
	s := m.s
	switch order := m.GetMessage().(type) {
	case *mcphubv1.AttachRequest_ListResources:
		m.look(func(ctx context.Context) (*mcphubv1.Reply, error) {
			order.ListResources.Limit = ofWindow(order.ListResources.GetLimit())
			resp, err := s.listResources(ctx, order.ListResources)
			return &mcphubv1.Reply{Response: &mcphubv1.Reply_ListResources{ListResources: resp}}, err
		})
	case *mcphubv1.AttachRequest_ListResourceTemplates:
		m.look(func(ctx context.Context) (*mcphubv1.Reply, error) {
			order.ListResourceTemplates.Limit = ofWindow(order.ListResourceTemplates.GetLimit())
			resp, err := s.listResourceTemplates(ctx, order.ListResourceTemplates)
			return &mcphubv1.Reply{Response: &mcphubv1.Reply_ListResourceTemplates{ListResourceTemplates: resp}}, err
		})
	case *mcphubv1.AttachRequest_ListMcpPrompts:
		m.look(func(ctx context.Context) (*mcphubv1.Reply, error) {
			order.ListMcpPrompts.Limit = ofWindow(order.ListMcpPrompts.GetLimit())
			resp, err := s.listMcpPrompts(ctx, order.ListMcpPrompts)
			return &mcphubv1.Reply{Response: &mcphubv1.Reply_ListMcpPrompts{ListMcpPrompts: resp}}, err
		})
	case *mcphubv1.AttachRequest_Complete:
		m.look(func(ctx context.Context) (*mcphubv1.Reply, error) {
			resp, err := s.complete(ctx, order.Complete)
			return &mcphubv1.Reply{Response: &mcphubv1.Reply_Complete{Complete: resp}}, err
		})
	case *mcphubv1.AttachRequest_ExpandUriTemplate:
		resp, err := s.expandURITemplate(order.ExpandUriTemplate)
		m.answer(&mcphubv1.Reply{Response: &mcphubv1.Reply_ExpandUriTemplate{ExpandUriTemplate: resp}}, err)
	case *mcphubv1.AttachRequest_SubscribeResource:
		m.run(m.w.GoAttached, func(ctx context.Context) (*mcphubv1.Reply, error) {
			o := order.SubscribeResource
			return nil, m.w.SubscribeResource(ctx, o.GetServer(), o.GetUri())
		})
	case *mcphubv1.AttachRequest_UnsubscribeResource:
		m.run(m.w.Go, func(ctx context.Context) (*mcphubv1.Reply, error) {
			o := order.UnsubscribeResource
			return nil, m.w.UnsubscribeResource(ctx, o.GetServer(), o.GetUri())
		})
	}
}
