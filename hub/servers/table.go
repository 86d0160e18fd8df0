package servers

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/process"
	"github.com/mcphub-go/mcphub/hub/redact"
	"github.com/mcphub-go/mcphub/hub/signin"
)

// Options are the options of a Table. House, Core, Apply, Logger, Redactor and Containment are required.
type Options struct {
	House House
	Core  *core.State // to look at; Apply changes it
	// Apply applies an event to Core, and carries out what follows. It is called with the lock.
	Apply       func(core.Event)
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

	made    core.ServerNumber             // of the latest server
	servers map[core.ServerNumber]*Server // a removed one stays in it until it has ended
	all     []*Server                     // the configured servers
	waits   map[core.WaiterNumber]*wait   // for a server
	waited  core.WaiterNumber             // the latest
	// functions that kill the process of a server; a removed server stays in it until it has ended
	kills map[*Server]func(why string)
}

// NewTable returns a table without servers.
func NewTable(o Options) *Table {
	return &Table{Options: o, kept: openTools(o.StateDir, o.Logger), rest: openRest(o.StateDir, o.Logger),
		legacy: openLegacy(o.StateDir, o.Logger), servers: map[core.ServerNumber]*Server{},
		waits: map[core.WaiterNumber]*wait{}, kills: map[*Server]func(string){}, tokens: sync.OnceValue(func() signin.Store {
			return notingStore{signin.OpenStore(o.StateDir, o.Logger), o.Redactor}
		})}
}

// New makes the server of an entry. It is one of the table's with Add.
func (t *Table) New(e Entry, accounts Accounts, owner Owner) *Server {
	t.made++
	return &Server{table: t, number: t.made, name: e.Conf.Name, owner: owner, accounts: accounts, conf: e.Conf,
		key: e.Key, problems: e.Problems}
}

// Add adds a server that New has made. If a removed server of the same name has not ended yet, the new one waits for
// that: two processes of one name never run at once.
func (t *Table) Add(s *Server, broken bool) {
	t.all, t.servers[s.number] = append(t.all, s), s
	t.Apply(core.ServerAdded{Server: s.number, Name: s.name, Entry: s.entry(broken)})
}

// Close closes the sign-ins of all servers, refuses new ones, and stops the timers.
func (t *Table) Close() {
	t.closed = true
	for _, s := range t.all {
		s.EndSignIn()
		s.stopTimer()
	}
}

// Remove ends a server that is no longer configured. The channel is that of Stopping.
func (t *Table) Remove(s *Server, cause *event.CancelCause) <-chan struct{} {
	t.all = slices.DeleteFunc(t.all, func(other *Server) bool { return other == s })
	s.forgetTools()
	return s.ends(core.ServerRemoved{Server: s.number, Cause: cause})
}

// Ends returns a channel for each removed server that has not ended yet. The channel is closed when the server has
// ended.
func (t *Table) Ends() (waits []<-chan struct{}) {
	for _, s := range t.servers {
		if s.Removed() {
			waits = append(waits, s.Stopping())
		}
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
