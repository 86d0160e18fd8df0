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
	"github.com/mcphub-go/mcphub/hub/process"
	"github.com/mcphub-go/mcphub/hub/redact"
	"github.com/mcphub-go/mcphub/hub/signin"
)

// Options are the options of a Table. House, Logger, Redactor and Containment are required.
type Options struct {
	House       House
	Logger      *slog.Logger
	Redactor    *redact.Redactor
	Containment *process.Containment
	// the directory of the lists of tools, and of tokens if there is no keyring; "" means memory only
	StateDir string
	// Open returns the Opener of a server. If it is nil, the Table starts the server's process or connects to its URL.
	Open         func(s config.Server, stderr func(line string)) mcp.Opener
	RoundTripper http.RoundTripper // nil means sockets
	// Listen opens the listener for the browser that returns from a sign-in. If it is nil, a socket is opened.
	Listen func(ctx context.Context, address string) (net.Listener, error)
}

// Table is the set of a hub's servers. It is guarded by the lock of the house.
type Table struct {
	Options
	kept   *toolBook
	rest   *restBook
	legacy *legacyBook
	tokens func() signin.Store // opened on first use
	closed bool

	born   uint64             // counts servers, for their incarnations
	all    []*Server          // the configured servers
	ending map[string]*Server // by name, the latest removed server that has not ended yet
	eager  []*Server          // the queue of eager starts
	// functions that kill the process of a server; a removed server stays in it until it has ended
	kills   map[*Server]func(why string)
	company uint64 // counts changes after which a start that could ask nobody may succeed: see Company
}

// NewTable returns a table without servers.
func NewTable(o Options) *Table {
	return &Table{Options: o, kept: openTools(o.StateDir, o.Logger), rest: openRest(o.StateDir, o.Logger),
		legacy: openLegacy(o.StateDir, o.Logger), ending: map[string]*Server{},
		kills: map[*Server]func(string){}, tokens: sync.OnceValue(func() signin.Store {
			return notingStore{signin.OpenStore(o.StateDir, o.Logger), o.Redactor}
		})}
}

// Add adds the server of an entry. If a removed server of the same name has not ended yet, the new one waits for that:
// two processes of one name never run at once. Add does not tell the windows.
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

// Ends returns a channel for each removed server that has not ended yet. The channel is closed when the server has
// ended.
func (t *Table) Ends() (waits []<-chan struct{}) {
	for _, s := range t.ending {
		waits = append(waits, s.stopping)
	}
	return waits
}

// Kill kills the processes of all servers that still run. It does not wait for their end.
func (t *Table) Kill(why string) {
	for s, kill := range t.kills {
		go kill(why) // kill ends by itself; nobody is left to wait for it
		t.Logger.Warn("server killed: it did not stop in time", "server", s.name)
	}
}

// Company is called after a change that may let a start succeed which found no window to ask in: a consent was given,
// or workspace folders were opened.
func (t *Table) Company() { t.company++ }
