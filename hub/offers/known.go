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

// Rest is what a server offers beside its tools.
type Rest struct {
	Resources []event.ResourceInfo
	Templates []event.ResourceTemplateInfo
	Prompts   []event.McpPromptInfo
	// Ready is when the connection became ready that has listed it; zero: it is what was known before.
	Ready time.Time
}

// KnownRest lists what a server offers beside its tools; nil when that is not known. One that is not connected is not
// connected for this: it is as it was listed last, perhaps by an earlier hub. What a server does not offer at all is an
// empty list; the error is that of a list that it did not give.
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
		case err == nil || errors.As(err, &refused): // who has resources need not know of templates
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

// restOf shows what a server offers.
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
