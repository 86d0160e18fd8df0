package servers

import (
	"fmt"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// Server is what package servers keeps of a configured server besides its state, which is in the core: its sessions,
// its texts. It is guarded by the lock of its house, except for table, number, name, owner and accounts.
type Server struct {
	table    *Table
	number   core.ServerNumber
	name     string
	owner    Owner
	accounts Accounts

	conf     config.Server
	key      string // launch key of conf; "" until Key is called
	problems []event.ConfigProblem

	conn      *connection   // while ready
	leaving   *connection   // while the requests end whose session is to be closed
	attempt   *attempt      // while connecting, or being stopped while connecting
	stopped   chan struct{} // closed when nothing runs any more; nil if nobody waits for that
	timer     *time.Timer   // set by the core
	era       mcp.Era       // of the last connection
	transport event.Transport
	startErr  *event.Error // of the last start that failed
	lastError string
	cause     error  // of lastError
	how       string // how it failed last, without exit status and stderr
	stderr    []string
	pid       int
	exit      func() string // returns how the present process ended, once it has ended; nil if there is no process
	lastExit  string

	tools         tools
	subscriptions subscriptions
	paused        pause
	auth          *authorization // made when it is first needed
}

// connection is one live session of a server.
type connection struct {
	number  core.ConnectionNumber
	session *mcp.Session
	client  Client
	fell    bool // it ended by itself: see fall
}

// Accounts bound the bytes that a server's lists and results may take.
type Accounts struct{ Lists, Results *bounds.Account }

// Entry is a config entry with its launch key and its problems.
type Entry struct {
	Conf     config.Server
	Key      string // the launch key of Conf, "" if it is not known yet
	Problems []event.ConfigProblem
}

// Name returns the name in the config. It never changes.
func (s *Server) Name() string { return s.name }

// Conf returns the config entry. Only Reconfigure changes it.
func (s *Server) Conf() *config.Server { return &s.conf }

// Problems returns the problems of the entry.
func (s *Server) Problems() []event.ConfigProblem { return s.problems }

// Number returns the number of s in the core. It never changes.
func (s *Server) Number() core.ServerNumber { return s.number }

// Now returns what the core knows of s.
func (s *Server) Now() core.Server { return s.table.Core.Server(s.number, time.Now()) }

// Removed reports whether the entry is no longer in the config.
func (s *Server) Removed() bool { return s.Now().Removed }

// Broken reports whether the entry is unusable.
func (s *Server) Broken() bool { return s.Now().Broken }

// Key returns the launch key of the present entry.
func (s *Server) Key() string {
	if s.key == "" {
		s.key = s.conf.LaunchKey()
	}
	return s.key
}

// Session returns the session of the connection, or nil if there is none.
func (s *Server) Session() *mcp.Session {
	if s.conn == nil {
		return nil
	}
	return s.conn.session
}

// Client returns the hub's side of the connection, or nil if there is none.
func (s *Server) Client() Client {
	if s.conn == nil {
		return nil
	}
	return s.conn.client
}

// Up reports whether there is a connection.
func (s *Server) Up() bool { return s.conn != nil }

// Running reports whether there is a connection or a start of one.
func (s *Server) Running() bool { return s.conn != nil || s.attempt != nil }

// Unwanted reports whether a start is under way for which nobody waits.
func (s *Server) Unwanted() bool { return s.attempt != nil && !s.Now().Wanted }

// Cause returns the error behind Info's LastError, or nil if there is none.
func (s *Server) Cause() error { return s.cause }

// Disabled reports whether the server is switched off, by the config or by SetEnabled.
func (s *Server) Disabled() bool { return s.Now().Off }

// Usable returns the error for a server that cannot be connected because of its entry, or nil if it can.
func (s *Server) Usable() *event.Error {
	switch now := s.Now(); {
	case now.Removed:
		return ErrNotFound(s.name)
	case now.Broken:
		var texts []string
		for _, p := range s.problems {
			if p.Fatal {
				texts = append(texts, fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message))
			}
		}
		return event.Fail(event.CodeFailedPrecondition, event.ReasonServerBroken, []string{"server", s.name},
			"the config entry of server %q cannot be used: %s", s.name, strings.Join(texts, "; "))
	case now.Off:
		return event.Fail(event.CodeFailedPrecondition, event.ReasonServerDisabled,
			[]string{"server", s.name, "setting", "disabled"},
			"server %q is switched off; switch it on or remove disabled%s", s.name, s.Where())
	}
	return nil
}

// Where returns the place of the entry for error texts, " in FILE:LINE", or "".
func (s *Server) Where() string { return PlaceOf(&s.conf) }

// PlaceOf is like Where, for a config.Server.
func PlaceOf(conf *config.Server) string {
	if conf.Origin.File == "" {
		return ""
	}
	return fmt.Sprintf(" in %s:%d", conf.Origin.File, conf.Origin.Line)
}

// SettingOf returns the key by which the user's file sets field, and its place. Without such a key it returns field
// itself and the place of the entry.
func SettingOf(conf *config.Server, field string) (key, where string) {
	at, said := conf.Fields[field]
	if !said || at.Key == "" || at.Line <= 0 || conf.Origin.File == "" {
		return field, PlaceOf(conf)
	}
	return at.Key, fmt.Sprintf(" in %s:%d", conf.Origin.File, at.Line)
}

// changed tells the windows that something has changed of s besides its state.
func (s *Server) changed() { s.table.Apply(core.InfoChanged{Server: s.number}) }
