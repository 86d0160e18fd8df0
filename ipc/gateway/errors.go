package gateway

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/mcpserver"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

func invalid(text string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: text}
}

// codeNotFound is the error code of resources/read for an unknown URI in the legacy revisions; 2026-07-28 uses -32602.
const codeNotFound = -32002

// notFound returns the error for an unknown resource with the code of the client's era.
func notFound(c *mcpserver.Call, err error) error {
	if e, ok := err.(*jsonrpc.Error); ok && e.Code == jsonrpc.CodeInvalidParams && !c.Client.Modern {
		return &jsonrpc.Error{Code: codeNotFound, Message: e.Message, Data: e.Data}
	}
	return err
}

// toolError returns an error of the hub as a tool result for a model: what happened, to which server, and what to do.
func (g *Gateway) toolError(e *event.Error) json.RawMessage {
	return errorResult(g.advised(e))
}

// advised returns the text of an error with what a model should tell its user if a person has to decide.
func (g *Gateway) advised(e *event.Error) string {
	switch e.Reason {
	case event.ReasonNoApprover:
		return event.Advised(e.Message, g.withoutWindow(e.Meta["setting"] == "approvals"))
	case event.ReasonDeniedByUser, event.ReasonDismissedByUser:
		return e.Message + "\nSomebody has refused this call. Do not repeat it unless the user asks for that."
	}
	return e.Message
}

// withoutWindow returns the advice for the case that nobody could be asked: about a tool call, or about something that
// the server needs to start, which no client asks its user.
func (g *Gateway) withoutWindow(aboutCall bool) string {
	const nobody = "no window is attached to this gateway. Ask the user to start it with "
	switch {
	case g.o.Advice != "":
		return g.o.Advice
	case !aboutCall:
		return nobody + "`--window`, which serves a page for that; or to run `mcphub mcp --window` in a terminal, with the " +
			"same config, and to answer there: what is allowed on the page holds here, too."
	case g.o.Approval == ApprovalClient:
		return "no window is attached to this gateway, and behind " + callTool + " the client's own question does not " +
			"count. Ask the user to start it with `--window`, which serves a page for that, or with `--tools all`; or to allow this tool in the config."
	}
	return nobody + "`mcphub mcp --window`, which serves a page for that; or, where this client asks its user before each " +
		"call, with `mcphub mcp --approval client`."
}

// protocolError returns an error of the hub for methods of which no result could report it.
func (g *Gateway) protocolError(e *event.Error) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: g.advised(e)}
}

// maxQuoted is the maximum number of bytes of a client's name or URI that an error repeats.
const maxQuoted = 256

func quoted(s string) string { return strconv.Quote(bounds.Cut(s, maxQuoted)) }

// required returns a member of params that must be a string.
func required(params json.RawMessage, name string) (string, error) {
	value := jsontext.Get(params, name)
	if !jsontext.IsString(value) {
		return "", invalid(name + " must be a string")
	}
	return jsontext.String(value), nil
}

// texts returns a member of params that must be an object of strings, or nil if it is missing.
func texts(params json.RawMessage, name string) (map[string]string, error) {
	value := jsontext.Get(params, name)
	if value == nil {
		return nil, nil
	}
	all, sound := map[string]string{}, true
	object := jsontext.Members(value, func(name []byte, value json.RawMessage) bool {
		all[string(name)], sound = jsontext.String(value), jsontext.IsString(value)
		return sound
	})
	if !object || !sound {
		return nil, invalid(name + " must be an object of strings")
	}
	return all, nil
}

// readdressed replaces the URI in the contents of a resource by the one for which the client has asked.
func readdressed(result json.RawMessage, from, to string) json.RawMessage {
	var contents []byte
	if !jsontext.Elements(jsontext.Get(result, "contents"), func(content json.RawMessage) bool {
		if contents != nil {
			contents = append(contents, ',')
		}
		if jsontext.String(jsontext.Get(content, "uri")) == from {
			content = spliced(content, text("uri", to))
		}
		contents = append(contents, content...)
		return true
	}) {
		return result
	}
	return spliced(result, member{"contents", append(append([]byte{'['}, contents...), ']')})
}

// foreignMeta returns the members of a _meta object that are passed on: all except the progress token and the keys that
// MCP reserves, which belong to one connection.
func foreignMeta(meta json.RawMessage) json.RawMessage {
	return without(meta, func(name []byte) bool { return string(name) == protocol.MetaProgressToken || reserved(name) })
}

// reserved reports whether MCP reserves a key of _meta (2026-07-28 basic/index, "_meta": the second label of the prefix
// is modelcontextprotocol or mcp).
func reserved(key []byte) bool {
	prefix, _, has := bytes.Cut(key, []byte("/"))
	if !has {
		return false
	}
	_, rest, more := bytes.Cut(prefix, []byte("."))
	second, _, _ := bytes.Cut(rest, []byte("."))
	return more && (string(second) == "modelcontextprotocol" || string(second) == "mcp")
}

// spliced returns an object with some members replaced or added. Everything else stays unchanged.
func spliced(object json.RawMessage, members ...member) json.RawMessage {
	b := append(make([]byte, 0, len(object)+64), '{')
	done := 0
	jsontext.Members(object, func(name []byte, value json.RawMessage) bool {
		for i, m := range members {
			if m.name == string(name) {
				if done&(1<<i) != 0 {
					return true
				}
				done |= 1 << i
				value = m.value
			}
		}
		b = appendMember(b, string(name), value)
		return true
	})
	for i, m := range members {
		if done&(1<<i) == 0 {
			b = appendMember(b, m.name, m.value)
		}
	}
	return append(b, '}')
}

// without returns an object without the members that leave names. If there are none, the text is returned unchanged.
func without(object json.RawMessage, leave func(name []byte) bool) json.RawMessage {
	b, left := append(make([]byte, 0, len(object)), '{'), false
	jsontext.Members(object, func(name []byte, value json.RawMessage) bool {
		if leave(name) {
			left = true
		} else {
			b = appendMember(b, string(name), value)
		}
		return true
	})
	if !left {
		return object
	}
	return append(b, '}')
}

// named returns a function for without.
func named(member string) func(name []byte) bool {
	return func(name []byte) bool { return string(name) == member }
}

// appendMember appends a member to the text of an object that is not closed yet.
func appendMember(b []byte, name string, value json.RawMessage) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	return append(append(jsontext.AppendString(b, name), ':'), value...)
}

type member struct {
	name  string
	value json.RawMessage
}

func text(name, value string) member { return member{name, jsontext.AppendString(nil, value)} }
