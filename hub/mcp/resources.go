package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// Resource is one resource as the server describes it. All of it is untrusted.
type Resource struct {
	URI         string
	Name        string
	Title       string // "" if there is none: then Name is shown
	Description string
	MIMEType    string
	Size        int64           // bytes before any encoding; -1 if the server does not say
	Raw         json.RawMessage // the whole description exactly as it came: icons, annotations and _meta are in it
}

// ResourceTemplate is one URI template (RFC 6570) as the server describes it. All of it is untrusted.
type ResourceTemplate struct {
	URITemplate string
	Name        string
	Title       string
	Description string
	MIMEType    string          // of all resources that match, "" if they differ
	Raw         json.RawMessage // the whole description exactly as it came
}

// ListResources fetches all pages. A server that declared no resources is not asked. Errors: as ListTools.
func (s *Session) ListResources(ctx context.Context) ([]Resource, error) {
	if !s.Info().HasResources {
		return nil, nil
	}
	return listAll(ctx, s, listing[Resource]{method: protocol.MethodListResources, member: "resources",
		about: aboutResources, read: ResourceOf})
}

// ListResourceTemplates fetches all pages. A server that declared no resources is not asked. Errors: as ListTools.
func (s *Session) ListResourceTemplates(ctx context.Context) ([]ResourceTemplate, error) {
	if !s.Info().HasResources {
		return nil, nil
	}
	return listAll(ctx, s, listing[ResourceTemplate]{method: protocol.MethodListResourceTemplates,
		member: "resourceTemplates", about: aboutResources, read: ResourceTemplateOf})
}

// ResourceOf parses a description from resources/list, such as the Raw of an earlier Resource.
func ResourceOf(raw json.RawMessage) (Resource, error) {
	r := Resource{Size: -1, Raw: raw}
	if !readTexts(raw, map[string]*string{"uri": &r.URI, "name": &r.Name, "title": &r.Title,
		"description": &r.Description, "mimeType": &r.MIMEType}) || r.URI == "" {
		return Resource{}, errors.New("it has no uri")
	}
	if size, err := strconv.ParseInt(string(member(raw, "size")), 10, 64); err == nil && size >= 0 {
		r.Size = size
	}
	return r, nil
}

// ResourceTemplateOf is ResourceOf for templates.
func ResourceTemplateOf(raw json.RawMessage) (ResourceTemplate, error) {
	t := ResourceTemplate{Raw: raw}
	if !readTexts(raw, map[string]*string{"uriTemplate": &t.URITemplate, "name": &t.Name, "title": &t.Title,
		"description": &t.Description, "mimeType": &t.MIMEType}) || t.URITemplate == "" {
		return ResourceTemplate{}, errors.New("it has no uriTemplate")
	}
	return t, nil
}

// ReadResource reads the resource whose URI is c.Name; it has no arguments. Rounds, progress and cancel are as for
// CallTool. While a modern server declares an earlier answer fresh, that answer is returned, nothing is sent, and
// OnWire is not called. An answer that took more than one round is never kept (2026-07-28 utilities/caching: it depends
// on the answers of users).
//
// A URI need not be in any list: only a tool may name that of an MCP App (ui:). Errors: as CallTool, and
// *CapabilityError.
func (s *Session) ReadResource(ctx context.Context, c *CallRequest) (*CallResult, error) {
	switch {
	case !s.Info().HasResources:
		return nil, &CapabilityError{Server: s.o.Server, Capability: "resources"}
	case c.Name == "":
		return nil, &ArgumentsError{Text: "a resource is read by its URI, and there is none"}
	case c.Arguments != nil:
		return nil, &ArgumentsError{Text: "reading a resource takes no arguments"}
	}
	if err := s.interrupted(ctx); err != nil {
		return nil, err
	}
	key := readKey(c.Name)
	if kept := s.cache.get(key); kept != nil && c.Further == nil { // the answer may depend on these
		return &CallResult{Raw: kept}, nil
	}
	mark := s.cache.mark(aboutResources)
	asked := newObject(len(c.Name) + 16)
	asked.text("uri", c.Name)
	asked.further(c.Further)
	result, err := s.call(ctx, &openCall{req: c, method: protocol.MethodReadResource, members: asked.b[1:]})
	if err == nil && result.Rounds == 1 && c.Further == nil {
		s.keep(key, aboutResources, mark, result.Raw)
	}
	return result, err
}

func readKey(uri string) cacheKey { return cacheKey{method: protocol.MethodReadResource, params: uri} }

// Prompt is one prompt template as the server describes it. All of it is untrusted.
type Prompt struct {
	Name        string
	Title       string // "" if there is none: then Name is shown
	Description string
	Arguments   []PromptArgument
	Raw         json.RawMessage // the whole description exactly as it came: icons and _meta are in it
}

// PromptArgument is one argument of a prompt; its value is always a string.
type PromptArgument struct {
	Name        string
	Title       string
	Description string
	Required    bool
}

var errNoName = errors.New("it has no name")

// badName returns why what has this name cannot be used, or nil.
func badName(object bool, name string) error {
	switch {
	case !object || name == "":
		return errNoName
	case len(name) > bounds.NameBytes: // hosts cannot spell it: the contract takes no longer one
		return tooLarge("its name", len(name), bounds.NameBytes)
	}
	return nil
}

// ListPrompts fetches all pages. A server that declared no prompts is not asked. Errors: as ListTools.
func (s *Session) ListPrompts(ctx context.Context) ([]Prompt, error) {
	if !s.Info().HasPrompts {
		return nil, nil
	}
	return listAll(ctx, s, listing[Prompt]{method: protocol.MethodListPrompts, member: "prompts", about: aboutPrompts,
		read: PromptOf})
}

// PromptOf parses a description from prompts/list, such as the Raw of an earlier Prompt.
func PromptOf(raw json.RawMessage) (Prompt, error) {
	p := Prompt{Raw: raw}
	object := readTexts(raw, map[string]*string{"name": &p.Name, "title": &p.Title, "description": &p.Description})
	if err := badName(object, p.Name); err != nil {
		return Prompt{}, err
	}
	jsontext.Elements(member(raw, "arguments"), func(raw json.RawMessage) bool {
		a := PromptArgument{Required: string(member(raw, "required")) == "true"}
		readTexts(raw, map[string]*string{"name": &a.Name, "title": &a.Title, "description": &a.Description})
		if a.Name != "" {
			p.Arguments = append(p.Arguments, a)
		}
		return true
	})
	return p, nil
}

// GetPrompt fills in the prompt c.Name with c.Arguments, an object whose values are strings; nil sends none. Rounds,
// progress and cancel are as for CallTool. Errors: as CallTool, and *CapabilityError.
func (s *Session) GetPrompt(ctx context.Context, c *CallRequest) (*CallResult, error) {
	switch {
	case !s.Info().HasPrompts:
		return nil, &CapabilityError{Server: s.o.Server, Capability: "prompts"}
	case c.Name == "":
		return nil, &ArgumentsError{Text: "a prompt is fetched by its name, and there is none"}
	}
	asked := newObject(len(c.Name) + len(c.Arguments) + 32)
	asked.text("name", c.Name)
	if c.Arguments != nil {
		if !isObjectOfStrings(c.Arguments) {
			return nil, &ArgumentsError{Text: "the arguments of a prompt are no JSON object of strings"}
		}
		asked.raw("arguments", oneLine(c.Arguments))
	}
	asked.further(c.Further)
	return s.call(ctx, &openCall{req: c, method: protocol.MethodGetPrompt, members: asked.b[1:]})
}

func isObjectOfStrings(raw json.RawMessage) bool {
	if !isObject(raw) {
		return false
	}
	strings := true
	eachMember(raw, func(_ []byte, v json.RawMessage) bool {
		strings = v[0] == '"'
		return strings
	})
	return strings
}

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
