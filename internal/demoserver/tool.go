//lint:file-ignore SA1019 logging is deprecated since 2026-07-28; the clients of older revisions still use it.

package demoserver

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// traits are a tool's annotations, as far as they differ here: no tool of the demo reaches the open world.
type traits int

const (
	readOnly traits = iota // changes nothing, may be repeated
	additive               // adds something
	harmful                // may destroy something: the process, at the worst
)

func (t traits) annotations(title string) *mcp.ToolAnnotations {
	closed, destructive := false, t == harmful
	return &mcp.ToolAnnotations{
		Title:           title,
		ReadOnlyHint:    t == readOnly,
		IdempotentHint:  t == readOnly,
		DestructiveHint: &destructive,
		OpenWorldHint:   &closed,
	}
}

// bound is the range of a numeric argument, and its value when it is left out.
type bound struct{ min, max, preset float64 }

// spec describes a tool to its clients.
type spec struct {
	name, title, description string
	traits                   traits
	bounds                   map[string]bound // by argument
	patterns                 map[string]string
}

// call is one call of a tool.
type call struct {
	*demo
	tool string
	req  *mcp.CallToolRequest
}

// handler does the work of a tool. An error becomes a result with isError, a *jsonrpc.Error a protocol error.
type handler[In, Out any] func(ctx context.Context, c *call, in In) (*mcp.CallToolResult, Out, error)

// add registers a tool whose calls are written down. Only the decoding is made for each type of arguments: the SDK's
// own generic AddTool, and what is below, would come once for each tool, a fiftieth of the program together.
func add[In, Out any](d *demo, s spec, h handler[In, Out]) {
	var out *jsonschema.Schema
	if t := reflect.TypeFor[Out](); t != reflect.TypeFor[any]() {
		out = schemaOf(s, t)
	}
	d.add(s, schemaOf(s, reflect.TypeFor[In]()), out,
		func(ctx context.Context, c *call, arguments json.RawMessage) (*mcp.CallToolResult, any, error) {
			var in In
			if err := json.Unmarshal(arguments, &in); err != nil {
				return nil, nil, err
			}
			return h(ctx, c, in)
		})
}

// add is add for arguments that are not decoded. The SDK validates them, and the result where there is a schema for it.
func (d *demo) add(s spec, in, out *jsonschema.Schema, h handler[json.RawMessage, any]) {
	s.bind(in)
	t := &mcp.Tool{
		Name: s.name, Title: s.title, Description: s.description,
		Annotations: s.traits.annotations(s.title), InputSchema: in,
	}
	if len(in.Properties) == 0 {
		t.InputSchema = noProperties
	}
	if out != nil {
		t.OutputSchema = out
	}
	run := func(ctx context.Context, req *mcp.CallToolRequest, in json.RawMessage) (*mcp.CallToolResult, any, error) {
		c := &call{demo: d, tool: s.name, req: req}
		c.note(EventStarted, "")
		// An HTTP session of the SDK that is closed waits for its tools and does not tell them.
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(d.ctx, func() { cancel(context.Cause(d.ctx)) })()
		done := watch(ctx, func() {
			cause := context.Cause(ctx)
			if d.ctx.Err() != nil {
				cause = context.Cause(d.ctx) // connections break then too, and may be first
			}
			d.journal.note(Event{Event: EventCancelled, Tool: s.name, Reason: cause.Error()})
		})
		res, out, err := h(ctx, c, in)
		done()
		c.note(EventFinished, outcome(res, err))
		return res, out, err
	}
	mcp.AddTool(d.server, t, run)
}

// noProperties is the schema of a tool without arguments. OpenAI refuses one without "properties", which a
// [jsonschema.Schema] leaves out when there are none.
var noProperties = json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)

func outcome(res *mcp.CallToolResult, err error) string {
	switch {
	case err != nil, res != nil && res.IsError:
		return "error"
	case res != nil && res.InputRequests != nil:
		return "input_required"
	}
	return "ok"
}

// schemaOf is the schema of a type. It panics on one that has none: all are fixed here.
func schemaOf(s spec, t reflect.Type) *jsonschema.Schema {
	schema, err := jsonschema.ForType(t, &jsonschema.ForOptions{})
	if err != nil {
		panic(fmt.Sprintf("tool %s: %v", s.name, err))
	}
	return schema
}

// bind puts the bounds of s into the schema of its arguments. It panics on a spec that does not fit.
func (s spec) bind(schema *jsonschema.Schema) {
	for arg, b := range s.bounds {
		preset, err := json.Marshal(b.preset)
		if err != nil {
			panic(fmt.Sprintf("tool %s: %v", s.name, err))
		}
		p := schema.Properties[arg]
		p.Minimum, p.Maximum, p.Default = &b.min, &b.max, preset
	}
	for arg, pattern := range s.patterns {
		schema.Properties[arg].Pattern = pattern
	}
}

func (c *call) note(event, detail string) {
	c.journal.note(Event{Event: event, Tool: c.tool, Detail: detail})
}

// progress tells the client how far the call is, if it asked. A failure to send is no reason to stop the work.
func (c *call) progress(ctx context.Context, done, total int, message string) {
	token := c.req.Params.GetProgressToken()
	if token == nil {
		return
	}
	_ = c.req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
		ProgressToken: token, Progress: float64(done), Total: float64(total), Message: message,
	})
}

// log sends a log message, if the client's level lets it through.
func (c *call) log(ctx context.Context, level mcp.LoggingLevel, message string) {
	_ = c.req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: level, Logger: c.tool, Data: message})
}

// modern reports whether the session is of the era in which servers ask by input_required results (2026-07-28).
func (c *call) modern() bool {
	p := c.req.Session.InitializeParams()
	return p == nil || p.ProtocolVersion >= "2026-07-28"
}

func text(format string, args ...any) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}}
}
