package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/outbound"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

var errQuestionOver = errors.New("the question is over")

// Reasons why a question is refused without asking a user.
var (
	errUndeclared     = errors.New("the client has not declared this capability")
	errUndeclaredMode = errors.New("the client has not declared this elicitation mode")
	errUndeclaredTool = errors.New("the client has not declared tools in sampling")
)

// malformedError describes what is wrong with a question's params, in words of this package.
type malformedError struct{ text string }

func (e *malformedError) Error() string { return e.text }

// refusedURLError is the error for a URL that is never opened in a browser, so that no user is asked. See package
// browse.
type refusedURLError struct{ err error }

func (e *refusedURLError) Error() string { return "the url of the elicitation " + e.err.Error() }

// readQuestion parses the params of a sampling or elicitation request. The error says why no user is to be asked.
func readQuestion(method string, params json.RawMessage, declared Capabilities) (*Question, error) {
	switch method {
	case protocol.MethodSampling:
		if !declared.Sampling {
			return nil, errUndeclared
		}
		if len(params) > bounds.SamplingBytes { // before it is parsed
			return nil, tooLarge("the sampling request", len(params), bounds.SamplingBytes)
		}
		return readSampling(params, declared)
	case protocol.MethodElicitation:
		if !declared.ElicitationForm && !declared.ElicitationURL {
			return nil, errUndeclared
		}
		if len(params) > bounds.ElicitationBytes {
			return nil, tooLarge("the elicitation", len(params), bounds.ElicitationBytes)
		}
		return readElicitation(params, declared)
	}
	return nil, fmt.Errorf("%q is no question of this protocol", bounds.Printable(method))
}

func readElicitation(params json.RawMessage, declared Capabilities) (*Question, error) {
	var mode string
	var message *string
	var schema json.RawMessage
	q := &Question{Payload: params}
	sound := true
	object := jsontext.Members(params, func(name []byte, v json.RawMessage) bool {
		text := ""
		switch string(name) {
		case "mode", "message", "url", "elicitationId":
			if jsontext.IsNull(v) {
				return true
			}
			text, sound = jsontext.String(v), jsontext.IsString(v)
		}
		switch string(name) {
		case "mode":
			mode = text
		case "message":
			message = &text
		case "url":
			q.URL = text
		case "elicitationId":
			q.ElicitationID = text
		case "requestedSchema":
			schema = v
		}
		return sound
	})
	if !object || !sound {
		return nil, &malformedError{"the params of the elicitation are malformed"}
	}
	if err := ambiguous(params); err != nil {
		return nil, err
	}
	if message == nil {
		return nil, &malformedError{"the elicitation has no message"}
	}
	q.Message = *message
	switch mode {
	case "", "form": // a missing mode means the form (2025-11-25 client/elicitation)
		if !declared.ElicitationForm {
			return nil, errUndeclaredMode
		}
		switch {
		case schema == nil:
			// Required by the schema of every revision, but servers on the Go SDK that only need a yes or no leave it out.
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		case !isObject(schema):
			return nil, &malformedError{"the requestedSchema of the elicitation is no object"}
		}
		q.Kind, q.Schema, q.URL, q.ElicitationID = ElicitationForm, schema, "", ""
	case "url":
		if !declared.ElicitationURL {
			return nil, errUndeclaredMode
		}
		if q.URL == "" {
			return nil, &malformedError{"the elicitation has no url"}
		}
		page, err := outbound.CheckPage(q.URL)
		if err != nil {
			return nil, &refusedURLError{err}
		}
		q.Kind, q.URLHost = ElicitationURL, page.Host
	default:
		return nil, errUndeclaredMode
	}
	return q, nil
}

// ambiguous returns an error if an object in params has a name twice: the user who decides would see one value, and
// another reader might take the other.
func ambiguous(params json.RawMessage) error {
	if name, twice := jsontext.Repeated(params); twice {
		return &malformedError{"it has two members of the name " + quoted(name) + " in one object"}
	}
	return nil
}

func readSampling(params json.RawMessage, declared Capabilities) (*Question, error) {
	q := &Question{Kind: Sampling, Payload: params}
	var messages []samplingMessage
	hasMessages, hasTokens, tools, sound := false, false, false, true
	object := jsontext.Members(params, func(name []byte, v json.RawMessage) bool {
		null := jsontext.IsNull(v)
		switch string(name) {
		case "messages":
			hasMessages, messages = !null, nil
			sound = null || jsontext.Elements(v, func(v json.RawMessage) bool {
				messages = append(messages, samplingMessage{Role: stringOf(member(v, "role")), Content: member(v, "content")})
				return true
			})
		case "maxTokens":
			_, err := strconv.ParseFloat(string(v), 64)
			hasTokens, sound = !null, null || err == nil
		case "systemPrompt":
			q.Message, sound = jsontext.String(v), null || jsontext.IsString(v)
		case "tools", "toolChoice":
			tools = true
		}
		return sound
	})
	if !object || !sound || !hasMessages || !hasTokens {
		return nil, &malformedError{"the params of the sampling request are malformed: messages and maxTokens are required"}
	}
	if err := ambiguous(params); err != nil {
		return nil, err
	}
	if tools && !declared.SamplingTools {
		return nil, errUndeclaredTool
	}
	if err := checkToolResults(messages); err != nil {
		return nil, err
	}
	return q, nil
}

type samplingMessage struct {
	Role    string
	Content json.RawMessage
}

// samplingBlock holds the parts of a content block that the rules about tools need.
type samplingBlock struct {
	Type      string
	ID        string // tool_use
	ToolUseID string // tool_result
}

func readBlock(raw json.RawMessage) samplingBlock {
	return samplingBlock{Type: stringOf(member(raw, "type")), ID: stringOf(member(raw, "id")),
		ToolUseID: stringOf(member(raw, "toolUseId"))}
}

// checkToolResults checks the messages against 2025-11-25 client/sampling, "Message Content Constraints": a user
// message with tool results has no other content, and each tool use is answered by a result in the next message.
func checkToolResults(messages []samplingMessage) error {
	open := map[string]bool{}
	for _, m := range messages {
		blocks, err := m.blocks()
		if err != nil {
			return err
		}
		results, others := 0, 0
		resultFor := map[string]bool{}
		for _, b := range blocks {
			if b.Type == "tool_result" {
				results++
				resultFor[b.ToolUseID] = true
				continue
			}
			others++
		}
		if results > 0 && others > 0 {
			return &malformedError{"a message mixes tool results with other content"}
		}
		for id := range open {
			if !resultFor[id] {
				return &malformedError{"a tool use has no tool result"}
			}
		}
		for id := range resultFor {
			if !open[id] {
				return &malformedError{"a tool result answers no tool use"}
			}
		}
		clear(open)
		for _, b := range blocks {
			if b.Type == "tool_use" {
				open[b.ID] = true
			}
		}
	}
	if len(open) > 0 {
		return &malformedError{"a tool use has no tool result"}
	}
	return nil
}

// blocks parses content, which is one block or (since 2025-11-25) an array of blocks.
func (m samplingMessage) blocks() ([]samplingBlock, error) {
	malformed := &malformedError{"a message of the sampling request is malformed"}
	if m.Role != "user" && m.Role != "assistant" {
		return nil, malformed
	}
	if isObject(m.Content) {
		return []samplingBlock{readBlock(m.Content)}, nil
	}
	var many []samplingBlock
	sound := true
	array := jsontext.Elements(m.Content, func(v json.RawMessage) bool {
		sound = isObject(v)
		many = append(many, readBlock(v))
		return sound
	})
	if !array || !sound {
		return nil, malformed
	}
	return many, nil
}

// elicitationResult returns an ElicitResult. Consent to a URL and refusals have no content.
func elicitationResult(kind QuestionKind, a Answer) (json.RawMessage, error) {
	switch a.Action {
	case Accept, Decline, Dismiss:
	default:
		return nil, fmt.Errorf("an answer has no action")
	}
	if a.Result != nil {
		return asItIs(a.Result)
	}
	out := newObject(64 + len(a.Content))
	out.text("action", a.Action.String())
	if kind == ElicitationForm && a.Action == Accept && a.Content != nil {
		if !isObject(a.Content) {
			return nil, fmt.Errorf("the content of an answer is no JSON object")
		}
		out.raw("content", oneLine(a.Content))
	}
	return out.end(), nil
}

// samplingResult returns the completion as the window has sent it.
func samplingResult(a Answer) (json.RawMessage, error) {
	if a.Result != nil {
		return asItIs(a.Result)
	}
	if !isObject(a.Content) {
		return nil, fmt.Errorf("the sampling result is no JSON object")
	}
	return oneLine(a.Content), nil
}

// asItIs returns a result that an MCP client has written, on one line.
func asItIs(result json.RawMessage) (json.RawMessage, error) {
	if !isObject(result) {
		return nil, fmt.Errorf("the result of a question is no JSON object")
	}
	return oneLine(result), nil
}

func (s *Session) rootsResult(ctx context.Context, of *CallRequest, key string) (json.RawMessage, error) {
	result, err := s.o.Handler.Roots(ctx, of, key)
	if err != nil {
		return nil, err
	}
	return asItIs(result)
}

// ListOfRoots returns the result of roots/list with these roots.
func ListOfRoots(roots []Root) json.RawMessage {
	if roots == nil {
		roots = []Root{} // the member must be an array
	}
	list, _ := json.Marshal(roots) // strings can always be marshalled
	out := newObject(16 + len(list))
	out.raw("roots", list)
	return out.end()
}

// refusalOf returns the JSON-RPC error for a legacy server whose question is not asked.
func refusalOf(err error) *jsonrpc.Error {
	bound, tooMuch := errors.AsType[*BoundError](err)
	switch {
	case tooMuch:
		return &jsonrpc.Error{Code: bound.Code, Message: bound.Text}
	case errors.Is(err, errUndeclared):
		return &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: err.Error()}
	case errors.Is(err, errUndeclaredMode), errors.Is(err, errUndeclaredTool), errors.As(err, new(*malformedError)),
		errors.As(err, new(*refusedURLError)):
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found"}
}
