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

// traits are those annotations that differ between the tools. No tool of the demo reaches the open world.
type traits int

const (
	readOnly traits = iota // changes nothing and may be repeated
	additive               // adds something
	harmful                // may destroy something, at worst the process
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

// bound is the range of a numeric argument, and its default value.
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

// handler does the work of a tool. Its error becomes a result with isError, but a *jsonrpc.Error a protocol error.
type handler[In, Out any] func(ctx context.Context, c *call, in In) (*mcp.CallToolResult, Out, error)

// add registers a tool whose calls are recorded. Only the decoding is generic: the SDK's generic AddTool and the code
// below would be compiled once for each tool, which is a fiftieth of the whole program.
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

// add registers a tool whose arguments are not decoded. The SDK validates the arguments, and the result if there is a
// schema for it.
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
		// A closed HTTP session of the SDK waits for its tools, but does not cancel them.
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(d.ctx, func() { cancel(context.Cause(d.ctx)) })()
		done := watch(ctx, func() {
			cause := context.Cause(ctx)
			if d.ctx.Err() != nil {
				cause = context.Cause(d.ctx) // then connections break too, perhaps earlier
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

// noProperties is the schema of a tool without arguments. OpenAI refuses a schema without "properties", and a
// [jsonschema.Schema] omits an empty "properties".
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

// schemaOf returns the schema of a type. It panics on a type without one: all types are fixed here.
func schemaOf(s spec, t reflect.Type) *jsonschema.Schema {
	schema, err := jsonschema.ForType(t, &jsonschema.ForOptions{})
	if err != nil {
		panic(fmt.Sprintf("tool %s: %v", s.name, err))
	}
	return schema
}

// bind puts the bounds and patterns of s into the schema of its arguments. It panics if an argument does not exist.
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

// progress sends the progress of the call to the client, if the client asked for it. The work goes on if the send
// fails.
func (c *call) progress(ctx context.Context, done, total int, message string) {
	token := c.req.Params.GetProgressToken()
	if token == nil {
		return
	}
	_ = c.req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
		ProgressToken: token, Progress: float64(done), Total: float64(total), Message: message,
	})
}

// log sends a log message. The SDK drops it if the client's level excludes it.
func (c *call) log(ctx context.Context, level mcp.LoggingLevel, message string) {
	_ = c.req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: level, Logger: c.tool, Data: message})
}

// modern reports whether the session's era has input_required results for questions (2026-07-28).
func (c *call) modern() bool {
	p := c.req.Session.InitializeParams()
	return p == nil || p.ProtocolVersion >= "2026-07-28"
}

func text(format string, args ...any) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}}
}
