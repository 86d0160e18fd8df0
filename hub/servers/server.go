package servers

import (
	"fmt"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// Server is one configured server. It is guarded by the lock of its house, except for table, name, owner and accounts.
type Server struct {
	table    *Table
	name     string
	owner    Owner
	accounts Accounts

	conf     config.Server
	key      string // launch key of conf; "" until Key is called
	problems []event.ConfigProblem
	off      *bool // as set by SetEnabled; nil = the config decides

	life       Life          // changed only by apply: see transition
	conn       *connection   // while ready
	attempt    *attempt      // while connecting, or being stopped while connecting
	stopping   chan struct{} // while stopping; closed when nothing runs any more
	stopReason string        // of the latest order to stop it
	successor  *Server       // a later entry of the same name, which waits for the end of this one
	users      int           // requests and listings that use conn
	stale      bool          // to be reconnected when idle: see renewIfIdle
	era        mcp.Era       // of the last connection
	transport  event.Transport
	lastError  string
	cause      error // of lastError
	stderr     []string
	pid        int
	ready      time.Time

	tools         tools
	subscriptions subscriptions
	paused        pause
	supervised    supervision
	idle          idleness
	auth          *authorization // made when it is first needed
}

// connection is one live session of a server.
type connection struct {
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
	Broken   bool // the entry cannot be used
}

// Name returns the name in the config. It never changes.
func (s *Server) Name() string { return s.name }

// Conf returns the config entry. Only Reconfigure changes it.
func (s *Server) Conf() *config.Server { return &s.conf }

// Problems returns the problems of the entry.
func (s *Server) Problems() []event.ConfigProblem { return s.problems }

// Life returns the state of the server. Callers outside this package only read it.
func (s *Server) Life() *Life { return &s.life }

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

// Stopping returns a channel that is closed when the stop under way has ended, or nil if there is none.
func (s *Server) Stopping() <-chan struct{} { return s.stopping }

// Unwanted reports whether a start is under way for which nobody waits.
func (s *Server) Unwanted() bool { return s.attempt != nil && s.attempt.waiters == 0 }

// Cause returns the error behind Info's LastError, or nil if there is none.
func (s *Server) Cause() error { return s.cause }

// Disabled reports whether the server is switched off, by the config or by SetEnabled.
func (s *Server) Disabled() bool {
	if s.off != nil {
		return *s.off
	}
	return s.conf.Disabled
}

// Eager reports whether the config demands that the server is started before a call needs it.
func (s *Server) Eager() bool { return s.conf.Start == config.StartEager }

// Usable returns the error for a server that cannot be connected because of its entry, or nil if it can.
func (s *Server) Usable() *event.Error {
	switch {
	case s.life.Removed():
		return ErrNotFound(s.name)
	case s.life.Broken():
		var texts []string
		for _, p := range s.problems {
			if p.Fatal {
				texts = append(texts, fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message))
			}
		}
		return event.Fail(event.CodeFailedPrecondition, event.ReasonServerBroken, []string{"server", s.name},
			"the config entry of server %q cannot be used: %s", s.name, strings.Join(texts, "; "))
	case s.Disabled():
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

// transition applies e, and tells the windows if the change is visible to them. The caller has already set the fields
// that the windows are shown with it. transition panics if e is impossible.
func (s *Server) transition(e Event) {
	was := s.life.State()
	if !s.life.apply(e) {
		panic("server " + s.name + " is " + was.String() + ": impossible event: " + e.String())
	}
	if s.life.State() != was || tellsOf(e) {
		s.owner.Changed()
	}
}

// tellsOf reports whether e changes what windows show although the state stays the same: the planned start, or the
// count of failures.
func tellsOf(e Event) bool { return e == Abandon || e == Forgive }
