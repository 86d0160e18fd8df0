package hub

import (
	"context"
	"slices"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
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
func (h *Hub) SubscribeResource(ctx context.Context, server, uri string) error {
	return h.asking(ctx, server, "subscribe a resource", func(ctx context.Context, session *mcp.Session) error {
		place, err := h.maySubscribe(server, uri)
		if err != nil {
			return err
		}
		err = session.Subscribe(ctx, uri)
		defer h.lock().unlock()
		if place != nil {
			place.subscribing--
		}
		if err != nil {
			return err
		}
		if s := h.server(server); s != nil && !slices.Contains(s.subscriptions, uri) {
			s.subscriptions = append(s.subscriptions, uri)
			if s.conn != nil && s.conn.session != session { // a new connection came up just now, and did not know of it
				h.resubscribe(s, s.conn.session)
			}
		}
		return nil
	})
}

// maySubscribe takes a place for one more subscription at a server, which the caller gives back when the server has
// answered, or refuses: a server may have so many, those that it has not answered among them. nil: none is needed.
func (h *Hub) maySubscribe(name, uri string) (place *server, err error) {
	defer h.lock().unlock()
	s := h.server(name)
	if s == nil || slices.Contains(s.subscriptions, uri) {
		return nil, nil
	}
	if len(s.subscriptions)+s.subscribing >= bounds.Subscriptions {
		return nil, event.Fail(event.CodeResourceExhausted, event.ReasonBoundExceeded, []string{"server", name},
			"%d resources of server %q are subscribed to, and more are not taken; unsubscribe some", bounds.Subscriptions, name)
	}
	s.subscribing++
	return s, nil
}

// UnsubscribeResource ends a subscription; none is no error.
func (h *Hub) UnsubscribeResource(ctx context.Context, name, uri string) error {
	var s *server
	var had, idle bool
	h.update(func() {
		if s = h.server(name); s == nil {
			return
		}
		had = slices.Contains(s.subscriptions, uri)
		s.subscriptions = slices.DeleteFunc(s.subscriptions, func(u string) bool { return u == uri })
		idle = s.conn == nil
		h.watchIdle(s)
	})
	if s == nil {
		return errServerNotFound(name)
	}
	if !had || idle {
		return nil // nothing to tell, and no reason to start a server
	}
	return h.asking(ctx, name, "unsubscribe a resource", func(ctx context.Context, session *mcp.Session) error {
		return session.Unsubscribe(ctx, uri)
	})
}

// resubscribe brings the subscriptions of s onto a new connection. Nobody waits for it: what fails is logged. h.mu is
// held.
func (h *Hub) resubscribe(s *server, session *mcp.Session) {
	if len(s.subscriptions) == 0 {
		return
	}
	uris := slices.Clone(s.subscriptions)
	h.work.Go(func() {
		ctx, stop := context.WithTimeoutCause(context.Background(), DefaultConnectTimeout, errAskedTooLong)
		defer stop()
		for _, uri := range uris {
			still := func() (ok bool) {
				defer h.lock().unlock()
				return slices.Contains(s.subscriptions, uri)
			}
			if !still() {
				continue
			}
			if err := session.Subscribe(ctx, uri); err != nil && still() {
				h.log.Warn("a subscription was not taken over to the new connection", "server", s.name,
					"error", bounds.Cut(err.Error(), bounds.ErrorTextBytes))
			}
		}
	})
}
