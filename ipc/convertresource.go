package ipc

import (
	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

func (c converter) resource(r event.ResourceInfo) *mcphubv1.Resource {
	return &mcphubv1.Resource{
		Server: c.text(r.Server), Uri: c.text(r.URI), Name: c.text(r.Name), Title: c.text(r.Title),
		Description: c.text(r.Description),
		MimeType:    c.text(r.MIMEType), Size: r.Size, DefinitionJson: c.text(r.Definition),
	}
}

func (c converter) resourceTemplate(t event.ResourceTemplateInfo) *mcphubv1.ResourceTemplate {
	return &mcphubv1.ResourceTemplate{
		Server: c.text(t.Server), UriTemplate: c.text(t.URITemplate), Name: c.text(t.Name), Title: c.text(t.Title),
		Description: c.text(t.Description),
		MimeType:    c.text(t.MIMEType), DefinitionJson: c.text(t.Definition),
		Variables: c.texts(t.Variables), Problem: c.text(t.Problem),
	}
}

func (c converter) mcpPrompt(p event.McpPromptInfo) *mcphubv1.McpPrompt {
	return &mcphubv1.McpPrompt{
		Server: c.text(p.Server), Name: c.text(p.Name), Title: c.text(p.Title), Description: c.text(p.Description),
		Arguments: list(p.Arguments, func(a event.McpPromptArgument) *mcphubv1.McpPromptArgument {
			return &mcphubv1.McpPromptArgument{Name: c.text(a.Name), Title: c.text(a.Title), Description: c.text(a.Description),
				Required: a.Required}
		}),
		DefinitionJson: c.text(p.Definition),
	}
}

func (c converter) readResult(r *hub.CallResult) *mcphubv1.ReadResourceResponse {
	m := &mcphubv1.ReadResourceResponse{RequestId: c.text(r.RequestID), Rounds: int32(r.Rounds),
		Timings: timings(r.Timings)}
	if r.Error != nil {
		m.Outcome = &mcphubv1.ReadResourceResponse_Error{Error: c.mcpError(r.Error)}
	} else {
		m.Outcome = &mcphubv1.ReadResourceResponse_ResultJson{ResultJson: c.text(string(r.Result))}
	}
	return m
}

func (c converter) promptResult(r *hub.CallResult) *mcphubv1.GetMcpPromptResponse {
	m := &mcphubv1.GetMcpPromptResponse{RequestId: c.text(r.RequestID), Rounds: int32(r.Rounds),
		Timings: timings(r.Timings)}
	if r.Error != nil {
		m.Outcome = &mcphubv1.GetMcpPromptResponse_Error{Error: c.mcpError(r.Error)}
	} else {
		m.Outcome = &mcphubv1.GetMcpPromptResponse_ResultJson{ResultJson: c.text(string(r.Result))}
	}
	return m
}

func (c converter) completionResult(r *hub.CallResult) *mcphubv1.CompleteResponse {
	if r.Error != nil {
		return &mcphubv1.CompleteResponse{Outcome: &mcphubv1.CompleteResponse_Error{Error: c.mcpError(r.Error)}}
	}
	return &mcphubv1.CompleteResponse{Outcome: &mcphubv1.CompleteResponse_ResultJson{ResultJson: c.text(string(r.Result))}}
}
