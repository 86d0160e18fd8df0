package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mcphub-go/mcphub/hub/browse"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

const (
	methodPing        = "ping"
	methodRoots       = "roots/list"
	methodSampling    = "sampling/createMessage"
	methodElicitation = "elicitation/create"
)

var errQuestionOver = errors.New("the question is over")

// Why a question is refused without asking anybody.
var (
	errUndeclared     = errors.New("the client has not declared this capability")
	errUndeclaredMode = errors.New("the client has not declared this elicitation mode")
	errUndeclaredTool = errors.New("the client has not declared tools in sampling")
)

// malformedError says what is wrong with a question's params, in words of this package.
type malformedError struct{ text string }

func (e *malformedError) Error() string { return e.text }

// refusedURLError is a URL that is never handed to a browser, and that nobody is asked about. See package browse.
type refusedURLError struct{ err error }

func (e *refusedURLError) Error() string { return "the url of the elicitation " + e.err.Error() }

// readQuestion turns the params of a sampling or elicitation request into a question, or says why nobody is to be asked.
func readQuestion(method string, params json.RawMessage, declared Capabilities) (*Question, error) {
	switch method {
	case methodSampling:
		if !declared.Sampling {
			return nil, errUndeclared
		}
		return readSampling(params, declared)
	case methodElicitation:
		if !declared.ElicitationForm && !declared.ElicitationURL {
			return nil, errUndeclared
		}
		return readElicitation(params, declared)
	}
	return nil, fmt.Errorf("%q is no question of this protocol", printable(method))
}

func readElicitation(params json.RawMessage, declared Capabilities) (*Question, error) {
	var p struct {
		Mode            string          `json:"mode"`
		Message         *string         `json:"message"`
		URL             string          `json:"url"`
		ElicitationID   string          `json:"elicitationId"`
		RequestedSchema json.RawMessage `json:"requestedSchema"`
	}
	if err := json.Unmarshal(params, &p); err != nil || params == nil {
		return nil, &malformedError{"the params of the elicitation are malformed"}
	}
	if p.Message == nil {
		return nil, &malformedError{"the elicitation has no message"}
	}
	q := &Question{Payload: params, Message: *p.Message}
	switch p.Mode {
	case "", "form": // a missing mode is the form (2025-11-25 client/elicitation)
		if !declared.ElicitationForm {
			return nil, errUndeclaredMode
		}
		switch {
		case p.RequestedSchema == nil:
			// Required by the schema of every revision, and left out by servers on the Go SDK that only want a yes or no.
			p.RequestedSchema = json.RawMessage(`{"type":"object","properties":{}}`)
		case !isObject(p.RequestedSchema):
			return nil, &malformedError{"the requestedSchema of the elicitation is no object"}
		}
		q.Kind, q.Schema = ElicitationForm, p.RequestedSchema
	case "url":
		if !declared.ElicitationURL {
			return nil, errUndeclaredMode
		}
		if p.URL == "" {
			return nil, &malformedError{"the elicitation has no url"}
		}
		page, err := browse.Check(p.URL)
		if err != nil {
			return nil, &refusedURLError{err}
		}
		q.Kind, q.URL, q.URLHost, q.ElicitationID = ElicitationURL, p.URL, page.Host, p.ElicitationID
	default:
		return nil, errUndeclaredMode
	}
	return q, nil
}

func readSampling(params json.RawMessage, declared Capabilities) (*Question, error) {
	var p struct {
		Messages     []samplingMessage `json:"messages"`
		MaxTokens    *float64          `json:"maxTokens"`
		SystemPrompt string            `json:"systemPrompt"`
		Tools        json.RawMessage   `json:"tools"`
		ToolChoice   json.RawMessage   `json:"toolChoice"`
	}
	if err := json.Unmarshal(params, &p); err != nil || p.Messages == nil || p.MaxTokens == nil {
		return nil, &malformedError{"the params of the sampling request are malformed: messages and maxTokens are required"}
	}
	if (p.Tools != nil || p.ToolChoice != nil) && !declared.SamplingTools {
		return nil, errUndeclaredTool
	}
	if err := checkToolResults(p.Messages); err != nil {
		return nil, err
	}
	return &Question{Kind: Sampling, Payload: params, Message: p.SystemPrompt}, nil
}

type samplingMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// samplingBlock is what the rules about tools need of a content block.
type samplingBlock struct {
	Type      string `json:"type"`
	ID        string `json:"id"`        // tool_use
	ToolUseID string `json:"toolUseId"` // tool_result
}

// checkToolResults holds the messages to 2025-11-25 client/sampling, "Message Content Constraints": a user message with tool results holds nothing
// else, and each tool use is answered by a result in the message that follows.
func checkToolResults(messages []samplingMessage) error {
	open := map[string]bool{}
	for _, m := range messages {
		blocks, err := m.blocks()
		if err != nil {
			return err
		}
		results, others := 0, 0
		answered := map[string]bool{}
		for _, b := range blocks {
			if b.Type == "tool_result" {
				results++
				answered[b.ToolUseID] = true
				continue
			}
			others++
		}
		if results > 0 && others > 0 {
			return &malformedError{"a message mixes tool results with other content"}
		}
		for id := range open {
			if !answered[id] {
				return &malformedError{"a tool use has no tool result"}
			}
		}
		for id := range answered {
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

// blocks reads content, which is one block or (since 2025-11-25) an array of them.
func (m samplingMessage) blocks() ([]samplingBlock, error) {
	malformed := &malformedError{"a message of the sampling request is malformed"}
	if m.Role != "user" && m.Role != "assistant" {
		return nil, malformed
	}
	i := skipBlanks(m.Content, 0)
	if i >= len(m.Content) {
		return nil, malformed
	}
	if m.Content[i] != '[' {
		var one samplingBlock
		if !isObject(m.Content) || json.Unmarshal(m.Content, &one) != nil {
			return nil, malformed
		}
		return []samplingBlock{one}, nil
	}
	var many []samplingBlock
	if json.Unmarshal(m.Content, &many) != nil {
		return nil, malformed
	}
	return many, nil
}

// elicitationResult is an ElicitResult. Consent to a URL and refusals have no content.
func elicitationResult(kind QuestionKind, a Answer) (json.RawMessage, error) {
	switch a.Action {
	case Accept, Decline, Dismiss:
	default:
		return nil, fmt.Errorf("an answer has no action")
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

// samplingResult is the completion as the window gave it.
func samplingResult(a Answer) (json.RawMessage, error) {
	if !isObject(a.Content) {
		return nil, fmt.Errorf("the sampling result is no JSON object")
	}
	return oneLine(a.Content), nil
}

func (s *Session) rootsResult(ctx context.Context) (json.RawMessage, error) {
	roots := s.o.Handler.Roots(ctx)
	if roots == nil {
		roots = []Root{} // the member must be an array
	}
	list, err := json.Marshal(roots)
	if err != nil {
		return nil, err
	}
	out := newObject(16 + len(list))
	out.raw("roots", list)
	return out.end(), nil
}

// refusalOf is the JSON-RPC error for a legacy server whose question is not asked.
func refusalOf(err error) *jsonrpc.Error {
	var malformed *malformedError
	var refused *refusedURLError
	switch {
	case errors.Is(err, errUndeclared):
		return &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: err.Error()}
	case errors.Is(err, errUndeclaredMode), errors.Is(err, errUndeclaredTool), errors.As(err, &malformed), errors.As(err, &refused):
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found"}
}
