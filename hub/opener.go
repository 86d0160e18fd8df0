package hub

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/redact"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// tellRoots tells legacy servers that the list of workspace folders changed.
func (h *Hub) tellRoots() {
	var sessions []*mcp.Session
	h.update(func() {
		for _, s := range h.servers {
			if s.conn != nil && s.conn.session.Era() == mcp.Legacy {
				sessions = append(sessions, s.conn.session)
			}
		}
	})
	for _, session := range sessions {
		if err := session.RootsChanged(); err != nil && !errors.Is(err, jsonrpc.ErrClosed) {
			h.log.Warn("a server could not be told of changed roots", "error", err.Error())
		}
	}
}

// opener gives the way to s, noting its process and its transport.
func (h *Hub) opener(s *server, conf config.Server) mcp.Opener { return h.noting(s, h.reach(s, conf)) }

// noting gives open, and the way that is taken when what it opens is refused, with notes of what it has opened.
func (h *Hub) noting(s *server, open mcp.Opener) mcp.Opener {
	return func(ctx context.Context) (*mcp.Link, error) {
		link, err := open(ctx)
		if err != nil {
			return nil, err
		}
		if link.Fallback != nil {
			link.Fallback = h.noting(s, link.Fallback)
		}
		defer h.lock().unlock()
		s.pid, s.supervised.exit = link.PID, link.Exit
		switch {
		case link.LegacyOnly:
			s.transport = event.TransportSSE
		case link.Exchanges != nil:
			s.transport = event.TransportHTTP
		}
		if link.Kill != nil {
			h.kills[s] = link.Kill
		}
		return link, nil
	}
}

// reach is how a server is reached, by what its config says.
func (h *Hub) reach(s *server, conf config.Server) mcp.Opener {
	lines := redact.NewLines(h.redactor) // lines come one by one, in their order
	stderr := func(line string) { h.stderrLine(s, lines.Line(line)) }
	switch {
	case h.open != nil:
		return h.open(conf, stderr)
	case conf.URL == "":
		return h.stdio(conf, stderr)
	}
	o := transport.HTTPOptions{URL: conf.URL, Header: http.Header{}, RoundTripper: h.web,
		MaxMessageBytes: conf.MaxMessageBytes, Logger: h.log.With("server", s.name)}
	for name, value := range conf.Header {
		o.Header.Set(name, value)
	}
	o.Results = s.costs.results
	sign, err := h.authorize(s, conf)
	if err != nil {
		return func(context.Context) (*mcp.Link, error) { return nil, err }
	}
	if sign != nil {
		o.Auth = watched{SignIn: sign, hub: h, server: s}
	}
	switch {
	case conf.Transport == config.TransportHTTP:
		return mcp.HTTP(o)
	case conf.Transport == config.TransportSSE:
		return mcp.SSE(o)
	}
	return mcp.AnyHTTP(o)
}

// stdio starts the process of a server.
func (h *Hub) stdio(conf config.Server, stderr func(line string)) mcp.Opener {
	return mcp.Stdio(transport.Command{
		Path: conf.Command, Program: conf.Program, Args: conf.Args, Dir: conf.Dir, OnStderr: stderr, Containment: h.contained,
		MemoryLimit: conf.Memory,
		Env:         transport.Environment(h.environ, conf.Env),
		Grace:       transport.Grace{Stdin: conf.Grace.Stdin, Terminate: conf.Grace.Terminate, Kill: conf.Grace.Kill},
	}, conf.MaxMessageBytes)
}

// stderrLine keeps a line of a server's stderr, which has no secrets in it any more, and shows it to the windows.
func (h *Hub) stderrLine(s *server, line string) {
	text, err := json.Marshal(line)
	if err != nil {
		return // cannot be: every string marshals
	}
	h.keepStderr(s, line)
	h.logged(s, &event.LogMessage{Level: "stderr", Data: string(text)})
}

// keepStderr keeps the last lines, for people who ask why a server ended; each line is short, as windows are told all
// of them with every change of the server.
func (h *Hub) keepStderr(s *server, line string) {
	line = strings.Clone(bounds.Cut(line, bounds.KeptLineBytes))
	defer h.lock().unlock()
	if len(s.stderr) >= maxStderrLines {
		s.stderr = append(s.stderr[:0], s.stderr[1:]...)
	}
	s.stderr = append(s.stderr, line)
}

// transportOf is how s is reached; not known for a URL of no said type before its first connection. h.mu is held.
func transportOf(s *server) event.Transport {
	switch {
	case s.conf.URL == "" && s.conf.Command == "":
		return 0 // a broken entry
	case s.conf.URL == "":
		return event.TransportStdio
	case s.transport != 0:
		return s.transport
	case s.conf.Transport == config.TransportHTTP:
		return event.TransportHTTP
	case s.conf.Transport == config.TransportSSE:
		return event.TransportSSE
	}
	return 0
}
