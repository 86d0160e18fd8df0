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
	return o.SubscribeFor(ctx, "", name, uri)
}

// SubscribeFor is SubscribeResource for a gateway, by its name. What several are subscribed to, the server is asked for
// once.
func (o *Offers) SubscribeFor(ctx context.Context, by, name, uri string) error {
	return o.ask(ctx, name, "subscribe a resource", func(ctx context.Context, session *mcp.Session) error {
		var s Server
		var reserved, shared bool
		var refusal *event.Error
		o.house.Update(func() {
			if s = o.house.Find(name); s.Server != nil {
				reserved, shared, refusal = s.Reserve(uri, by)
			}
		})
		switch {
		case s.Server == nil:
			return servers.ErrNotFound(name)
		case refusal != nil:
			return refusal
		case shared:
			return nil
		}
		err := session.Subscribe(ctx, uri)
		o.house.Update(func() { s.Subscribed(uri, by, session, reserved, err == nil) })
		return err
	})
}

// UnsubscribeResource ends a subscription; none is no error.
func (o *Offers) UnsubscribeResource(ctx context.Context, name, uri string) error {
	return o.UnsubscribeFor(ctx, "", name, uri)
}

// UnsubscribeFor is UnsubscribeResource for a gateway. The server is told when nobody is left.
func (o *Offers) UnsubscribeFor(ctx context.Context, by, name, uri string) error {
	s, err := o.find(name)
	if err != nil {
		return err
	}
	var tell bool
	o.house.Update(func() { tell = s.Unsubscribe(uri, by) })
	if !tell {
		return nil // nothing to tell, and no reason to start a server
	}
	return o.ask(ctx, name, "unsubscribe a resource", func(ctx context.Context, session *mcp.Session) error {
		err := session.Unsubscribe(ctx, uri)
		var again bool
		o.house.Update(func() { again = s.Subscribes(uri) })
		if again { // somebody subscribed meanwhile, and the server may have heard that first
			return session.Subscribe(ctx, uri)
		}
		return err
	})
}

// UnsubscribeAll ends what a gateway is subscribed to.
func (o *Offers) UnsubscribeAll(ctx context.Context, by string) {
	held := map[string][]string{}
	o.house.Update(func() {
		for _, s := range o.house.All() {
			if uris := s.SubscribedBy(by); len(uris) > 0 {
				held[s.Name()] = uris
			}
		}
	})
	for name, uris := range held {
		for _, uri := range uris {
			_ = o.UnsubscribeFor(ctx, by, name, uri) // it is gone from the list, whatever the server says
		}
	}
}
