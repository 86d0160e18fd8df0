package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/mcpserver"
	"github.com/mcphub-go/mcphub/hub/toolset"
)

// The gateway's own tools: three that replace the list of all others, and one that reads the rest of long results.
const (
	searchTools  = "search_tools"
	describeTool = "describe_tool"
	callTool     = "call_tool"
	readResult   = "read_result"
)

func mayBeOwn(name string) bool {
	return name == searchTools || name == describeTool || name == callTool || name == readResult
}

// ToolsAuto means ToolsSearch if there are this many tools, or tokens in their definitions, or more.
const (
	manyTools  = 100
	manyTokens = 10_000
)

// Bounds on the text of a search result.
const (
	foundDescription = 300 // bytes of the description of one tool
	foundArguments   = 200 // bytes of the names of its arguments
	namedServers     = 600 // bytes of the names of servers
)

// ownTool returns the definition of one of the gateway's own tools.
func ownTool(name, title, description, properties, required, annotations string) json.RawMessage {
	b := jsontext.AppendString([]byte(`{"name":`), name)
	b = jsontext.AppendString(append(b, `,"title":`...), title)
	b = jsontext.AppendString(append(b, `,"description":`...), description)
	return append(b, `,"inputSchema":{"type":"object","properties":{`+properties+`},"required":[`+required+`]},`+
		`"annotations":{`+annotations+`}}`...)
}

const readOnly = `"readOnlyHint":true,"openWorldHint":false`

// searching returns the definitions of the three tools that replace the list all.
func searching(all *listing) []json.RawMessage {
	servers, more := "", 0
	for _, server := range all.servers {
		if len(servers)+len(server) > namedServers {
			more++
			continue
		}
		if servers != "" {
			servers += ", "
		}
		servers += bounds.Printable(server)
	}
	if more > 0 {
		servers += fmt.Sprintf(" and %d more", more)
	}
	return []json.RawMessage{
		ownTool(searchTools, "Search tools", fmt.Sprintf("Finds tools by words of what they do: there are %d, of the servers %s. "+
			"Search before you say that something cannot be done. It gives names for %s, with descriptions and arguments.",
			len(all.names), servers, callTool),
			`"query":{"type":"string","description":"what the tool is to do"},`+
				`"limit":{"type":"integer","minimum":1,"maximum":50,"description":"how many, default 5"}`, `"query"`, readOnly),
		ownTool(describeTool, "Describe a tool", "Gives the whole definition of a tool, with the schema of its arguments.",
			`"name":{"type":"string","description":"as `+searchTools+` gave it"}`, `"name"`, readOnly),
		ownTool(callTool, "Call a tool", "Calls a tool that "+searchTools+" has found.",
			`"name":{"type":"string","description":"as `+searchTools+` gave it"},`+
				`"arguments":{"type":"object","description":"as the tool's schema asks for"}`, `"name"`, ``),
	}
}

var readingOn = ownTool(readResult, "Read a result on", "Reads a long result of which the middle was left out, in pieces.",
	`"id":{"type":"string","description":"as the result says"},`+
		`"offset":{"type":"integer","minimum":0,"description":"where the piece begins, default 0"}`, `"id"`, readOnly)

// ownCall answers a call of one of the gateway's own tools. Errors are results that a model can read.
func (g *Gateway) ownCall(ctx context.Context, c *mcpserver.Call, name string,
	arguments json.RawMessage) (json.RawMessage, error) {
	switch name {
	case searchTools:
		limit, ok := number(arguments, "limit")
		if !ok {
			return errorResult("limit must be a whole number"), nil
		}
		return g.search(ctx, jsontext.String(jsontext.Get(arguments, "query")), limit)
	case describeTool:
		return g.describe(ctx, jsontext.String(jsontext.Get(arguments, "name")))
	case readResult:
		offset, ok := number(arguments, "offset")
		if !ok {
			return errorResult("offset must be a whole number"), nil
		}
		return g.readOn(jsontext.String(jsontext.Get(arguments, "id")), offset)
	}
	inner, err := argumentsIn(arguments)
	if err != nil {
		return errorResult(messageOf(err)), nil
	}
	tool, err := g.shelf.tool(ctx, jsontext.String(jsontext.Get(arguments, "name")))
	if err != nil {
		return errorResult(messageOf(err) + "\nFind names with " + searchTools + "."), nil
	}
	// A client whose user allows call_tool has not allowed every tool behind it.
	return g.callAt(ctx, c, tool, inner, false)
}

// number returns the integer argument of that name, or 0 if it is missing. ok is false if it is not an integer.
func number(arguments json.RawMessage, name string) (n int64, ok bool) {
	value := jsontext.Get(arguments, name)
	return n, value == nil || json.Unmarshal(value, &n) == nil
}

func (g *Gateway) search(ctx context.Context, query string, limit int64) (json.RawMessage, error) {
	if strings.TrimSpace(query) == "" {
		return errorResult("query must be words of what the tool is to do"), nil
	}
	found, err := g.hub.ModelTools().SearchIn(ctx, query, int(max(0, min(limit, 50))), g.shelf.profileNow())
	if err != nil {
		return errorResult(messageOf(err)), nil
	}
	all := g.shelf.toolList(ctx)
	var b strings.Builder
	for _, f := range found {
		if name, listed := all.named[origin{f.Server, f.Name}]; listed {
			describeFound(&b, name, &f)
		}
	}
	if b.Len() == 0 {
		return said(fmt.Sprintf("No tool fits. There are %d tools; try other words.", len(all.names))), nil
	}
	return said(strings.TrimSuffix(b.String(), "\n")), nil
}

func describeFound(b *strings.Builder, name string, f *toolset.Found) {
	b.WriteString(name + "\n")
	if text := strings.Join(strings.Fields(f.Description), " "); text != "" {
		b.WriteString("  " + bounds.Cut(text, foundDescription) + "\n")
	}
	schema := jsontext.Get(json.RawMessage(f.Definition), "inputSchema")
	required := map[string]bool{}
	jsontext.Elements(jsontext.Get(schema, "required"), func(name json.RawMessage) bool {
		required[jsontext.String(name)] = true
		return len(required) < 100
	})
	var names []string
	size := 0
	jsontext.Members(jsontext.Get(schema, "properties"), func(name []byte, of json.RawMessage) bool {
		text := bounds.Printable(string(name))
		if kind := jsontext.String(jsontext.Get(of, "type")); kind != "" {
			text += " (" + bounds.Printable(kind)
			if !required[string(name)] {
				text += ", optional"
			}
			text += ")"
		} else if !required[string(name)] {
			text += " (optional)"
		}
		if size += len(text) + 2; size > foundArguments {
			names = append(names, "...")
			return false
		}
		names = append(names, text)
		return true
	})
	if len(names) > 0 {
		b.WriteString("  arguments: " + strings.Join(names, ", ") + "\n")
	}
}

func (g *Gateway) describe(ctx context.Context, name string) (json.RawMessage, error) {
	if _, err := g.shelf.tool(ctx, name); err != nil { // it may be of a server that comes up now
		return errorResult(messageOf(err) + "\nFind names with " + searchTools + "."), nil
	}
	definition, err := g.shelf.toolList(ctx).define(name)
	if err != nil {
		return errorResult(messageOf(err) + "\nFind names with " + searchTools + "."), nil
	}
	return g.bounded(said(string(definition))), nil
}

// readOn returns the next piece of a long result that fits into the bound.
func (g *Gateway) readOn(id string, offset int64) (json.RawMessage, error) {
	// the JSON around the text and its last line need some
	room := toolset.BytesFor(max(g.o.MaxTokens, bounds.ViewTokens)) - 200
	p, err := g.hub.ModelTools().ReadResult(id, offset, room, false)
	if err != nil {
		return errorResult(messageOf(err)), nil
	}
	for n := len(said(p.Text)); n > room; n = len(said(p.Text)) { // escaped in JSON, a character may take six bytes
		p = p.Cut(len(p.Text) * room / n * 9 / 10)
	}
	text := p.Text
	if p.Next > 0 {
		text += fmt.Sprintf("\n[bytes %d to %d of %d; read on with offset %d]", p.Offset, p.Next, p.Size, p.Next)
	}
	return said(text), nil
}

// bounded shortens a result that exceeds Options.MaxTokens, and stores the whole result for read_result.
func (g *Gateway) bounded(result json.RawMessage) json.RawMessage {
	if toolset.Within(result, g.o.MaxTokens) {
		return result
	}
	v := g.hub.ModelTools().View(result, toolset.ViewOptions{MaxTokens: g.o.MaxTokens}, func(id string) string {
		return "Call " + readResult + " with the id " + id + " to read all of it"
	})
	return v.Result()
}

// messageOf returns the text of an error for a model.
func messageOf(err error) string {
	if refused := (*jsonrpc.Error)(nil); errors.As(err, &refused) {
		return refused.Message
	}
	return event.AsError(err).Message
}

// said returns text as the result of a tool.
func said(text string) json.RawMessage {
	return append(jsontext.AppendString([]byte(`{"content":[{"type":"text","text":`), text), "}]}"...)
}

// errorResult returns text as the result of a tool that failed.
func errorResult(text string) json.RawMessage {
	b := jsontext.AppendString([]byte(`{"content":[{"type":"text","text":`), bounds.Cut(text, bounds.ErrorTextBytes))
	return append(b, `}],"isError":true}`...)
}
