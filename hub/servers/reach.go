package servers

import (
	"context"
	"net/http"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/process"
	"github.com/mcphub-go/mcphub/hub/redact"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// opener returns the Opener of s, which records the process and the transport that it opens. It is called without the
// lock.
func (s *Server) opener(conf *config.Server) mcp.Opener { return s.noting(s.reach(conf)) }

// noting wraps open, and its fallback, so that what they open is recorded in s.
func (s *Server) noting(open mcp.Opener) mcp.Opener {
	return func(ctx context.Context) (*mcp.Link, error) {
		link, err := open(ctx)
		if err != nil {
			return nil, err
		}
		if link.Fallback != nil {
			link.Fallback = s.noting(link.Fallback)
		}
		s.table.House.Update(func() { s.opened(link) })
		return link, nil
	}
}

func (s *Server) opened(link *mcp.Link) {
	s.pid, s.exit = link.PID, link.Exit
	switch {
	case link.LegacyOnly:
		s.transport = event.TransportSSE
	case link.Exchanges != nil:
		s.transport = event.TransportHTTP
	}
	if link.Kill != nil {
		s.table.kills[s] = link.Kill
	}
}

// reach returns the Opener that the config of s asks for.
func (s *Server) reach(conf *config.Server) mcp.Opener {
	t := s.table
	lines := redact.NewLines(t.Redactor) // not concurrent: lines arrive one by one, in their order
	stderr := func(line string) { s.stderrLine(lines.Line(line)) }
	if t.Open != nil {
		if open := t.Open(*conf, stderr); open != nil {
			return open
		}
	}
	if conf.URL == "" {
		return t.stdio(conf, stderr)
	}
	o := transport.HTTPOptions{URL: conf.URL, Header: http.Header{}, RoundTripper: t.RoundTripper,
		MaxMessageBytes: conf.MaxMessageBytes, Results: s.accounts.Results, Logger: t.Logger.With("server", s.name)}
	for name, value := range conf.Header {
		o.Header.Set(name, value)
	}
	var err error
	if o.Auth, err = s.authorizer(conf); err != nil {
		return func(context.Context) (*mcp.Link, error) { return nil, err }
	}
	switch {
	case conf.Transport == config.TransportHTTP:
		return mcp.HTTP(o)
	case conf.Transport == config.TransportSSE:
		return mcp.SSE(o)
	}
	return mcp.AnyHTTP(o)
}

// stdio returns the Opener that starts the process of a server.
func (t *Table) stdio(conf *config.Server, stderr func(line string)) mcp.Opener {
	return mcp.Stdio(process.Command{
		Path: conf.Command, Program: conf.Program, Args: conf.Args, Dir: conf.Dir, OnStderr: stderr,
		Containment: t.Containment, Env: conf.Environ, Searched: conf.Searched,
		Grace: process.Grace{Stdin: conf.Grace.Stdin, Terminate: conf.Grace.Terminate, Kill: conf.Grace.Kill},
	}, conf.MaxMessageBytes)
}

// stderrLine keeps a line of stderr, whose secrets have been removed, and passes it to the windows.
func (s *Server) stderrLine(line string) {
	s.table.House.Update(func() { s.keepStderr(line) })
	s.owner.Stderr(line)
}
