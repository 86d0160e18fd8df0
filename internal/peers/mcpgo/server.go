//lint:file-ignore SA1019 sampling is deprecated since 2026-07-28; the clients of older revisions still use it.

// Command mcpgo is a server with github.com/mark3labs/mcp-go against which the tests run, as `mcpgo stdio|http`. Over
// HTTP it serves Streamable HTTP at /mcp (both eras) and the transport of 2024-11-05 at /sse, over which mcp-go cannot
// ask. It never withdraws a question.
//
// It is a separate module, so that its SDK is not a dependency of the product. It records what it observes in the
// format of ../journal.mjs, and knows nothing about the hub.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphub-go/mcphub/internal/peers/program"
)

func main() {
	program.Main(program.Server{Name: "mcpgo", Stdio: serveStdio, HTTP: handler, Client: play})
}

func serveStdio(j *program.Journal) error {
	s := server.NewStdioServer(newServer(j))
	// The maximum that it allows: mcp-go loses the cancel of a call that still waits for a worker.
	server.WithWorkerPoolSize(100)(s)
	return s.Listen(context.Background(), os.Stdin, os.Stdout)
}

func handler(j *program.Journal, base string) http.Handler {
	s := newServer(j)
	mux := http.NewServeMux()
	mux.Handle("/mcp", server.NewStreamableHTTPServer(s, server.WithStateful(true)))
	sse := server.NewSSEServer(s, server.WithBaseURL(base))
	mux.Handle("/sse", sse.SSEHandler())
	mux.Handle("/message", sse.MessageHandler())
	return mux
}

// newServer returns a server with the tools of the other servers that it can offer: mcp-go cannot withdraw a question,
// so there is no ask_then_withdraw.
func newServer(j *program.Journal) *server.MCPServer {
	s := server.NewMCPServer("peer-mcpgo", "1.0.0", server.WithToolCapabilities(true), server.WithElicitation(),
		server.WithRecovery())
	s.EnableSampling()
	add := func(run func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error), tool mcp.Tool) {
		s.AddTool(tool, noting(j, tool.Name, run))
	}
	add(slow, mcp.NewTool("slow", mcp.WithDescription("Works, without progress"), mcp.WithNumber("ms"),
		mcp.WithNumber("steps")))
	add(asker{s, j}.ask, mcp.NewTool("ask", mcp.WithDescription("Asks by a form"), mcp.WithString("about")))
	add(asker{s, j}.askByRequest, mcp.NewTool("ask_by_request",
		mcp.WithDescription("Asks as before 2026-07-28, whatever is spoken"), mcp.WithString("about")))
	add(asker{s, j}.sample, mcp.NewTool("sample", mcp.WithDescription("Asks the model"), mcp.WithString("prompt")))
	return s
}

// noting runs a tool and records its outcome.
func noting(j *program.Journal, name string, run server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		j.Note(program.Event{Event: "started", Tool: name})
		result, err := run(ctx, r)
		switch {
		case err == nil && result.NeedsInput():
			j.Note(program.Event{Event: "finished", Tool: name, Detail: "input_required"})
		case err == nil:
			j.Note(program.Event{Event: "finished", Tool: name})
		case ctx.Err() != nil:
			j.Note(program.Event{Event: "cancelled", Tool: name, Reason: context.Cause(ctx).Error()})
		default:
			j.Note(program.Event{Event: "failed", Tool: name, Reason: err.Error()})
		}
		return result, err
	}
}

func slow(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	late := time.NewTimer(time.Duration(r.GetInt("ms", 10_000)) * time.Millisecond)
	defer late.Stop()
	select {
	case <-late.C:
		return mcp.NewToolResultText("done"), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// asker asks questions: in the modern era by a result that asks for input, in the legacy era by a request of the
// server.
type asker struct {
	server  *server.MCPServer
	journal *program.Journal
}

const key = "answer"

func (a asker) ask(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	question := mcp.ElicitationParams{
		Message: strings.TrimSpace("Your name? " + r.GetString("about", "")),
		RequestedSchema: map[string]any{
			"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}},
			"required": []string{"name"},
		},
	}
	if answer := server.ElicitationResponse(r.Params.InputResponses, key); answer != nil {
		return again("ask", r, answer)
	}
	a.journal.Note(program.Event{Event: "asked", Tool: "ask"})
	if server.IsModernRequest(ctx) {
		return server.NewInputRequestBuilder("state of ask").Elicit(key, question).ToolResult(), nil
	}
	answer, err := a.server.RequestElicitation(ctx, mcp.ElicitationRequest{Params: question})
	if err != nil {
		return nil, err
	}
	return text(answer)
}

// askByRequest is a tool that was not adapted to the modern era, in which the SDK refuses to send its question.
func (a asker) askByRequest(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	a.journal.Note(program.Event{Event: "asked", Tool: "ask_by_request"})
	answer, err := a.server.RequestElicitation(ctx, mcp.ElicitationRequest{Params: mcp.ElicitationParams{
		Message: "Your name? " + r.GetString("about", ""),
		RequestedSchema: map[string]any{"type": "object",
			"properties": map[string]any{"name": map[string]any{"type": "string"}}},
	}})
	if err != nil {
		return nil, err
	}
	return text(answer)
}

func (a asker) sample(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	question := mcp.CreateMessageParams{
		MaxTokens: 100,
		Messages: []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.NewTextContent("Hello " +
			r.GetString("prompt", ""))}},
	}
	if answer := server.SamplingResponse(r.Params.InputResponses, key); answer != nil {
		return again("sample", r, answer)
	}
	a.journal.Note(program.Event{Event: "asked", Tool: "sample"})
	if server.IsModernRequest(ctx) {
		return server.NewInputRequestBuilder("state of sample").Sample(key, question).ToolResult(), nil
	}
	answer, err := a.server.RequestSampling(ctx, mcp.CreateMessageRequest{CreateMessageParams: question})
	if err != nil {
		return nil, err
	}
	return text(answer)
}

func again(tool string, r mcp.CallToolRequest, answer any) (*mcp.CallToolResult, error) {
	if r.Params.RequestState != "state of "+tool {
		return nil, errors.New("requestState was not echoed")
	}
	return text(answer)
}

func text(v any) (*mcp.CallToolResult, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return mcp.NewToolResultText(string(b)), nil
}
