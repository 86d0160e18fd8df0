package hub

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// tellRoots tells legacy servers that the list of workspace folders changed.
func (h *Hub) tellRoots() {
	h.mu.Lock()
	var sessions []*mcp.Session
	for _, s := range h.servers {
		if s.conn != nil && s.conn.session.Era() == mcp.Legacy {
			sessions = append(sessions, s.conn.session)
		}
	}
	h.mu.Unlock()
	for _, session := range sessions {
		if err := session.RootsChanged(); err != nil && !errors.Is(err, jsonrpc.ErrClosed) {
			h.log.Warn("a server could not be told of changed roots", "error", err.Error())
		}
	}
}

// opener gives the way to s, noting its process.
func (h *Hub) opener(s *server, conf config.Server) mcp.Opener {
	open := h.open(conf, func(line string) { h.stderrLine(s, line) })
	return func(ctx context.Context) (*mcp.Link, error) {
		link, err := open(ctx)
		if err == nil {
			h.mu.Lock()
			s.pid = link.PID
			if link.Kill != nil {
				h.kills[s] = link.Kill
			}
			h.mu.Unlock()
		}
		return link, err
	}
}

// stdio starts the process of a server.
func (h *Hub) stdio(conf config.Server, stderr func(line string)) mcp.Opener {
	return mcp.Stdio(transport.Command{
		Path: conf.Command, Args: conf.Args, Dir: conf.Dir, OnStderr: stderr,
		Env:   transport.Environment(h.environ, conf.Env),
		Grace: transport.Grace{Stdin: conf.Grace.Stdin, Terminate: conf.Grace.Terminate, Kill: conf.Grace.Kill},
	}, conf.MaxMessageBytes)
}

// stderrLine keeps a line of a server's stderr and shows it to the windows.
func (h *Hub) stderrLine(s *server, line string) {
	text, err := json.Marshal(line)
	if err != nil {
		return // cannot be: every string marshals
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(s.stderr) >= maxStderrLines {
		s.stderr = append(s.stderr[:0], s.stderr[1:]...)
	}
	s.stderr = append(s.stderr, line)
	h.emit(&LogMessage{Server: s.name, Level: "stderr", Data: string(text)})
}
