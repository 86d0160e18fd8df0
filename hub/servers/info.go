package servers

import (
	"strings"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
)

// maxStderrLines is how many of a server's last stderr lines are kept for people.
const maxStderrLines = 50

// Info returns what windows show of s, as far as it follows from its entry, its connection and its failures.
func (s *Server) Info() event.ServerInfo {
	now := s.Now()
	return s.InfoIn(core.ServerShown{State: now.State, Failures: now.Failures, NextStart: now.NextStart})
}

// InfoIn is Info for a state that windows are told of.
func (s *Server) InfoIn(e core.ServerShown) event.ServerInfo {
	i := event.ServerInfo{
		Name: s.name, Incarnation: uint64(s.number), State: e.State, LastError: s.lastError, LastExit: s.lastExit,
		Failures: e.Failures, NextStart: e.NextStart,
		Stderr: append([]string(nil), s.stderr...), ConfigFile: s.conf.Origin.File,
		ConfigLine: s.conf.Origin.Line, Problems: s.problems, Command: s.conf.Command,
		Transport: s.Transport(), URL: s.conf.DisplayURL(), SignIn: s.signInState(),
		Dialect: s.conf.Origin.Dialect, Scope: s.conf.Origin.Scope, Start: event.StartLazy,
	}
	if s.conf.Start == config.StartEager {
		i.Start = event.StartEager
	}
	if s.conn == nil {
		return i
	}
	session := s.conn.session
	si, stats := session.Info(), session.Stats()
	i.Era, i.Revision, i.PID, i.Ready = event.Era(session.Era()), session.Revision(), s.pid, s.ReadySince()
	i.Title, i.Version, i.Instructions, i.Capabilities = si.Title, si.Version, si.Instructions, string(si.Capabilities)
	if i.Title == "" {
		i.Title = si.Name
	}
	i.Counters = event.Counters{
		LateResponses: stats.LateResponses, UnknownResponses: stats.UnknownResponses, BadLines: stats.BadLines +
			stats.OversizeLines,
		UnknownCancels: stats.UnknownCancels, MalformedCancels: stats.MalformedCancels,
		SuppressedResponses: stats.SuppressedResponses, DroppedNotifications: stats.DroppedNotifications,
	}
	return i
}

// Era returns the era of the connection, or of the previous one; 0 when there was none.
func (s *Server) Era() event.Era {
	if s.conn == nil {
		return event.Era(s.era)
	}
	return event.Era(s.conn.session.Era())
}

// Transport returns how s is reached. It is 0 when that is unknown: for a broken entry, or for a URL without a type
// before its first connection.
func (s *Server) Transport() event.Transport {
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

// keepStderr keeps the last lines of stderr, to show why a server ended. Each is cut short, because windows are sent
// all of them with every change of the server.
func (s *Server) keepStderr(line string) {
	line = strings.Clone(bounds.Cut(line, bounds.KeptLineBytes))
	if len(s.stderr) >= maxStderrLines {
		s.stderr = append(s.stderr[:0], s.stderr[1:]...)
	}
	s.stderr = append(s.stderr, line)
}
