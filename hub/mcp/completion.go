package mcp

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// CompletionRequest asks for values of one argument of a prompt or of a resource template. Exactly one of Prompt and
// ResourceURI must be set.
type CompletionRequest struct {
	Prompt      string // the prompt's name
	ResourceURI string // the URI template, or a URI
	Argument    string // the argument's name
	Value       string // what was typed so far
	// Context holds the values of other arguments that are already known. Revisions before 2025-06-18 have no place for
	// them, so they are not sent there.
	Context map[string]string
	Meta    map[string]json.RawMessage // as of CallRequest
	Further json.RawMessage            // as of CallRequest
}

// Complete asks for suggestions and returns the result exactly as it came: at most 100 values in completion.values,
// which the server must ensure. The caller limits the rate of requests. Errors: as CallTool, and *CapabilityError;
// 2024-11-05 has no capability for completion, so a server of that revision is always asked.
func (s *Session) Complete(ctx context.Context, c CompletionRequest) (json.RawMessage, error) {
	n := s.state.Load()
	switch {
	case !n.info.HasCompletions && n.revision >= Revision20250326:
		return nil, &CapabilityError{Server: s.o.Server, Capability: "completions"}
	case (c.Prompt == "") == (c.ResourceURI == ""):
		return nil, &ArgumentsError{Text: "a completion is for either a prompt or a resource"}
	case c.Argument == "":
		return nil, &ArgumentsError{Text: "a completion is for an argument, and none is named"}
	}
	ref := newObject(64)
	if c.Prompt != "" {
		ref.text("type", "ref/prompt")
		ref.text("name", c.Prompt)
	} else {
		ref.text("type", "ref/resource")
		ref.text("uri", c.ResourceURI)
	}
	argument := newObject(64)
	argument.text("name", c.Argument)
	argument.text("value", c.Value)
	members := []string{"ref", string(ref.end()), "argument", string(argument.end())}
	if len(c.Context) > 0 && n.revision >= Revision20250618 {
		settled := newObject(128)
		for _, name := range slices.Sorted(maps.Keys(c.Context)) {
			settled.text(name, c.Context[name])
		}
		given := newObject(128)
		given.raw("arguments", settled.end())
		members = append(members, "context", string(given.end()))
	}
	jsontext.Members(c.Further, func(name []byte, value json.RawMessage) bool {
		members = append(members, string(name), string(value))
		return true
	})
	raw, err := s.peer.Call(ctx, protocol.MethodComplete, s.paramsWith(c.Meta, members...))
	if err != nil {
		return nil, err
	}
	if !isObject(raw) {
		return nil, &ProtocolError{Text: "the answer to completion/complete is malformed"}
	}
	if err := s.mustBeComplete(protocol.MethodComplete, member(raw, "resultType")); err != nil {
		return nil, err
	}
	return raw, nil
}
