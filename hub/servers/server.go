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

// Server is one configured server. It is guarded by the lock of its house, but for its table, name, owner and accounts.
type Server struct {
	table    *Table
	name     string
	owner    Owner
	accounts Accounts

	conf     config.Server
	key      string // conf's launch key, "" until it is asked for: see Key
	problems []event.ConfigProblem
	off      *bool // what SetEnabled said; nil = the config decides

	life       Life          // changed by transition and settle alone
	conn       *connection   // while ready
	attempt    *attempt      // while connecting, or being stopped while connecting
	stopping   chan struct{} // while stopping; closed at the end of that
	stopReason string        // of the latest order to stop it
	successor  *Server       // another entry of its name, which waits for its end
	users      int           // requests and listings that use conn
	stale      bool          // more can be offered than conn's session declared: connect anew when idle
	era        mcp.Era       // as last connected
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
	fell    bool // it ended by itself
}

// Accounts are what a server's lists and results may hold.
type Accounts struct{ Lists, Results *bounds.Account }

// Entry is an entry of the config, as a server takes it up.
type Entry struct {
	Conf     config.Server
	Key      string // the launch key of Conf, "" = not known yet
	Problems []event.ConfigProblem
	Broken   bool // it cannot be used
}

// Name is the name in the config. It never changes.
func (s *Server) Name() string { return s.name }

// Conf is what the config says. Reconfigure alone changes it.
func (s *Server) Conf() *config.Server { return &s.conf }

// Problems are those of the entry.
func (s *Server) Problems() []event.ConfigProblem { return s.problems }

// Life is the state of the server. Nobody else changes it.
func (s *Server) Life() *Life { return &s.life }

// Key is the launch key of the entry of now.
func (s *Server) Key() string {
	if s.key == "" {
		s.key = s.conf.LaunchKey()
	}
	return s.key
}

// Session is the session of the connection, nil while there is none.
func (s *Server) Session() *mcp.Session {
	if s.conn == nil {
		return nil
	}
	return s.conn.session
}

// Client is the hub's half of the connection, nil while there is none.
func (s *Server) Client() Client {
	if s.conn == nil {
		return nil
	}
	return s.conn.client
}

// Up tells whether there is a connection.
func (s *Server) Up() bool { return s.conn != nil }

// Running tells whether there is a connection, or a start of one.
func (s *Server) Running() bool { return s.conn != nil || s.attempt != nil }

// Stopping is closed when what is being stopped has stopped; nil: nothing is.
func (s *Server) Stopping() <-chan struct{} { return s.stopping }

// Unwanted tells whether a start is under way that nobody waits for any more.
func (s *Server) Unwanted() bool { return s.attempt != nil && s.attempt.waiters == 0 }

// Cause is the error behind Info's LastError, nil when there is none.
func (s *Server) Cause() error { return s.cause }

// Disabled tells whether the server is switched off, by the config or by SetEnabled.
func (s *Server) Disabled() bool {
	if s.off != nil {
		return *s.off
	}
	return s.conf.Disabled
}

// Eager tells whether the server is started without anybody's doing.
func (s *Server) Eager() bool { return s.conf.Start == config.StartEager }

// Usable tells why the server cannot be connected, nil when it can.
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

// Where names the place of the entry, for error texts: " in FILE:LINE", or "".
func (s *Server) Where() string { return PlaceOf(&s.conf) }

// PlaceOf is Where of a server that is configured so.
func PlaceOf(conf *config.Server) string {
	if conf.Origin.File == "" {
		return ""
	}
	return fmt.Sprintf(" in %s:%d", conf.Origin.File, conf.Origin.Line)
}

// SettingOf names a setting, and its place, as people know it: by the key that says it in their file, if one does,
// which has the name of its application.
func SettingOf(conf *config.Server, field string) (key, where string) {
	at, said := conf.Fields[field]
	if !said || at.Key == "" || at.Line <= 0 || conf.Origin.File == "" {
		return field, PlaceOf(conf)
	}
	return at.Key, fmt.Sprintf(" in %s:%d", conf.Origin.File, at.Line)
}

// transition takes s through an event, and has the windows told. It is the one place where the state of a server
// changes that is told of at once; what it is to be told with is set before.
func (s *Server) transition(e Event) {
	was := s.life.State()
	if !s.life.apply(e) {
		panic("server " + s.name + " is " + was.String() + ": impossible event: " + e.String())
	}
	if s.life.State() != was || tellsOf(e) {
		s.owner.Changed()
	}
}

// tellsOf tells whether an event shows in what the windows see although the state stays the same: a start that was
// planned, a count of failures.
func tellsOf(e Event) bool { return e == Abandon || e == Forgive }
