//lint:file-ignore SA1019 sampling and roots are deprecated since 2026-07-28; the clients of older revisions still use them.

package demoserver

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type noArgs struct{}

type openPageArgs struct {
	URL string `json:"url" jsonschema:"the page that the user is to open"`
}

type summarizeArgs struct {
	Text string `json:"text" jsonschema:"the text to sum up"`
}

func nameForm() *mcp.ElicitParams {
	least, most := 1, 100
	return &mcp.ElicitParams{
		Mode:    "form",
		Message: "What is your name?",
		RequestedSchema: &jsonschema.Schema{
			Type:     "object",
			Required: []string{"name"},
			Properties: map[string]*jsonschema.Schema{
				"name":   {Type: "string", Title: "Name", MinLength: &least, MaxLength: &most},
				"formal": {Type: "boolean", Title: "Formal greeting", Default: []byte(`false`)},
			},
		},
	}
}

func summaryRequest(s string) *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{
		MaxTokens:    200,
		SystemPrompt: "Sum up in one sentence.",
		Messages:     []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: s}}},
	}
}

// addQuestions adds the tools that ask the user, the model or the editor.
func (d *demo) addQuestions() {
	add(d, spec{
		name: "ask_name", title: "Ask for a name",
		description: "Asks the user for a name in a form, and greets.",
	}, askName)
	add(d, spec{
		name: "open_page", title: "Open a page",
		description: "Asks the user to open a page in the browser.",
		patterns:    map[string]string{"url": "^https?://"},
	}, openPage)
	add(d, spec{
		name: "summarize", title: "Summarize",
		description: "Has the client's model sum up a text.",
	}, summarize)
	add(d, spec{
		name: "list_roots", title: "List roots",
		description: "Asks the client for its roots and answers them.",
	}, listRoots)
}

func askName(ctx context.Context, c *call, _ noArgs) (*mcp.CallToolResult, any, error) {
	res, round, err := c.elicit(ctx, nameForm())
	if round != nil || err != nil {
		return round, nil, err
	}
	switch res.Action {
	case "accept":
		name, _ := res.Content["name"].(string)
		if name == "" {
			return nil, nil, errors.New("the form was accepted without a name")
		}
		if formal, _ := res.Content["formal"].(bool); formal {
			return text("Good day, %s.", name), nil, nil
		}
		return text("Hello, %s!", name), nil, nil
	case "decline":
		return text("The user declined to give a name."), nil, nil
	case "cancel":
		return text("The user dismissed the question."), nil, nil
	}
	return nil, nil, fmt.Errorf("unknown action %q", res.Action)
}

func openPage(ctx context.Context, c *call, in openPageArgs) (*mcp.CallToolResult, any, error) {
	p := &mcp.ElicitParams{Mode: "url", Message: "The demo server wants you to open a page.", URL: in.URL}
	if !c.modern() {
		p.ElicitationID = "demo-page" // removed in 2026-07-28
	}
	res, round, err := c.elicit(ctx, p)
	if round != nil || err != nil {
		return round, nil, err
	}
	switch res.Action {
	case "accept":
		return text("The user agreed to open %s.", in.URL), nil, nil
	case "decline":
		return text("The user declined to open the page."), nil, nil
	case "cancel":
		return text("The user dismissed the question."), nil, nil
	}
	return nil, nil, fmt.Errorf("unknown action %q", res.Action)
}

func summarize(ctx context.Context, c *call, in summarizeArgs) (*mcp.CallToolResult, any, error) {
	res, round, err := c.sample(ctx, summaryRequest(in.Text))
	if round != nil {
		return round, nil, nil
	}
	if err != nil {
		return nil, nil, refused(err, "the client gave no summary")
	}
	var b strings.Builder
	for _, part := range res.Content {
		if t, ok := part.(*mcp.TextContent); ok {
			b.WriteString(t.Text)
		}
	}
	return text("%s (by %s)", b.String(), res.Model), nil, nil
}

func listRoots(ctx context.Context, c *call, _ noArgs) (*mcp.CallToolResult, any, error) {
	res, round, err := c.roots(ctx)
	if round != nil {
		return round, nil, nil
	}
	if err != nil {
		return nil, nil, refused(err, "the client gave no roots")
	}
	lines := []string{fmt.Sprintf("%d roots", len(res.Roots))}
	for _, r := range res.Roots {
		lines = append(lines, r.URI)
	}
	return text("%s", strings.Join(lines, "\n")), nil, nil
}

// refused turns a client's error answer to a question into an error of the tool. The demo's own objections stay
// protocol errors. (The SDK sends a bare *jsonrpc.Error of a tool as the answer to the call.)
func refused(err error, what string) error {
	if own, ok := err.(*jsonrpc.Error); ok {
		return own
	}
	return fmt.Errorf("%s: %w", what, err)
}
