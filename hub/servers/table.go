package servers

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/redact"
	"github.com/mcphub-go/mcphub/hub/signin"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// Options of a Table. House, Logger, Redactor and Containment are needed.
type Options struct {
	House       House
	Logger      *slog.Logger
	Redactor    *redact.Redactor
	Containment *transport.Containment
	// where lists of tools, and tokens where there is no keyring, are kept; "" = memory only
	StateDir string
	// Open says how a server is reached; nil starts its process or goes to its URL.
	Open         func(s config.Server, stderr func(line string)) mcp.Opener
	RoundTripper http.RoundTripper // nil: sockets
	// Listen opens the listener for a browser that comes back from a sign-in; nil: a socket.
	Listen func(ctx context.Context, address string) (net.Listener, error)
}

// Table is the set of a hub's servers. It is guarded by the lock of the house.
type Table struct {
	Options
	kept   *toolBook
	rest   *restBook
	legacy *legacyBook
	tokens func() signin.Store // opened by whoever needs it first
	closed bool

	born   uint64             // counts servers, for their incarnations
	all    []*Server          // the configured ones
	ending map[string]*Server // by name, the latest removed server that has not ended yet
	eager  []*Server          // the queue of eager starts
	// ends a server's process at once; removed servers are in it until they are gone
	kills   map[*Server]func(why string)
	company uint64 // counts changes after which a start that could ask nobody may succeed: see Company
}

// NewTable makes a table without servers.
func NewTable(o Options) *Table {
	return &Table{Options: o, kept: openTools(o.StateDir, o.Logger), rest: openRest(o.StateDir, o.Logger),
		legacy: openLegacy(o.StateDir, o.Logger), ending: map[string]*Server{},
		kills: map[*Server]func(string){}, tokens: sync.OnceValue(func() signin.Store {
			return notingStore{signin.OpenStore(o.StateDir, o.Logger), o.Redactor}
		})}
}

// Add makes the server of an entry. If a removed server of the same name has not ended yet, the new one waits for that:
// two processes of one name never run at once. The windows are not told.
func (t *Table) Add(e Entry, accounts Accounts, owner Owner) *Server {
	t.born++
	s := &Server{table: t, name: e.Conf.Name, owner: owner, accounts: accounts, conf: e.Conf, key: e.Key,
		problems: e.Problems, life: born(t.born, e.Broken, e.Conf.Disabled)}
	if before := t.ending[s.name]; before != nil {
		before.successor, s.stopping = s, make(chan struct{})
		s.life.apply(Succeed)
	}
	t.all = append(t.all, s)
	return s
}

// Close closes the sign-ins of all servers, and refuses new ones.
func (t *Table) Close() {
	t.closed = true
	for _, s := range t.all {
		s.EndSignIn()
	}
}

// Remove marks s as no longer configured. The caller stops it.
func (t *Table) Remove(s *Server) {
	s.life.apply(Remove)
	t.all = slices.DeleteFunc(t.all, func(other *Server) bool { return other == s })
	s.forgetTools()
}

// Ends returns a channel for each removed server that has not ended yet, which is closed when it has.
func (t *Table) Ends() (waits []<-chan struct{}) {
	for _, s := range t.ending {
		waits = append(waits, s.stopping)
	}
	return waits
}

// Kill kills the processes of all servers that are left. It does not wait for their end.
func (t *Table) Kill(why string) {
	for s, kill := range t.kills {
		go kill(why) // bounded by itself; nobody is left to wait for it
		t.Logger.Warn("server killed: it did not stop in time", "server", s.name)
	}
}

// Company is called after a change that may let a start succeed which found no window to ask in: a consent was given,
// or workspace folders were opened.
func (t *Table) Company() { t.company++ }
