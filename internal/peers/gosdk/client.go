//lint:file-ignore SA1019 sampling is deprecated since 2026-07-28; the clients of older revisions still use it.

package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcphub-go/mcphub/internal/peers/program"
)

// client runs the scenario.
type client struct {
	session *mcp.ClientSession
	tokens  atomic.Int64

	mu       sync.Mutex
	progress map[string]func() // by token
}

func play(to program.Target) error {
	questions := program.NewQuestions()
	c := &client{progress: map[string]func(){}}
	made := mcp.NewClient(&mcp.Implementation{Name: "gosdk", Version: "1"}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{},
		ElicitationHandler: func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			name, err := questions.Name(ctx)
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": name}}, err
		},
		CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Model: "a model", Role: "assistant",
				Content: &mcp.TextContent{Text: program.Sampled}}, nil
		},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			c.mu.Lock()
			heard := c.progress[fmt.Sprint(r.Params.ProgressToken)]
			c.mu.Unlock()
			if heard != nil {
				heard()
			}
		},
	})
	options := &mcp.ClientSessionOptions{}
	if to.Era == "legacy" {
		options.ProtocolVersion = "2025-11-25"
	}
	var transport mcp.Transport
	if to.URL != "" {
		transport = &mcp.StreamableClientTransport{Endpoint: to.URL,
			HTTPClient: &http.Client{Transport: authorized(to.Authorization)}}
	} else {
		command := exec.Command(to.Command[0], to.Command[1:]...)
		command.Stderr = os.Stderr
		transport = &mcp.CommandTransport{Command: command}
	}
	var err error
	if c.session, err = made.Connect(context.Background(), transport, options); err != nil {
		return err
	}
	return program.Play(os.Stdout, c, to.Prefix, questions)
}

// authorized sends the header Authorization with every request.
type authorized string

func (a authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", string(a))
	return http.DefaultTransport.RoundTrip(r)
}

func (c *client) Tools(ctx context.Context) (names []string, err error) {
	for tool, err := range c.session.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		names = append(names, tool.Name)
	}
	return names, nil
}

func (c *client) Call(ctx context.Context, tool string, arguments map[string]any, progress func()) (string, error) {
	params := &mcp.CallToolParams{Name: tool, Arguments: arguments}
	if progress != nil {
		token := fmt.Sprint("t", c.tokens.Add(1))
		params.SetProgressToken(token)
		c.mu.Lock()
		c.progress[token] = progress
		c.mu.Unlock()
	}
	result, err := c.session.CallTool(ctx, params)
	if err != nil {
		return "", err
	}
	var texts []string
	for _, content := range result.Content {
		if text, ok := content.(*mcp.TextContent); ok {
			texts = append(texts, text.Text)
		}
	}
	return strings.Join(texts, "\n"), nil
}

func (c *client) Prompts(ctx context.Context) (names []string, err error) {
	for prompt, err := range c.session.Prompts(ctx, nil) {
		if err != nil {
			return nil, err
		}
		names = append(names, prompt.Name)
	}
	return names, nil
}

func (c *client) Prompt(ctx context.Context, name string) (int, error) {
	prompt, err := c.session.GetPrompt(ctx, &mcp.GetPromptParams{Name: name})
	if err != nil {
		return 0, err
	}
	return len(prompt.Messages), nil
}

func (c *client) Resources(ctx context.Context) (uris []string, err error) {
	for resource, err := range c.session.Resources(ctx, nil) {
		if err != nil {
			return nil, err
		}
		uris = append(uris, resource.URI)
	}
	return uris, nil
}

func (c *client) Resource(ctx context.Context, uri string) (int, error) {
	result, err := c.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		return 0, err
	}
	n := 0
	for _, content := range result.Contents {
		n += len(content.Text) + len(content.Blob)
	}
	return n, nil
}

func (c *client) Close() error { return c.session.Close() }
