package offers

import (
	"context"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/servers"
)

// Resources lists the resources of a server. The list is empty if the server offers none.
func (o *Offers) Resources(ctx context.Context, server string) ([]event.ResourceInfo, error) {
	return listed(ctx, o, server, "list its resources", (*mcp.Session).ListResources, resourceInfo)
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
func (o *Offers) ResourceTemplates(ctx context.Context, server string) ([]event.ResourceTemplateInfo, error) {
	return listed(ctx, o, server, "list its resource templates", (*mcp.Session).ListResourceTemplates, templateInfo)
}

func templateInfo(server string, t mcp.ResourceTemplate) event.ResourceTemplateInfo {
	names, problem := variables(t.URITemplate)
	return event.ResourceTemplateInfo{
		Server: server, URITemplate: t.URITemplate, Name: t.Name, Title: t.Title, Description: t.Description,
		MIMEType: t.MIMEType, Definition: string(t.Raw), Variables: names, Problem: problem,
	}
}

// SubscribeResource asks for an event on each change of a resource. The subscription holds until UnsubscribeResource,
// also on later connections of the server.
func (o *Offers) SubscribeResource(ctx context.Context, name, uri string) error {
	return o.SubscribeFor(ctx, "", name, uri, 0)
}

// SubscribeFor is SubscribeResource for a gateway or a window with the name by. most is how many resources of a server
// by may be subscribed to; 0 means that by has no bound of its own. If several are subscribed to a resource, the server
// is asked once.
func (o *Offers) SubscribeFor(ctx context.Context, by, name, uri string, most int) error {
	name, err := o.nameOf(name)
	if err != nil {
		return err
	}
	return o.inTurn(ctx, name, uri, "subscribe a resource", func(ctx context.Context, session *mcp.Session) error {
		var s Server
		var reserved, shared bool
		var refusal *event.Error
		o.house.Update(func() {
			if s = o.house.Find(name); s.Server != nil {
				reserved, shared, refusal = s.Reserve(uri, by, most)
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

// resource identifies a resource by the name of its server and its URI.
type resource struct{ server, uri string }

// inTurn is ask for a change of the subscriptions to one resource. Such changes run one after the other: the end of one
// subscription must not end another one that is just being requested.
func (o *Offers) inTurn(ctx context.Context, name, uri, doing string,
	ask func(context.Context, *mcp.Session) error) error {
	of := resource{name, uri}
	return o.ask(ctx, name, doing, func(ctx context.Context, session *mcp.Session) error {
		over := make(chan struct{})
		for {
			var before chan struct{}
			o.house.Update(func() {
				if before = o.turns[of]; before == nil {
					o.turns[of] = over
				}
			})
			if before == nil {
				break
			}
			select {
			case <-before:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		defer func() {
			o.house.Update(func() { delete(o.turns, of) })
			close(over)
		}()
		return ask(ctx, session)
	})
}

// UnsubscribeResource ends a subscription. It is no error if there is none.
func (o *Offers) UnsubscribeResource(ctx context.Context, name, uri string) error {
	return o.UnsubscribeFor(ctx, "", name, uri)
}

// UnsubscribeFor is UnsubscribeResource for a gateway or a window with the name by. The server is told when nobody is
// subscribed any more.
func (o *Offers) UnsubscribeFor(ctx context.Context, by, name, uri string) error {
	s, err := o.find(name)
	if err != nil {
		return err
	}
	name = s.Name()
	var tell bool
	o.house.Update(func() { tell = s.Unsubscribe(uri, by) })
	if !tell {
		return nil // nothing to tell, and no reason to start a server
	}
	return o.inTurn(ctx, name, uri, "unsubscribe a resource", func(ctx context.Context, session *mcp.Session) error {
		var again bool
		o.house.Update(func() { again = s.Subscribes(uri) })
		if again { // somebody has subscribed meanwhile
			return nil
		}
		return session.Unsubscribe(ctx, uri)
	})
}

// UnsubscribeAll ends all subscriptions of the gateway or window by.
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
