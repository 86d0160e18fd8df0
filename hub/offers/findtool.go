package offers

import (
	"context"
	"fmt"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/nearmiss"
	"github.com/mcphub-go/mcphub/hub/outcome"
	"github.com/mcphub-go/mcphub/hub/servers"
)

// FindTool lists the tools of s and returns the tool that the request r calls, and the session that has listed it. It
// asks the server even if its tools are known and name is not among them, since not every server announces new tools.
// It takes the lock.
func FindTool(ctx context.Context, s *servers.Server, r core.RequestNumber, requestID,
	name string) (*mcp.Tool, *mcp.Session, error) {
	session, err := s.Acquire(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	session.DropCache() // a list that is kept because the server called it fresh lacks the name
	has := func(tools []mcp.Tool) bool {
		_, ok := servers.FindTool(tools, name)
		return ok
	}
	tools, err := listTools(ctx, s, session, has)
	if outcome.NotRun(err) {
		if session, err = s.Renew(ctx, r, session); err == nil {
			tools, err = listTools(ctx, s, session, has)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	tool, ok := servers.FindTool(tools, name)
	if !ok {
		return nil, nil, event.Fail(event.CodeNotFound, event.ReasonToolNotFound,
			[]string{"server", s.Name(), "request_id", requestID},
			"server %q has no tool %q%s", s.Name(), bounds.Printable(name), nearmiss.Hint(name, s.Visible(tools)))
	}
	return tool, session, nil
}

// listTools calls s.ListTools, and puts its errors into words for people.
func listTools(ctx context.Context, s *servers.Server, session *mcp.Session,
	enough func([]mcp.Tool) bool) ([]mcp.Tool, error) {
	tools, err := s.ListTools(ctx, session, enough)
	if err == nil || ctx.Err() != nil {
		return tools, err
	}
	if he, ok := err.(*event.Error); ok {
		return nil, he
	}
	return nil, outcome.Exchange(s, fmt.Sprintf("server %q did not list its tools", s.Name()), err)
}
