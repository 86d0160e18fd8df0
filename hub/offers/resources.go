package offers

import (
	"context"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/servers"
)

// Resources lists the resources of a server; one that has none to offer has none.
func (o *Offers) Resources(ctx context.Context, server string) (list []event.ResourceInfo, err error) {
	err = o.ask(ctx, server, "list its resources", func(ctx context.Context, session *mcp.Session) error {
		resources, err := session.ListResources(ctx)
		for _, r := range resources {
			list = append(list, resourceInfo(server, r))
		}
		return err
	})
	return list, err
}

func resourceInfo(server string, r mcp.Resource) event.ResourceInfo {
	info := event.ResourceInfo{Server: server, URI: r.URI, Name: r.Name, Title: r.Title, Description: r.Description,
		MIMEType: r.MIMEType, Definition: string(r.Raw)}
	if r.Size >= 0 {
		info.Size = &r.Size
	}
	return info
}

// ResourceTemplates lists the resource templates of a server.
func (o *Offers) ResourceTemplates(ctx context.Context, server string) (list []event.ResourceTemplateInfo, err error) {
	err = o.ask(ctx, server, "list its resource templates", func(ctx context.Context, session *mcp.Session) error {
		templates, err := session.ListResourceTemplates(ctx)
		for _, t := range templates {
			list = append(list, templateInfo(server, t))
		}
		return err
	})
	return list, err
}

func templateInfo(server string, t mcp.ResourceTemplate) event.ResourceTemplateInfo {
	return event.ResourceTemplateInfo{
		Server: server, URITemplate: t.URITemplate, Name: t.Name, Title: t.Title, Description: t.Description,
		MIMEType: t.MIMEType, Definition: string(t.Raw),
	}
}

// SubscribeResource asks for an event with each change of a resource. It holds until UnsubscribeResource, over all
// connections to come.
func (o *Offers) SubscribeResource(ctx context.Context, name, uri string) error {
	return o.ask(ctx, name, "subscribe a resource", func(ctx context.Context, session *mcp.Session) error {
		var s Server
		var reserved bool
		var refusal *event.Error
		o.house.Update(func() {
			if s = o.house.Find(name); s.Server != nil {
				reserved, refusal = s.Reserve(uri)
			}
		})
		switch {
		case s.Server == nil:
			return servers.ErrNotFound(name)
		case refusal != nil:
			return refusal
		}
		err := session.Subscribe(ctx, uri)
		o.house.Update(func() { s.Subscribed(uri, session, reserved, err == nil) })
		return err
	})
}

// UnsubscribeResource ends a subscription; none is no error.
func (o *Offers) UnsubscribeResource(ctx context.Context, name, uri string) error {
	s, err := o.find(name)
	if err != nil {
		return err
	}
	var tell bool
	o.house.Update(func() { tell = s.Unsubscribe(uri) })
	if !tell {
		return nil // nothing to tell, and no reason to start a server
	}
	return o.ask(ctx, name, "unsubscribe a resource", func(ctx context.Context, session *mcp.Session) error {
		return session.Unsubscribe(ctx, uri)
	})
}
