package hub

import (
	"context"
	"fmt"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/outcome"
	"github.com/mcphub-go/mcphub/hub/servers"
)

// listFor lists the tools of a server for r, and gives the one that r calls, and the session that has listed it. It
// asks also when the tools are known and the name is not among them: not every server tells of new tools.
func (h *Hub) listFor(r *request) (*mcp.Tool, *mcp.Session, error) {
	s := r.server
	session, err := s.Acquire(r.ctx, r)
	if err != nil {
		return nil, nil, err
	}
	session.DropCache() // a list that the server called fresh for a while is the one that lacks the name
	has := func(tools []mcp.Tool) bool {
		_, ok := servers.FindTool(tools, r.tool)
		return ok
	}
	tools, err := h.listTools(r.ctx, s, session, has)
	if outcome.NotRun(err) {
		if session, err = s.Renew(r.ctx, r, session); err == nil {
			tools, err = h.listTools(r.ctx, s, session, has)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	tool, ok := servers.FindTool(tools, r.tool)
	if !ok {
		return nil, nil, event.Fail(event.CodeNotFound, event.ReasonToolNotFound,
			[]string{"server", s.name, "request_id", r.id},
			"server %q has no tool %q", s.name, bounds.Printable(r.tool))
	}
	return tool, session, nil
}

// listTools is the server's ListTools, with its errors in words for people.
func (h *Hub) listTools(ctx context.Context, s *server, session *mcp.Session,
	enough func([]mcp.Tool) bool) ([]mcp.Tool, error) {
	tools, err := s.ListTools(ctx, session, enough)
	if err == nil || ctx.Err() != nil {
		return tools, err
	}
	if he, ok := err.(*event.Error); ok {
		return nil, he
	}
	return nil, outcome.Exchange(s.Server, fmt.Sprintf("server %q did not list its tools", s.name), err)
}

// Tools lists the tools of one server, or of all that are switched on when name is "". With all, a server that cannot
// be asked is among the troubles.
func (h *Hub) Tools(ctx context.Context, name string) ([]event.ToolInfo, map[string]*event.Error, error) {
	return h.toolsBy(ctx, name, h.toolsOf, h.roomToStart)
}

// toolsBy collects what listOf gives for one server, or for all that are switched on: for each of these once there is
// room.
func (h *Hub) toolsBy(ctx context.Context, name string, listOf func(context.Context, *server) ([]event.ToolInfo, error),
	room func(context.Context, *server) (free func(), err error)) ([]event.ToolInfo, map[string]*event.Error, error) {
	if name != "" {
		s, err := h.find(name)
		if err != nil {
			return nil, nil, err
		}
		list, err := listOf(ctx, s)
		return list, nil, err
	}
	var ask []*server
	h.update(func() {
		for _, s := range h.servers {
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
			troubles[s.name] = event.AsError(errs[i])
		}
	}
	return all, troubles, nil
}

// roomToStart waits until one more lazy server may be started for a list of all: as with eager ones, a config of fifty
// must not storm the machine, nor bury its user in questions. One that is connected needs no room. free gives it back.
func (h *Hub) roomToStart(ctx context.Context, s *server) (free func(), err error) {
	var up bool
	h.update(func() { up = s.Up() || s.Usable() != nil })
	if up {
		return func() {}, nil
	}
	select {
	case h.listStarts <- struct{}{}:
		return func() { <-h.listStarts }, nil
	case <-ctx.Done():
		return nil, contextError(ctx, context.Cause(ctx))
	}
}

func (h *Hub) toolsOf(ctx context.Context, s *server) ([]event.ToolInfo, error) {
	session, err := s.Acquire(ctx, nil)
	if err != nil {
		return nil, contextError(ctx, err)
	}
	defer s.Unlease()
	tools, err := h.currentTools(ctx, s, session)
	if outcome.NotRun(err) {
		if session, err = s.Renew(ctx, nil, session); err == nil {
			tools, err = h.currentTools(ctx, s, session)
		}
	}
	if err != nil {
		return nil, contextError(ctx, err)
	}
	return h.shown(s, tools, false), nil
}

// currentTools gives the tools of a session, from memory where the server would tell of a change.
func (h *Hub) currentTools(ctx context.Context, s *server, session *mcp.Session) ([]mcp.Tool, error) {
	// A modern server that tells of no changes says with each list how long it is good for; the session keeps it that
	// long.
	told := session.Era() == mcp.Legacy || session.Info().ToolsListChanged
	return h.listTools(ctx, s, session, func([]mcp.Tool) bool { return told })
}

// contextError says that a caller stopped waiting.
func contextError(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	if _, ok := err.(*event.Error); ok {
		return err
	}
	return event.Fail(event.CodeCancelled, event.ReasonCancelled, nil, "the host stopped waiting")
}

func (h *Hub) toolInfo(s *server, t mcp.Tool) event.ToolInfo {
	return event.ToolInfo{
		Server: s.name, Name: t.Name, Title: t.Title, Description: t.Description, Definition: string(t.Raw), Hash: t.Hash,
		Policy: policyOf(s.launch.Policy(t.Name)),
	}
}

func policyOf(p config.Policy) event.Policy {
	switch p {
	case config.Allow:
		return event.PolicyAllow
	case config.Deny:
		return event.PolicyDeny
	}
	return event.PolicyAsk
}
