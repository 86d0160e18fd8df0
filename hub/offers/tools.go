package offers

import (
	"context"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/outcome"
	"github.com/mcphub-go/mcphub/hub/servers"
)

// Tools lists the tools of one server, or of all that are switched on if name is "". For all, the map holds the errors
// of the servers that could not be asked, by name.
func (o *Offers) Tools(ctx context.Context, name string) ([]event.ToolInfo, map[string]*event.Error, error) {
	return o.toolsBy(ctx, name, o.toolsOf, o.roomToStart)
}

// toolsBy collects what listOf returns for one server, or for all that are switched on. For each of all, it waits for
// room first.
func (o *Offers) toolsBy(ctx context.Context, name string,
	listOf func(context.Context, Server) ([]event.ToolInfo, error),
	room func(context.Context, Server) (free func(), err error)) ([]event.ToolInfo, map[string]*event.Error, error) {
	if name != "" {
		s, err := o.find(name)
		if err != nil {
			return nil, nil, err
		}
		list, err := listOf(ctx, s)
		return list, nil, err
	}
	var ask []Server
	o.house.Update(func() {
		for _, s := range o.house.All() {
			if !s.Disabled() {
				ask = append(ask, s)
			}
		}
	})
	lists, errs := make([][]event.ToolInfo, len(ask)), make([]error, len(ask))
	done := make(chan struct{}, len(ask))
	for i, s := range ask {
		go func() { // waited for right below
			defer func() { done <- struct{}{} }()
			free, err := room(ctx, s)
			if err != nil {
				errs[i] = err
				return
			}
			defer free()
			lists[i], errs[i] = listOf(ctx, s)
		}()
	}
	for range ask {
		<-done
	}
	var all []event.ToolInfo
	troubles := map[string]*event.Error{}
	for i, s := range ask {
		all = append(all, lists[i]...)
		if errs[i] != nil {
			troubles[s.Name()] = event.AsError(errs[i])
		}
	}
	return all, troubles, nil
}

// roomToStart waits until one more lazy server may be started for a list of all. As with eager servers, a config of
// fifty must not overload the machine, nor flood its user with questions. A connected server needs no room. The caller
// must call free.
func (o *Offers) roomToStart(ctx context.Context, s Server) (free func(), err error) {
	var up bool
	o.house.Update(func() { up = s.Up() || s.Usable() != nil })
	if up {
		return func() {}, nil
	}
	select {
	case o.starts <- struct{}{}:
		return func() { <-o.starts }, nil
	case <-ctx.Done():
		return nil, event.StoppedWaiting(ctx, context.Cause(ctx))
	}
}

func (o *Offers) toolsOf(ctx context.Context, s Server) ([]event.ToolInfo, error) {
	session, err := s.Acquire(ctx, 0)
	if err != nil {
		return nil, event.StoppedWaiting(ctx, err)
	}
	defer s.Unlease()
	tools, err := currentTools(ctx, s.Server, session)
	if outcome.NotRun(err) {
		if session, err = s.Renew(ctx, 0, session); err == nil {
			tools, err = currentTools(ctx, s.Server, session)
		}
	}
	if err != nil {
		return nil, event.StoppedWaiting(ctx, err)
	}
	return o.shown(s, tools, false), nil
}

// currentTools returns the tools of a session, from memory if the server announces changes.
func currentTools(ctx context.Context, s *servers.Server, session *mcp.Session) ([]mcp.Tool, error) {
	// A modern server that announces no changes says with each list how long it is valid; the session keeps it for that
	// time.
	told := session.Era() == mcp.Legacy || session.Info().ToolsListChanged
	return listTools(ctx, s, session, func([]mcp.Tool) bool { return told })
}

// KnownTools is like Tools, but connects no server: the tools of a server that is not connected are those that were
// listed last, perhaps by an earlier hub.
func (o *Offers) KnownTools(ctx context.Context, name string) ([]event.ToolInfo, map[string]*event.Error, error) {
	return o.toolsBy(ctx, name, o.knownToolsOf, func(context.Context, Server) (func(), error) { return func() {}, nil })
}

func (o *Offers) knownToolsOf(ctx context.Context, s Server) ([]event.ToolInfo, error) {
	var session *mcp.Session
	var refusal *event.Error
	o.house.Update(func() {
		if refusal = s.Usable(); refusal == nil {
			session = s.Join()
		}
	})
	if refusal != nil {
		return nil, refusal
	}
	if session != nil {
		tools, err := currentTools(ctx, s.Server, session)
		s.Unlease()
		if err == nil {
			return o.shown(s, tools, false), nil
		}
		var up bool
		o.house.Update(func() { up = s.Up() && s.Session() == session && !session.Broken() && !outcome.NotRun(err) })
		if up || ctx.Err() != nil {
			return nil, event.StoppedWaiting(ctx, err)
		}
	}
	return o.shown(s, s.Recall(), true), nil
}

// shown returns the tools that the user is to see, in the form that clients see. It takes the lock.
func (o *Offers) shown(s Server, tools []mcp.Tool, cached bool) []event.ToolInfo {
	list := make([]event.ToolInfo, 0, len(tools))
	o.house.Update(func() {
		for _, t := range tools {
			if s.Conf().Tools.Visible(t.Name) {
				info := ToolInfo(s, t)
				info.Cached = cached
				list = append(list, info)
			}
		}
	})
	return list
}

// ToolInfo converts a tool of s to the form that clients see. It is called with the lock.
func ToolInfo(s Server, t mcp.Tool) event.ToolInfo {
	return event.ToolInfo{
		Server: s.Name(), Name: t.Name, Title: t.Title, Description: t.Description, Definition: string(t.Raw), Hash: t.Hash,
		Policy: PolicyOf(s.Policy(t.Name)), UIResource: t.UI.Resource, HiddenFromModels: t.UI.HiddenFromModels,
		HiddenFromApps: t.UI.HiddenFromApps,
	}
}

// PolicyOf converts a policy to the form that clients see.
func PolicyOf(p config.Policy) event.Policy {
	switch p {
	case config.Allow:
		return event.PolicyAllow
	case config.Deny:
		return event.PolicyDeny
	}
	return event.PolicyAsk
}
