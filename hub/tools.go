package hub

import (
	"context"
	"errors"
	"fmt"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// listing is one tools/list that several callers wait for.
type listing struct {
	conn *connection
	// server.listings when it began: a change of the tools after that makes it worthless for who comes later
	since   uint64
	waiters int // guarded by Hub.mu; with the last one it ends
	end     context.CancelCauseFunc
	done    chan struct{}
	tools   []mcp.Tool
	err     error
}

// listFor lists the tools of a server for r, and gives the one that r calls, and the session that has listed it. It
// asks also when the tools are known and the name is not among them: not every server tells of new tools.
func (h *Hub) listFor(r *request) (*mcp.Tool, *mcp.Session, error) {
	s := r.server
	session, err := h.acquire(r.ctx, s, r)
	if err != nil {
		return nil, nil, err
	}
	session.DropCache() // a list that the server called fresh for a while is the one that lacks the name
	has := func(tools []mcp.Tool) bool {
		_, ok := findTool(tools, r.tool)
		return ok
	}
	tools, err := h.listTools(r.ctx, s, session, has)
	if notRun(err) {
		if session, err = h.renewed(r.ctx, s, r, session); err == nil {
			tools, err = h.listTools(r.ctx, s, session, has)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	tool, ok := findTool(tools, r.tool)
	if !ok {
		return nil, nil, event.Fail(event.CodeNotFound, event.ReasonToolNotFound,
			[]string{"server", s.name, "request_id", r.id},
			"server %q has no tool %q", s.name, bounds.Printable(r.tool))
	}
	return tool, session, nil
}

var errListUnwanted = errors.New("nobody wants the list of tools any more")

// findTool gives a tool of a list, which is not changed once it is there.
func findTool(tools []mcp.Tool, name string) (*mcp.Tool, bool) {
	for i := range tools {
		if tools[i].Name == name {
			return &tools[i], true
		}
	}
	return nil, false
}

// listTools asks for the tools of a session; callers at the same time share one request. A list of this connection that
// is enough is given as it is.
func (h *Hub) listTools(ctx context.Context, s *server, session *mcp.Session,
	enough func([]mcp.Tool) bool) ([]mcp.Tool, error) {
	l, tools, err := h.joinListing(s, session, enough)
	if l == nil {
		return tools, err
	}
	select {
	case <-l.done:
	case <-ctx.Done():
		defer h.lock().unlock()
		if l.waiters--; l.waiters == 0 { // it may wait for a person to sign in, for nobody
			if s.listing == l {
				s.listing = nil
			}
			l.end(errListUnwanted)
		}
		return nil, context.Cause(ctx)
	}
	if l.err == nil {
		return l.tools, nil
	}
	if he, ok := l.err.(*event.Error); ok {
		return nil, he
	}
	what := fmt.Sprintf("server %q did not list its tools", s.name)
	if he := exchangeError(s, "", what, 0, l.err); he != nil {
		return nil, he
	}
	e := event.Fail(event.CodeUnavailable, event.ReasonServerFailed, []string{"server", s.name}, "%s: %s", what,
		s.quote(l.err.Error()))
	e.Err = l.err
	return nil, e
}

// joinListing makes the caller one who waits for a listing, nil when there is no need for one.
func (h *Hub) joinListing(s *server, session *mcp.Session, enough func([]mcp.Tool) bool) (*listing, []mcp.Tool, error) {
	defer h.lock().unlock()
	if s.conn == nil || s.conn.session != session {
		return nil, nil, errGone(s)
	}
	if s.toolsOf == s.conn && s.tools != nil && enough(s.tools) {
		return nil, s.tools, nil
	}
	l := s.listing
	if l == nil || l.conn != s.conn || l.since != s.listings {
		wanted, end := context.WithCancelCause(context.Background())
		l = &listing{conn: s.conn, since: s.listings, end: end, done: make(chan struct{})}
		s.listing = l
		key, where := settingOf(s.conf, "timeouts.connect")
		limit := DefaultConnectTimeout
		if s.conf.Timeouts.Connect != nil {
			limit = *s.conf.Timeouts.Connect
		}
		h.work.Go(func() {
			late := event.Fail(event.CodeDeadlineExceeded, event.ReasonConnectTimeout,
				[]string{"server", s.name, "setting", "timeouts.connect"},
				"server %q did not list its tools within %s; raise %s%s", s.name, limit, key, where)
			ctx, stop := h.within(wanted, s, limit, late)
			defer stop()
			defer end(nil)
			l.tools, l.err = session.ListTools(ctx)
			if l.err != nil && ctx.Err() != nil {
				l.err = late
			}
			var kept bool
			var key toolKey
			h.update(func() {
				if s.listing == l {
					s.listing = nil
				}
				if l.err == nil && s.conn == l.conn && s.listings == l.since {
					l.err = s.keepTools(l.tools, l.conn)
					kept, key = l.err == nil, keyOfTools(s)
				}
			})
			close(l.done)
			if kept {
				h.tools.keep(key, l.tools) // who waits for the list does not wait for the disk
			}
		})
	}
	l.waiters++
	return l, nil, nil
}

func errGone(s *server) *event.Error {
	return event.Fail(event.CodeUnavailable, event.ReasonServerGone, []string{"server", s.name},
		"the connection to server %q ended; the next call starts it again", s.name)
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
			if !s.disabled() {
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
	h.update(func() { up = s.conn != nil || s.usable() != nil })
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
	session, err := h.acquire(ctx, s, nil)
	if err != nil {
		return nil, contextError(ctx, err)
	}
	defer h.unlease(s)
	tools, err := h.currentTools(ctx, s, session)
	if notRun(err) {
		if session, err = h.renewed(ctx, s, nil, session); err == nil {
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
		Policy: policyOf(h.policy(s, t.Name)),
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
