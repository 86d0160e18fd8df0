package hub

import (
	"context"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/servers"
)

const methodReadResource = "resources/read"

// ResourceInfo shows one resource. All of it is untrusted.
type ResourceInfo struct {
	Server, URI, Name, Title, Description, MIMEType string
	Size                                            *int64 // nil: not said
	Definition                                      string // JSON text
}

// ResourceTemplateInfo shows one template for the URIs of further resources. All of it is untrusted.
type ResourceTemplateInfo struct {
	Server, URITemplate, Name, Title, Description, MIMEType string
	Definition                                              string // JSON text
}

// Resources lists the resources of a server; one that has none to offer has none.
func (h *Hub) Resources(ctx context.Context, server string) (list []ResourceInfo, err error) {
	err = h.asking(ctx, server, "list its resources", func(ctx context.Context, session *mcp.Session) error {
		resources, err := session.ListResources(ctx)
		for _, r := range resources {
			info := ResourceInfo{Server: server, URI: r.URI, Name: r.Name, Title: r.Title, Description: r.Description,
				MIMEType: r.MIMEType, Definition: string(r.Raw)}
			if r.Size >= 0 {
				info.Size = &r.Size
			}
			list = append(list, info)
		}
		return err
	})
	return list, err
}

// ResourceTemplates lists the resource templates of a server.
func (h *Hub) ResourceTemplates(ctx context.Context, server string) (list []ResourceTemplateInfo, err error) {
	err = h.asking(ctx, server, "list its resource templates", func(ctx context.Context, session *mcp.Session) error {
		templates, err := session.ListResourceTemplates(ctx)
		for _, t := range templates {
			list = append(list, ResourceTemplateInfo{
				Server: server, URITemplate: t.URITemplate, Name: t.Name, Title: t.Title, Description: t.Description,
				MIMEType: t.MIMEType, Definition: string(t.Raw),
			})
		}
		return err
	})
	return list, err
}

// ReadResource reads one resource, as a request like a tool call: it is listed, has clocks, can be cancelled, and may
// ask a person.
func (h *Hub) ReadResource(ctx context.Context, c CallRequest) (*CallResult, error) {
	return h.perform(ctx, &outgoing{CallRequest: &c, method: methodReadResource, subject: c.URI},
		func(session *mcp.Session, _ *mcp.Tool, out *mcp.CallRequest) (*mcp.CallResult, error) {
			out.Name = c.URI
			return session.ReadResource(out.Tag.(*request).ctx, out)
		})
}

// SubscribeResource asks for an event with each change of a resource. It holds until UnsubscribeResource, over all
// connections to come.
func (h *Hub) SubscribeResource(ctx context.Context, name, uri string) error {
	return h.asking(ctx, name, "subscribe a resource", func(ctx context.Context, session *mcp.Session) error {
		var s *server
		var reserved bool
		var refusal *event.Error
		h.update(func() {
			if s = h.server(name); s != nil {
				reserved, refusal = s.Reserve(uri)
			}
		})
		switch {
		case s == nil:
			return servers.ErrNotFound(name)
		case refusal != nil:
			return refusal
		}
		err := session.Subscribe(ctx, uri)
		h.update(func() { s.Subscribed(uri, session, reserved, err == nil) })
		return err
	})
}

// UnsubscribeResource ends a subscription; none is no error.
func (h *Hub) UnsubscribeResource(ctx context.Context, name, uri string) error {
	s, err := h.find(name)
	if err != nil {
		return err
	}
	var tell bool
	h.update(func() { tell = s.Unsubscribe(uri) })
	if !tell {
		return nil // nothing to tell, and no reason to start a server
	}
	return h.asking(ctx, name, "unsubscribe a resource", func(ctx context.Context, session *mcp.Session) error {
		return session.Unsubscribe(ctx, uri)
	})
}
