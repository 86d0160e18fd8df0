package servers

import (
	"context"
	"errors"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// tools are the tools that a server listed last.
type tools struct {
	list    []mcp.Tool // nil = unknown; its elements never change
	of      *connection
	bytes   int // bytes taken from accounts.Lists for list
	listing *listing
	changes uint64 // counts the changes that make a listing under way outdated
}

// listing is one tools/list that several callers wait for.
type listing struct {
	conn    *connection
	since   uint64 // tools.changes when it began; later callers join it only if that has not changed
	waiters int    // it is cancelled when the last one leaves
	end     context.CancelCauseFunc
	done    chan struct{}
	tools   []mcp.Tool
	err     error
}

var errListUnwanted = errors.New("nobody wants the list of tools any more")

// Tools returns the tools as they were listed last, perhaps by an earlier connection; nil means unknown. current
// reports whether the present connection has listed them. The caller must not change the list.
func (s *Server) Tools() (list []mcp.Tool, current bool) {
	return s.tools.list, s.conn != nil && s.tools.list != nil && s.tools.of == s.conn
}

// Visible returns the names of the tools in list that the config does not hide. It takes the lock.
func (s *Server) Visible(list []mcp.Tool) (names []string) {
	var filter config.ToolFilter
	s.table.House.Update(func() { filter = s.conf.Tools })
	for i := range list {
		if filter.Visible(list[i].Name) {
			names = append(names, list[i].Name)
		}
	}
	return names
}

// FindTool returns the tool of that name in list.
func FindTool(list []mcp.Tool, name string) (*mcp.Tool, bool) {
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
func (s *Server) keepTools(list []mcp.Tool, of *connection) error {
	s.forgetTools()
	n := 0
	for _, t := range list {
		n += len(t.Raw) + toolOverhead
	}
	if err := s.accounts.Lists.Take(n); err != nil {
		return err
	}
	s.tools.list, s.tools.of, s.tools.bytes = list, of, n
	return nil
}

// forgetTools drops the list of tools.
func (s *Server) forgetTools() {
	s.accounts.Lists.Give(s.tools.bytes)
	s.tools.list, s.tools.bytes = nil, 0
}

// ToolsOutdated is called when the server has announced that its tools have changed.
func (s *Server) ToolsOutdated() {
	s.forgetTools()
	s.tools.changes++
}

// ListTools lists the tools of session; concurrent callers share one request. If this connection has already listed
// them and enough accepts that list, it is returned. Errors are those of the session, and *event.Error. It takes the
// lock.
func (s *Server) ListTools(ctx context.Context, session *mcp.Session, enough func([]mcp.Tool) bool) (list []mcp.Tool,
	err error) {
	var l *listing
	s.table.House.Update(func() { l, list, err = s.joinListing(session, enough) })
	if l == nil {
		return list, err
	}
	select {
	case <-l.done:
		return l.tools, l.err
	case <-ctx.Done():
	}
	s.table.House.Update(func() {
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
func (s *Server) joinListing(session *mcp.Session, enough func([]mcp.Tool) bool) (*listing, []mcp.Tool, error) {
	if s.Session() != session {
		return nil, nil, s.errGone()
	}
	if list, current := s.Tools(); current && enough(list) {
		return nil, list, nil
	}
	l := s.tools.listing
	if l == nil || l.conn != s.conn || l.since != s.tools.changes {
		l = s.beginListing(session)
	}
	l.waiters++
	return l, nil, nil
}

func (s *Server) beginListing(session *mcp.Session) *listing {
	wanted, end := context.WithCancelCause(context.Background())
	l := &listing{conn: s.conn, since: s.tools.changes, end: end, done: make(chan struct{})}
	s.tools.listing = l
	limit, late := s.ConnectLimit("did not list its tools")
	s.table.House.Go(func() {
		ctx, stop := s.Within(wanted, limit, late)
		defer stop()
		defer end(nil)
		l.tools, l.err = session.ListTools(ctx)
		if l.err != nil && ctx.Err() != nil {
			l.err = late
		}
		var keep bool
		var key toolKey
		s.table.House.Update(func() {
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
			s.table.kept.keep(key, l.tools) // after close: callers that wait for the list do not wait for the disk
		}
	})
	return l
}

// Recall returns the tools that the last connection of s listed, or a connection of an earlier hub under the same
// launch key. It returns nil if there is no such list. It takes the lock, and may read a file.
func (s *Server) Recall() (list []mcp.Tool) {
	var key toolKey
	s.table.House.Update(func() {
		if list = s.tools.list; list == nil {
			key = keyOfTools(s)
		}
	})
	if list != nil {
		return list
	}
	list = s.table.kept.find(key)
	s.table.House.Update(func() {
		if s.tools.list == nil && s.conn == nil && keyOfTools(s) == key && s.keepTools(list, nil) != nil {
			list = nil // treated as if none were known
		}
	})
	return list
}
