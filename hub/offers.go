package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// nameOf returns the own name of the server that a name or an address means. Its own name stays the same when other
// servers come and go.
func (h *Hub) nameOf(name string) (string, error) {
	s, err := h.find(name)
	if err != nil {
		return "", err
	}
	return s.name, nil
}

// withSession runs something short, such as a list or a completion, with the session of a server, which it connects if
// necessary. That is no request of the hub: nobody is told of it, and no person is asked. It ends with ctx, and when
// the time that the server has for its start is over. doing completes "server x did not ...".
func (h *Hub) withSession(ctx context.Context, name, doing string,
	ask func(context.Context, *mcp.Session) error) error {
	s, err := h.find(name)
	if err != nil {
		return err
	}
	session, err := s.acquire(ctx, 0)
	if err != nil {
		return event.StoppedWaiting(ctx, err)
	}
	defer s.release()
	var limit time.Duration
	var late *event.Error
	h.update(func(st *state) { limit, late = s.connectLimit("did not " + doing) })
	within, stop := s.within(ctx, limit, late)
	defer stop()
	err = ask(within, session)
	if notRun(err) {
		if session, err = s.renew(within, 0, session); err == nil {
			err = ask(within, session)
		}
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return event.StoppedWaiting(ctx, err)
	case within.Err() != nil:
		return late
	}
	if refused, ok := errors.AsType[*mcp.CapabilityError](err); ok {
		return notOffered(s, refused)
	}
	return exchangeFailed(s, fmt.Sprintf("server %q did not %s", name, doing), err)
}

// listOf asks a server for a list, and returns the entries in the form that clients see.
func listOf[E, I any](ctx context.Context, h *Hub, name, doing string,
	list func(*mcp.Session, context.Context) ([]E, error), show func(string, E) I) (infos []I, err error) {
	if name, err = h.nameOf(name); err != nil {
		return nil, err
	}
	err = h.withSession(ctx, name, doing, func(ctx context.Context, session *mcp.Session) error {
		entries, err := list(session, ctx)
		infos = shownAs(name, entries, show)
		return err
	})
	return infos, err
}

func shownAs[E, I any](server string, entries []E, show func(string, E) I) (infos []I) {
	for _, e := range entries {
		infos = append(infos, show(server, e))
	}
	return infos
}

// Completion says what to complete: an argument of a prompt template, or a variable of a resource template.
type Completion struct {
	Server      string
	McpPrompt   string // a prompt template; or
	URITemplate string
	Argument    string
	Value       string            // what has been typed so far
	Context     map[string]string // other arguments that are known
	Meta        string            // JSON text of an object, "" = none
	Further     json.RawMessage   // further members of the request's params, by mcp.FurtherParams; nil: none
}

// McpPrompts lists the prompt templates of a server.
func (h *Hub) McpPrompts(ctx context.Context, server string) ([]event.McpPromptInfo, error) {
	return listOf(ctx, h, server, "list its prompt templates", (*mcp.Session).ListPrompts, promptInfo)
}

func promptInfo(server string, p mcp.Prompt) event.McpPromptInfo {
	info := event.McpPromptInfo{Server: server, Name: p.Name, Title: p.Title, Description: p.Description,
		Definition: string(p.Raw)}
	for _, a := range p.Arguments {
		info.Arguments = append(info.Arguments, event.McpPromptArgument{Name: a.Name, Title: a.Title,
			Description: a.Description, Required: a.Required})
	}
	return info
}

// Complete asks a server for values of an argument. Its answer, which may be an error, is in the result.
func (h *Hub) Complete(ctx context.Context, c Completion) (*CallResult, error) {
	meta, err := mcp.CallersMeta(c.Meta, "")
	if err != nil {
		return nil, event.Fail(event.CodeInvalidArgument, event.ReasonInvalidArguments, nil, "meta_json %s", err.Error())
	}
	answer := &CallResult{}
	err = h.withSession(ctx, c.Server, "complete an argument", func(ctx context.Context, session *mcp.Session) error {
		raw, err := session.Complete(ctx, mcp.CompletionRequest{
			Prompt: c.McpPrompt, ResourceURI: c.URITemplate, Argument: c.Argument, Value: c.Value, Context: c.Context,
			Meta: meta, Further: c.Further,
		})
		if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
			answer.Error = &event.McpError{Code: e.Code, Message: e.Message, Data: string(e.Data)}
			return nil
		}
		answer.Result = raw
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// Resources lists the resources of a server. The list is empty if the server offers none.
func (h *Hub) Resources(ctx context.Context, server string) ([]event.ResourceInfo, error) {
	return listOf(ctx, h, server, "list its resources", (*mcp.Session).ListResources, resourceInfo)
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
func (h *Hub) ResourceTemplates(ctx context.Context, server string) ([]event.ResourceTemplateInfo, error) {
	return listOf(ctx, h, server, "list its resource templates", (*mcp.Session).ListResourceTemplates, templateInfo)
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
func (h *Hub) SubscribeResource(ctx context.Context, name, uri string) error {
	return h.SubscribeFor(ctx, "", name, uri, 0)
}

// SubscribeFor is SubscribeResource for a gateway or a window with the name by. most is how many resources of a server
// by may be subscribed to; 0 means that by has no bound of its own. If several are subscribed to a resource, the server
// is asked once.
func (h *Hub) SubscribeFor(ctx context.Context, by, name, uri string, most int) error {
	name, err := h.nameOf(name)
	if err != nil {
		return err
	}
	return h.inTurn(ctx, name, uri, "subscribe a resource", func(ctx context.Context, session *mcp.Session) error {
		var s *server
		var reserved, shared bool
		var refusal *event.Error
		h.update(func(st *state) {
			if s = st.server(name); s != nil {
				reserved, shared, refusal = s.reserve(uri, by, most)
			}
		})
		switch {
		case s == nil:
			return errServerNotFound(name)
		case refusal != nil:
			return refusal
		case shared:
			return nil
		}
		err := session.Subscribe(ctx, uri)
		h.update(func(st *state) { s.subscribed(uri, by, session, reserved, err == nil) })
		return err
	})
}

// resourceKey identifies a resource by the name of its server and its URI.
type resourceKey struct{ server, uri string }

// inTurn is withSession for a change of the subscriptions to one resource. Such changes run one after the other: the
// end of one subscription must not end another one that is just being requested.
func (h *Hub) inTurn(ctx context.Context, name, uri, doing string,
	ask func(context.Context, *mcp.Session) error) error {
	of := resourceKey{name, uri}
	return h.withSession(ctx, name, doing, func(ctx context.Context, session *mcp.Session) error {
		over := make(chan struct{})
		for {
			var before chan struct{}
			h.update(func(st *state) {
				if before = st.subscribing[of]; before == nil {
					st.subscribing[of] = over
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
			h.update(func(st *state) { delete(st.subscribing, of) })
			close(over)
		}()
		return ask(ctx, session)
	})
}

// UnsubscribeResource ends a subscription. It is no error if there is none.
func (h *Hub) UnsubscribeResource(ctx context.Context, name, uri string) error {
	return h.UnsubscribeFor(ctx, "", name, uri)
}

// UnsubscribeFor is UnsubscribeResource for a gateway or a window with the name by. The server is told when nobody is
// subscribed any more.
func (h *Hub) UnsubscribeFor(ctx context.Context, by, name, uri string) error {
	s, err := h.find(name)
	if err != nil {
		return err
	}
	name = s.name
	var tell bool
	h.update(func(st *state) { tell = s.unsubscribe(uri, by) })
	if !tell {
		return nil // nothing to tell, and no reason to start a server
	}
	return h.inTurn(ctx, name, uri, "unsubscribe a resource", func(ctx context.Context, session *mcp.Session) error {
		var again bool
		h.update(func(st *state) { again = s.subscribes(uri) })
		if again { // somebody has subscribed meanwhile
			return nil
		}
		return session.Unsubscribe(ctx, uri)
	})
}

// UnsubscribeAll ends all subscriptions of the gateway or window by.
func (h *Hub) UnsubscribeAll(ctx context.Context, by string) {
	held := map[string][]string{}
	h.update(func(st *state) {
		for _, s := range st.listed() {
			if uris := s.subscribedBy(by); len(uris) > 0 {
				held[s.name] = uris
			}
		}
	})
	for name, uris := range held {
		for _, uri := range uris {
			_ = h.UnsubscribeFor(ctx, by, name, uri) // it is gone from the list, whatever the server says
		}
	}
}

// Rest is what a server offers besides its tools.
type Rest struct {
	Resources []event.ResourceInfo
	Templates []event.ResourceTemplateInfo
	Prompts   []event.McpPromptInfo
	// Ready is when the connection that listed it became ready. It is zero if an earlier connection listed it.
	Ready time.Time
}

// KnownRest returns what a server offers besides its tools, nil if that is not known. It does not connect a server: for
// one that is not connected it returns what was listed last, perhaps by an earlier hub. A kind that the server does not
// offer at all is an empty list. The error is that of a list that a connected server did not give.
func (h *Hub) KnownRest(ctx context.Context, name string) (*Rest, error) {
	s, err := h.find(name)
	if err != nil {
		return nil, err
	}
	var session *mcp.Session
	var limit time.Duration
	var late *event.Error
	var ready time.Time
	h.update(func(st *state) {
		if s.usable() == nil {
			session, ready = s.join(), s.readySince()
		}
		limit, late = s.connectLimit("did not list what it offers")
	})
	if session == nil {
		return restOf(name, s.recallRest()), nil
	}
	defer s.release()
	within, stop := s.within(ctx, limit, late)
	defer stop()
	rest := &restOffer{}
	for _, list := range []func() error{
		func() (err error) { rest.resources, err = session.ListResources(within); return err },
		func() (err error) { rest.templates, err = session.ListResourceTemplates(within); return err },
		func() (err error) { rest.prompts, err = session.ListPrompts(within); return err },
	} {
		err := list()
		refused := (*jsonrpc.Error)(nil)
		switch {
		case err == nil || errors.As(err, &refused): // a server with resources need not know templates
		case ctx.Err() != nil:
			return nil, event.StoppedWaiting(ctx, err)
		case within.Err() != nil:
			return nil, late
		case notRun(err):
			return restOf(name, s.recallRest()), nil // the connection has ended
		default:
			return nil, exchangeFailed(s, fmt.Sprintf("server %q did not list what it offers", name), err)
		}
	}
	s.keepRest(rest)
	shown := restOf(name, rest)
	shown.Ready = ready
	return shown, nil
}

// restOf converts r to the form that clients see; nil stays nil.
func restOf(server string, r *restOffer) *Rest {
	if r == nil {
		return nil
	}
	return &Rest{
		Resources: shownAs(server, r.resources, resourceInfo),
		Templates: shownAs(server, r.templates, templateInfo),
		Prompts:   shownAs(server, r.prompts, promptInfo),
	}
}
