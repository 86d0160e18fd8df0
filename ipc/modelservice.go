package ipc

import (
	"context"
	"encoding/json"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/toolset"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

type modelToolService struct {
	mcphubv1.UnimplementedModelToolServiceServer
	*services
}

func (s *modelToolService) ListModelTools(ctx context.Context,
	r *mcphubv1.ListModelToolsRequest) (*mcphubv1.ListModelToolsResponse, error) {
	tools, aside, tokens, err := s.domain.ModelTools().List(ctx, r.GetProfile())
	if err != nil {
		return nil, err
	}
	return &mcphubv1.ListModelToolsResponse{
		Tools: list(tools, s.convert.modelTool),
		Aside: list(aside, func(a toolset.Aside) *mcphubv1.ModelToolAside {
			return &mcphubv1.ModelToolAside{Server: s.convert.text(a.Server), Tool: s.convert.text(a.Name),
				Reason: s.convert.text(a.Reason)}
		}),
		Tokens: int64(tokens),
	}, nil
}

func (s *modelToolService) SearchTools(ctx context.Context,
	r *mcphubv1.SearchToolsRequest) (*mcphubv1.SearchToolsResponse, error) {
	found, err := s.domain.ModelTools().Search(ctx, r.GetQuery(), int(min(r.GetLimit(), 1<<16)), r.GetProfile())
	if err != nil {
		return nil, err
	}
	return &mcphubv1.SearchToolsResponse{Tools: list(found, func(f toolset.Found) *mcphubv1.FoundTool {
		return &mcphubv1.FoundTool{Name: f.ModelName, Server: s.convert.text(f.Server), Tool: s.convert.text(f.Name),
			Description: s.convert.text(f.Description), Score: f.Score}
	})}, nil
}

func (s *modelToolService) ReadResult(ctx context.Context,
	r *mcphubv1.ReadResultRequest) (*mcphubv1.ReadResultResponse, error) {
	p, err := s.domain.ModelTools().ReadResult(r.GetResultId(), r.GetOffset(), int(min(r.GetLimit(), 1<<30)),
		r.GetOriginal())
	if err != nil {
		return nil, err
	}
	return &mcphubv1.ReadResultResponse{Text: s.convert.text(p.Text), Offset: p.Offset, NextOffset: p.Next,
		Size: p.Size}, nil
}

func (s *modelToolService) ListProfiles(context.Context,
	*mcphubv1.ListProfilesRequest) (*mcphubv1.ListProfilesResponse, error) {
	servers, _ := s.domain.Servers()
	r := &mcphubv1.ListProfilesResponse{}
	for _, p := range s.domain.Profiles() {
		m := &mcphubv1.Profile{Name: s.convert.text(p.Name), File: s.convert.text(p.Origin.File),
			Line: int32(p.Origin.Line)}
		for _, server := range servers {
			if p.HasServer(server.Name) {
				m.Servers = append(m.Servers, s.convert.text(server.Name))
			}
		}
		r.Profiles = append(r.Profiles, m)
	}
	return r, nil
}

func (c converter) modelTool(t toolset.Tool) *mcphubv1.ModelTool {
	return &mcphubv1.ModelTool{
		Name: t.ModelName, Server: c.text(t.Server), Tool: c.text(t.Name), Title: c.text(t.Title),
		Description: c.text(t.Description), InputSchemaJson: c.text(string(t.InputSchema)), Tokens: int32(t.Tokens),
		Policy: mcphubv1.ApprovalPolicy(t.Policy),
		Hints: &mcphubv1.ModelToolHints{ReadOnly: t.Hints.ReadOnly, Destructive: t.Hints.Destructive,
			Idempotent: t.Hints.Idempotent, OpenWorld: t.Hints.OpenWorld},
		Changes: list(t.Changes, func(ch toolset.Change) *mcphubv1.ModelToolChange {
			return &mcphubv1.ModelToolChange{At: c.text(ch.At), What: c.text(ch.What)}
		}),
	}
}

// named sets the server and the tool of a call from the name that models use for the tool.
func (c *services) named(ctx context.Context, call *hub.CallRequest, name string) error {
	if name == "" {
		return nil
	}
	tool, err := c.domain.ModelTools().Find(ctx, name)
	call.Server, call.Tool = tool.Server, tool.Name
	return err
}

// view returns the text of a result for a model, nil if none was asked for or there is no result.
func (c *services) view(r *mcphubv1.ViewRequest, result json.RawMessage) *mcphubv1.View {
	if r == nil || result == nil {
		return nil
	}
	v := c.domain.ModelTools().View(result, toolset.ViewOptions{MaxTokens: int(min(r.GetMaxTokens(), 1<<30)),
		Images: r.GetImages()}, func(id string) string { return "All of it is kept as result " + id })
	return &mcphubv1.View{
		Text: c.convert.text(v.Text), Cut: v.Cut, LeftBytes: int64(v.LeftBytes), LeftLines: int64(v.LeftLines),
		ResultId:   v.ID,
		ImagesJson: list(v.Images, func(image json.RawMessage) string { return c.convert.text(string(image)) }),
	}
}
