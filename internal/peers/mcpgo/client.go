//lint:file-ignore SA1019 sampling is deprecated since 2026-07-28; the clients of older revisions still use it.

package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphub-go/mcphub/internal/peers/program"
)

// player runs the scenario.
type player struct {
	client *client.Client
	tokens atomic.Int64

	mu       sync.Mutex
	progress map[string]func() // by token
}

type elicitor struct{ questions *program.Questions }

func (e elicitor) Elicit(ctx context.Context, _ mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	name, err := e.questions.Name(ctx)
	return &mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{
		Action: mcp.ElicitationResponseActionAccept, Content: map[string]any{"name": name}}}, err
}

type sampler struct{}

func (sampler) CreateMessage(context.Context, mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	return &mcp.CreateMessageResult{Model: "a model", SamplingMessage: mcp.SamplingMessage{Role: mcp.RoleAssistant,
		Content: mcp.NewTextContent(program.Sampled)}}, nil
}

func play(to program.Target) error {
	questions := program.NewQuestions()
	p := &player{progress: map[string]func(){}}
	var link transport.Interface
	if to.URL != "" {
		options := []transport.StreamableHTTPCOption{
			transport.WithHTTPHeaders(map[string]string{"Authorization": to.Authorization}),
		}
		if to.Era == "legacy" {
			options = append(options, transport.WithContinuousListening()) // prevents it from using 2026-07-28
		}
		streamable, err := transport.NewStreamableHTTP(to.URL, options...)
		if err != nil {
			return err
		}
		link = streamable
	} else {
		link = transport.NewStdioWithOptions(to.Command[0], os.Environ(), to.Command[1:],
			transport.WithCommandStderrWriter(os.Stderr))
	}
	options := []client.ClientOption{client.WithElicitationHandler(elicitor{questions}),
		client.WithSamplingHandler(sampler{})}
	if to.Era == "legacy" {
		options = append(options, client.WithProtocolVersion("2025-11-25"))
	}
	ctx := context.Background()
	p.client = client.NewClient(link, options...)
	if err := p.client.Start(ctx); err != nil {
		return err
	}
	p.client.OnNotification(func(n mcp.JSONRPCNotification) {
		if n.Method != "notifications/progress" {
			return
		}
		p.mu.Lock()
		heard := p.progress[fmt.Sprint(n.Params.AdditionalFields["progressToken"])]
		p.mu.Unlock()
		if heard != nil {
			heard()
		}
	})
	hello := mcp.InitializeRequest{}
	hello.Params.ClientInfo = mcp.Implementation{Name: "mcpgo", Version: "1"}
	if _, err := p.client.Initialize(ctx, hello); err != nil {
		return err
	}
	return program.Play(os.Stdout, p, to.Prefix, questions)
}

func (p *player) Tools(ctx context.Context) (names []string, err error) {
	result, err := p.client.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return nil, err
	}
	for _, tool := range result.Tools {
		names = append(names, tool.Name)
	}
	return names, nil
}

func (p *player) Call(ctx context.Context, tool string, arguments map[string]any, progress func()) (string, error) {
	r := mcp.CallToolRequest{}
	r.Params.Name, r.Params.Arguments = tool, arguments
	if progress != nil {
		token := fmt.Sprint("t", p.tokens.Add(1))
		r.Params.Meta = &mcp.Meta{ProgressToken: token}
		p.mu.Lock()
		p.progress[token] = progress
		p.mu.Unlock()
	}
	result, err := p.client.CallTool(ctx, r)
	if err != nil {
		return "", err
	}
	var texts []string
	for _, content := range result.Content {
		if text, ok := content.(mcp.TextContent); ok {
			texts = append(texts, text.Text)
		}
	}
	return strings.Join(texts, "\n"), nil
}

func (p *player) Prompts(ctx context.Context) (names []string, err error) {
	result, err := p.client.ListPrompts(ctx, mcp.ListPromptsRequest{})
	if err != nil {
		return nil, err
	}
	for _, prompt := range result.Prompts {
		names = append(names, prompt.Name)
	}
	return names, nil
}

func (p *player) Prompt(ctx context.Context, name string) (int, error) {
	r := mcp.GetPromptRequest{}
	r.Params.Name = name
	result, err := p.client.GetPrompt(ctx, r)
	if err != nil {
		return 0, err
	}
	return len(result.Messages), nil
}

func (p *player) Resources(ctx context.Context) (uris []string, err error) {
	result, err := p.client.ListResources(ctx, mcp.ListResourcesRequest{})
	if err != nil {
		return nil, err
	}
	for _, resource := range result.Resources {
		uris = append(uris, resource.URI)
	}
	return uris, nil
}

func (p *player) Resource(ctx context.Context, uri string) (int, error) {
	r := mcp.ReadResourceRequest{}
	r.Params.URI = uri
	result, err := p.client.ReadResource(ctx, r)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, content := range result.Contents {
		switch content := content.(type) {
		case mcp.TextResourceContents:
			n += len(content.Text)
		case mcp.BlobResourceContents:
			n += len(content.Blob)
		}
	}
	return n, nil
}

func (p *player) Close() error { return p.client.Close() }
