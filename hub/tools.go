package hub

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// knownTools are the tools that a server listed last.
type knownTools struct {
	list    []mcp.Tool // nil = unknown; its elements never change
	of      *connection
	bytes   int // bytes taken from accounts.Lists for list
	listing *toolListing
	changes uint64 // counts the changes that make a listing under way outdated
}

// toolListing is one tools/list that several callers wait for.
type toolListing struct {
	conn    *connection
	since   uint64 // tools.changes when it began; later callers join it only if that has not changed
	waiters int    // it is cancelled when the last one leaves
	end     context.CancelCauseFunc
	done    chan struct{}
	tools   []mcp.Tool
	err     error
}

var errListUnwanted = errors.New("nobody wants the list of tools any more")

// listedTools returns the tools as they were listed last, perhaps by an earlier connection; nil means unknown. current
// reports whether the present connection has listed them. The caller must not change the list.
func (s *server) listedTools() (list []mcp.Tool, current bool) {
	return s.tools.list, s.conn != nil && s.tools.list != nil && s.tools.of == s.conn
}

// visible returns the names of the tools in list that the config does not hide. It takes the lock.
func (s *server) visible(list []mcp.Tool) (names []string) {
	var filter config.ToolFilter
	s.hub.within(func() { filter = s.conf.Tools })
	for i := range list {
		if filter.Visible(list[i].Name) {
			names = append(names, list[i].Name)
		}
	}
	return names
}

// toolNamed returns the tool of that name in list.
func toolNamed(list []mcp.Tool, name string) (*mcp.Tool, bool) {
	for i := range list {
		if list[i].Name == name {
			return &list[i], true
		}
	}
	return nil, false
}

// toolOverhead is an estimate of the memory that a tool takes in addition to its definition, in bytes.
const toolOverhead = 512

// keepTools replaces the list of tools. If the new list does not fit into the account, it returns an error, and no list
// is kept.
func (s *server) keepTools(list []mcp.Tool, of *connection) error {
	s.forgetTools()
	n := 0
	for _, t := range list {
		n += len(t.Raw) + toolOverhead
	}
	if err := s.allowance.lists.Take(n); err != nil {
		return err
	}
	s.tools.list, s.tools.of, s.tools.bytes = list, of, n
	return nil
}

// forgetTools drops the list of tools.
func (s *server) forgetTools() {
	s.allowance.lists.Give(s.tools.bytes)
	s.tools.list, s.tools.bytes = nil, 0
}

// toolsOutdated is called when the server has announced that its tools have changed.
func (s *server) toolsOutdated() {
	s.forgetTools()
	s.tools.changes++
}

// listTools lists the tools of session; concurrent callers share one request. If this connection has already listed
// them and enough accepts that list, it is returned. Errors are those of the session, and *event.Error. It takes the
// lock.
func (s *server) listTools(ctx context.Context, session *mcp.Session, enough func([]mcp.Tool) bool) (list []mcp.Tool,
	err error) {
	var l *toolListing
	s.hub.within(func() { l, list, err = s.joinListing(session, enough) })
	if l == nil {
		return list, err
	}
	select {
	case <-l.done:
		return l.tools, l.err
	case <-ctx.Done():
	}
	s.hub.within(func() {
		if l.waiters--; l.waiters == 0 { // the listing may wait for a person to sign in, which is of no use to anybody now
			if s.tools.listing == l {
				s.tools.listing = nil
			}
			l.end(errListUnwanted)
		}
	})
	return nil, context.Cause(ctx)
}

// joinListing returns a listing that the caller now waits for, or nil with the list or the error.
func (s *server) joinListing(session *mcp.Session, enough func([]mcp.Tool) bool) (*toolListing, []mcp.Tool, error) {
	if s.session() != session {
		return nil, nil, s.errGone()
	}
	if list, current := s.listedTools(); current && enough(list) {
		return nil, list, nil
	}
	l := s.tools.listing
	if l == nil || l.conn != s.conn || l.since != s.tools.changes {
		l = s.beginListing(session)
	}
	l.waiters++
	return l, nil, nil
}

func (s *server) beginListing(session *mcp.Session) *toolListing {
	wanted, end := context.WithCancelCause(context.Background())
	l := &toolListing{conn: s.conn, since: s.tools.changes, end: end, done: make(chan struct{})}
	s.tools.listing = l
	limit, late := s.connectLimit("did not list its tools")
	s.hub.work.Go(func() {
		ctx, stop := s.within(wanted, limit, late)
		defer stop()
		defer end(nil)
		l.tools, l.err = session.ListTools(ctx)
		if l.err != nil && ctx.Err() != nil {
			l.err = late
		}
		var keep bool
		var key toolKey
		s.hub.within(func() {
			if s.tools.listing == l {
				s.tools.listing = nil
			}
			if l.err == nil && s.conn == l.conn && s.tools.changes == l.since {
				l.err = s.keepTools(l.tools, l.conn)
				keep, key = l.err == nil, keyOfTools(s)
			}
		})
		if l.err != nil {
			l.tools = nil
		}
		close(l.done)
		if keep {
			s.hub.lists.keep(key, l.tools) // after close: callers that wait for the list do not wait for the disk
		}
	})
	return l
}

// recall returns the tools that the last connection of s listed, or a connection of an earlier hub under the same
// launch key. It returns nil if there is no such list. It takes the lock, and may read a file.
func (s *server) recall() (list []mcp.Tool) {
	var key toolKey
	s.hub.within(func() {
		if list = s.tools.list; list == nil {
			key = keyOfTools(s)
		}
	})
	if list != nil {
		return list
	}
	list = s.hub.lists.find(key)
	s.hub.within(func() {
		if s.tools.list == nil && s.conn == nil && keyOfTools(s) == key && s.keepTools(list, nil) != nil {
			list = nil // treated as if none were known
		}
	})
	return list
}

// Tools lists the tools of one server, or of all that are switched on if name is "". For all, the map holds the errors
// of the servers that could not be asked, by name.
func (h *Hub) Tools(ctx context.Context, name string) ([]event.ToolInfo, map[string]*event.Error, error) {
	return h.toolsBy(ctx, name, h.toolsOf, h.roomToStart)
}

// toolsBy collects what listOf returns for one server, or for all that are switched on. For each of all, it waits for
// room first.
func (h *Hub) toolsBy(ctx context.Context, name string,
	listOf func(context.Context, *server) ([]event.ToolInfo, error),
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
	h.update(func(st *state) {
		for _, s := range st.listed() {
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

// roomToStart waits until one more lazy server may be started for a list of all. As with eager servers, a config of
// fifty must not overload the machine, nor flood its user with questions. A connected server needs no room. The caller
// must call free.
func (h *Hub) roomToStart(ctx context.Context, s *server) (free func(), err error) {
	var up bool
	h.update(func(st *state) { up = s.up() || s.usable() != nil })
	if up {
		return func() {}, nil
	}
	select {
	case h.starts <- struct{}{}:
		return func() { <-h.starts }, nil
	case <-ctx.Done():
		return nil, event.StoppedWaiting(ctx, context.Cause(ctx))
	}
}

func (h *Hub) toolsOf(ctx context.Context, s *server) ([]event.ToolInfo, error) {
	session, err := s.acquire(ctx, 0)
	if err != nil {
		return nil, event.StoppedWaiting(ctx, err)
	}
	defer s.release()
	tools, err := currentTools(ctx, s, session)
	if notRun(err) {
		if session, err = s.renew(ctx, 0, session); err == nil {
			tools, err = currentTools(ctx, s, session)
		}
	}
	if err != nil {
		return nil, event.StoppedWaiting(ctx, err)
	}
	return h.shown(s, tools, false), nil
}

// currentTools returns the tools of a session, from memory if the server announces changes.
func currentTools(ctx context.Context, s *server, session *mcp.Session) ([]mcp.Tool, error) {
	// A modern server that announces no changes says with each list how long it is valid; the session keeps it for that
	// time.
	told := session.Era() == mcp.Legacy || session.Info().ToolsListChanged
	return listTools(ctx, s, session, func([]mcp.Tool) bool { return told })
}

// KnownTools is like Tools, but connects no server: the tools of a server that is not connected are those that were
// listed last, perhaps by an earlier hub.
func (h *Hub) KnownTools(ctx context.Context, name string) ([]event.ToolInfo, map[string]*event.Error, error) {
	return h.toolsBy(ctx, name, h.knownToolsOf, func(context.Context, *server) (func(), error) { return func() {}, nil })
}

func (h *Hub) knownToolsOf(ctx context.Context, s *server) ([]event.ToolInfo, error) {
	var session *mcp.Session
	var refusal *event.Error
	h.update(func(st *state) {
		if refusal = s.usable(); refusal == nil {
			session = s.join()
		}
	})
	if refusal != nil {
		return nil, refusal
	}
	if session != nil {
		tools, err := currentTools(ctx, s, session)
		s.release()
		if err == nil {
			return h.shown(s, tools, false), nil
		}
		var up bool
		h.update(func(st *state) { up = s.up() && s.session() == session && !session.Broken() && !notRun(err) })
		if up || ctx.Err() != nil {
			return nil, event.StoppedWaiting(ctx, err)
		}
	}
	return h.shown(s, s.recall(), true), nil
}

// shown returns the tools that the user is to see, in the form that clients see. It takes the lock.
func (h *Hub) shown(s *server, tools []mcp.Tool, cached bool) []event.ToolInfo {
	list := make([]event.ToolInfo, 0, len(tools))
	h.update(func(st *state) {
		for _, t := range tools {
			if s.conf.Tools.Visible(t.Name) {
				info := toolInfo(s, t)
				info.Cached = cached
				list = append(list, info)
			}
		}
	})
	return list
}

// toolInfo converts a tool of s to the form that clients see. It is called with the lock.
func toolInfo(s *server, t mcp.Tool) event.ToolInfo {
	return event.ToolInfo{
		Server: s.name, Name: t.Name, Title: t.Title, Description: t.Description, Definition: string(t.Raw), Hash: t.Hash,
		Policy: s.hub.held().core.ToolTerms(s.number, t.Name).Policy, UIResource: t.UI.Resource,
		HiddenFromModels: t.UI.HiddenFromModels, HiddenFromApps: t.UI.HiddenFromApps,
	}
}

// policyOf converts a policy to the form that clients see.
func policyOf(p config.Policy) event.Policy {
	switch p {
	case config.Allow:
		return event.PolicyAllow
	case config.Deny:
		return event.PolicyDeny
	}
	return event.PolicyAsk
}

// findTool lists the tools of s and returns the tool that the request r calls, and the session that has listed it. It
// asks the server even if its tools are known and name is not among them, since not every server announces new tools.
// It takes the lock.
func findTool(ctx context.Context, s *server, r core.RequestNumber, requestID,
	name string) (*mcp.Tool, *mcp.Session, error) {
	session, err := s.acquire(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	session.DropCache() // a list that is kept because the server called it fresh lacks the name
	has := func(tools []mcp.Tool) bool {
		_, ok := toolNamed(tools, name)
		return ok
	}
	tools, err := listTools(ctx, s, session, has)
	if notRun(err) {
		if session, err = s.renew(ctx, r, session); err == nil {
			tools, err = listTools(ctx, s, session, has)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	tool, ok := toolNamed(tools, name)
	if !ok {
		return nil, nil, event.Fail(event.CodeNotFound, event.ReasonToolNotFound,
			[]string{"server", s.name, "request_id", requestID},
			"server %q has no tool %q%s", s.name, bounds.Printable(name), event.Hint(name, s.visible(tools)))
	}
	return tool, session, nil
}

// listTools calls s.ListTools, and puts its errors into words for people.
func listTools(ctx context.Context, s *server, session *mcp.Session,
	enough func([]mcp.Tool) bool) ([]mcp.Tool, error) {
	tools, err := s.listTools(ctx, session, enough)
	if err == nil || ctx.Err() != nil {
		return tools, err
	}
	if he, ok := err.(*event.Error); ok {
		return nil, he
	}
	return nil, exchangeFailed(s, fmt.Sprintf("server %q did not list its tools", s.name), err)
}

// Search selects entries of a list. The zero value selects all.
type Search struct {
	Query string // words that an entry must hold, in any case
	Limit int    // most entries that are returned; 0: all
}

const (
	// searchedBytes is how much of each text of an entry is searched.
	searchedBytes = 4 << 10
	// someBytes bounds what is returned of a list with a Limit, since a person looks at it.
	someBytes = 1 << 20
)

// Select returns the entries of all that s selects, and how many entries match. If too many match, it returns the first
// ones. texts returns what an entry is searched by, and its definition.
func Select[I any](s Search, all []I, texts func(I) (searched []string, definition string)) (some []I, matched int) {
	if s == (Search{}) {
		return all, len(all)
	}
	words := strings.Fields(strings.ToLower(bounds.Cut(s.Query, searchedBytes)))
	size, full := 0, false
	for _, info := range all {
		searched, definition := texts(info)
		if !hasAll(searched, words) {
			continue
		}
		matched++
		if s.Limit > 0 && !full {
			size += 2 * len(definition) // it is sent as a whole, and most of it again in fields
			full = len(some) == s.Limit || size > someBytes && len(some) > 0
		}
		if !full {
			some = append(some, info)
		}
	}
	return some, matched
}

func hasAll(texts, words []string) bool {
	if len(words) == 0 {
		return true
	}
	var all strings.Builder
	for _, text := range texts {
		all.WriteString(strings.ToLower(bounds.Cut(text, searchedBytes)))
		all.WriteByte('\n')
	}
	for _, word := range words {
		if !strings.Contains(all.String(), word) {
			return false
		}
	}
	return true
}

// ResourceTexts returns what a resource is searched by, and its definition, for Select.
func ResourceTexts(r event.ResourceInfo) ([]string, string) {
	return []string{r.URI, r.Name, r.Title, r.Description, r.MIMEType}, r.Definition
}

// TemplateTexts returns what a resource template is searched by, and its definition, for Select.
func TemplateTexts(t event.ResourceTemplateInfo) ([]string, string) {
	return []string{t.URITemplate, t.Name, t.Title, t.Description, t.MIMEType}, t.Definition
}

// PromptTexts returns what a prompt template is searched by, and its definition, for Select.
func PromptTexts(p event.McpPromptInfo) ([]string, string) {
	return []string{p.Name, p.Title, p.Description}, p.Definition
}
