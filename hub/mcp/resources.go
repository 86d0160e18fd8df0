package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

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
