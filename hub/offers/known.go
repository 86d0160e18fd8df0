package offers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/outcome"
	"github.com/mcphub-go/mcphub/hub/servers"
)

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
func (o *Offers) KnownRest(ctx context.Context, name string) (*Rest, error) {
	s, err := o.find(name)
	if err != nil {
		return nil, err
	}
	var session *mcp.Session
	var limit time.Duration
	var late *event.Error
	var ready time.Time
	o.house.Update(func() {
		if s.Usable() == nil {
			session, ready = s.Join(), s.ReadySince()
		}
		limit, late = s.ConnectLimit("did not list what it offers")
	})
	if session == nil {
		return restOf(name, s.RecallRest()), nil
	}
	defer s.Unlease()
	within, stop := s.Within(ctx, limit, late)
	defer stop()
	rest := &servers.Rest{}
	for _, list := range []func() error{
		func() (err error) { rest.Resources, err = session.ListResources(within); return err },
		func() (err error) { rest.Templates, err = session.ListResourceTemplates(within); return err },
		func() (err error) { rest.Prompts, err = session.ListPrompts(within); return err },
	} {
		err := list()
		refused := (*jsonrpc.Error)(nil)
		switch {
		case err == nil || errors.As(err, &refused): // a server with resources need not know templates
		case ctx.Err() != nil:
			return nil, event.StoppedWaiting(ctx, err)
		case within.Err() != nil:
			return nil, late
		case outcome.NotRun(err):
			return restOf(name, s.RecallRest()), nil // the connection has ended
		default:
			return nil, outcome.Exchange(s.Server, fmt.Sprintf("server %q did not list what it offers", name), err)
		}
	}
	s.KeepRest(rest)
	shown := restOf(name, rest)
	shown.Ready = ready
	return shown, nil
}

// restOf converts r to the form that clients see; nil stays nil.
func restOf(server string, r *servers.Rest) *Rest {
	if r == nil {
		return nil
	}
	return &Rest{
		Resources: shownAs(server, r.Resources, resourceInfo),
		Templates: shownAs(server, r.Templates, templateInfo),
		Prompts:   shownAs(server, r.Prompts, promptInfo),
	}
}
