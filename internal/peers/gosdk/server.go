//lint:file-ignore SA1019 sampling is deprecated since 2026-07-28; the clients of older revisions still use it.

// Command gosdk is a server with the official Go SDK against which the tests run, as `gosdk stdio|http`. Over HTTP it
// serves Streamable HTTP at /mcp, with sessions for legacy clients and without sessions for modern ones (whose
// disconnect cancels the call), and the old SSE transport at /sse.
//
// It records what it observes in the format of ../journal.mjs. It knows nothing about the hub.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcphub-go/mcphub/internal/peers/program"
)

func main() {
	program.Main(program.Server{Name: "gosdk", Stdio: serveStdio, HTTP: handler, Client: play})
}

func serveStdio(j *program.Journal) error {
	return newServer(j).Run(context.Background(), &mcp.StdioTransport{})
}

func handler(j *program.Journal, _ string) http.Handler {
	server := newServer(j)
	get := func(*http.Request) *mcp.Server { return server }
	mux := http.NewServeMux()
	// The SDK offers 2026-07-28 only in its stateless handler; a legacy client's questions and its GET stream need the
	// other handler.
	modern := mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: true,
		PropagateRequestCancellation: true})
	legacy := mcp.NewStreamableHTTPHandler(get, nil)
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= "2026-07-28" {
			modern.ServeHTTP(w, r)
		} else {
			legacy.ServeHTTP(w, r)
		}
	})
	mux.Handle("/sse", mcp.NewSSEHandler(get, nil))
	return mux
}

func newServer(j *program.Journal) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "peer-gosdk", Version: "1.0.0"}, nil)
	add(s, j, "slow", "Works, with progress", slow)
	add(s, j, "ask", "Asks by a form", ask)
	add(s, j, "ask_by_request", "Asks as before 2026-07-28, whatever is spoken", askByRequest)
	add(s, j, "sample", "Asks the model", sample)
	add(s, j, "ask_then_withdraw", "Takes its question back", askThenWithdraw)
	return s
}

// call is one tool call.
type call struct {
	*program.Journal
	tool string
	req  *mcp.CallToolRequest
}

type tool[In any] func(ctx context.Context, c call, in In) (*mcp.CallToolResult, error)

// add adds a tool and writes down how its calls go.
func add[In any](s *mcp.Server, j *program.Journal, name, description string, run tool[In]) {
	mcp.AddTool(s, &mcp.Tool{Name: name, Description: description}, func(ctx context.Context, req *mcp.CallToolRequest,
		in In) (*mcp.CallToolResult, any, error) {
		j.Note(program.Event{Event: "started", Tool: name, Session: req.Session.ID()})
		result, err := run(ctx, call{j, name, req}, in)
		switch {
		case err == nil && result.InputRequests != nil:
			j.Note(program.Event{Event: "finished", Tool: name, Detail: "input_required"})
		case err == nil:
			j.Note(program.Event{Event: "finished", Tool: name})
		case ctx.Err() != nil:
			j.Note(program.Event{Event: "cancelled", Tool: name, Reason: context.Cause(ctx).Error()})
		default:
			j.Note(program.Event{Event: "failed", Tool: name, Reason: err.Error()})
		}
		return result, nil, err
	})
}

func text(v any) (*mcp.CallToolResult, error) {
	s, ok := v.(string)
	if !ok {
		b, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		s = string(b)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}, nil
}

type slowIn struct {
	MS    int `json:"ms,omitempty" jsonschema:"how long it takes, in milliseconds; 10000 when left out"`
	Steps int `json:"steps,omitempty" jsonschema:"how often it reports; 10 when left out"`
}

func slow(ctx context.Context, c call, in slowIn) (*mcp.CallToolResult, error) {
	ms, steps := or(in.MS, 10_000), or(in.Steps, 10)
	tick := time.NewTicker(time.Duration(ms) * time.Millisecond / time.Duration(steps))
	defer tick.Stop()
	for i := 1; i <= steps; i++ {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if token := c.req.Params.GetProgressToken(); token != nil {
			// A legacy client that has closed the stream gets no progress, and has not cancelled.
			_ = c.req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(i),
				Total: float64(steps)})
		}
	}
	return text("done")
}

func or(n, instead int) int {
	if n <= 0 {
		return instead
	}
	return n
}

// modern reports whether the server asks by results, not by requests (2026-07-28, basic/patterns/mrtr).
func (c call) modern() bool {
	p := c.req.Session.InitializeParams()
	return p == nil || p.ProtocolVersion >= "2026-07-28"
}

// round asks a question by a result, or returns the answer that came with this round.
func (c call) round(question mcp.InputRequest) (*mcp.CallToolResult, error) {
	p := c.req.Params
	answer, ok := p.InputResponses["answer"]
	if !ok {
		c.Note(program.Event{Event: "asked", Tool: c.tool})
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"answer": question}, RequestState: "state of " +
			c.tool}, nil
	}
	if p.RequestState != "state of "+c.tool {
		return nil, errors.New("requestState was not echoed")
	}
	return text(answer)
}

func form(message string) *mcp.ElicitParams {
	return &mcp.ElicitParams{Message: message, RequestedSchema: &jsonschema.Schema{
		Type: "object", Properties: map[string]*jsonschema.Schema{"name": {Type: "string"}}, Required: []string{"name"},
	}}
}

type askIn struct {
	About string `json:"about,omitempty" jsonschema:"what the question says at its end"`
}

// askByRequest is a tool that was not adapted to the modern era, in which the SDK refuses to send its question.
func askByRequest(ctx context.Context, c call, in askIn) (*mcp.CallToolResult, error) {
	c.Note(program.Event{Event: "asked", Tool: c.tool})
	answer, err := c.req.Session.Elicit(ctx, form("Your name? "+in.About))
	if err != nil {
		return nil, err
	}
	return text(answer)
}

func ask(ctx context.Context, c call, in askIn) (*mcp.CallToolResult, error) {
	question := strings.TrimSpace("Your name? " + in.About)
	if c.modern() {
		return c.round(form(question))
	}
	c.Note(program.Event{Event: "asked", Tool: c.tool})
	answer, err := c.req.Session.Elicit(ctx, form(question))
	if err != nil {
		return nil, err
	}
	return text(answer)
}

type sampleIn struct {
	Prompt string `json:"prompt,omitempty" jsonschema:"what to ask the model"`
}

func sample(ctx context.Context, c call, in sampleIn) (*mcp.CallToolResult, error) {
	params := &mcp.CreateMessageParams{
		MaxTokens: 100,
		Messages:  []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "Hello " + in.Prompt}}},
	}
	if c.modern() {
		return c.round(params)
	}
	c.Note(program.Event{Event: "asked", Tool: c.tool})
	answer, err := c.req.Session.CreateMessage(ctx, params)
	if err != nil {
		return nil, err
	}
	return text(answer)
}

type withdrawIn struct {
	After  int    `json:"after,omitempty" jsonschema:"after how many milliseconds; 200 when left out"`
	Reason string `json:"reason,omitempty" jsonschema:"the cause; the SDK does not send it"`
	AtOnce bool   `json:"atOnce,omitempty" jsonschema:"answer at once, so that the SDK may lose the withdrawal"`
}

// sendTime is how long the tool waits for the SDK to send the withdrawal. Over Streamable HTTP the SDK loses it (about
// one in three) if the answer of the call has ended the stream before that.
const sendTime = 500 * time.Millisecond

func askThenWithdraw(ctx context.Context, c call, in withdrawIn) (*mcp.CallToolResult, error) {
	if c.modern() {
		return nil, errors.New("a server of revision 2026-07-28 sends no requests, so it has none to withdraw")
	}
	withdrawn := fmt.Errorf("withdrawn: %s", in.Reason)
	asking, cancel := context.WithTimeoutCause(ctx, time.Duration(or(in.After, 200))*time.Millisecond, withdrawn)
	defer cancel()
	c.Note(program.Event{Event: "asked", Tool: c.tool})
	answer, err := c.req.Session.Elicit(asking, form("Quick: your name?"))
	if errors.Is(context.Cause(asking), withdrawn) {
		c.Note(program.Event{Event: "withdrawn", Tool: c.tool, Reason: in.Reason})
		if !in.AtOnce {
			select {
			case <-time.After(sendTime):
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		return text("withdrawn")
	}
	if err != nil {
		return nil, err
	}
	return text(answer)
}
