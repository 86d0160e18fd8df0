package hub

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/catalog"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/config/watch"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/grants"
	"github.com/mcphub-go/mcphub/hub/journal"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/process"
	"github.com/mcphub-go/mcphub/hub/redact"
	"github.com/mcphub-go/mcphub/hub/schema"
	"github.com/mcphub-go/mcphub/hub/signin"
	"github.com/mcphub-go/mcphub/hub/toolset"
)

// Options are the options of a Hub. The zero value is usable.
type Options struct {
	Version string
	// StateDir is the folder for approvals that outlive a window, and for tokens where there is no keyring; "" = memory
	// only.
	StateDir string
	Logger   *slog.Logger // nil = discard
	// PolicyFile is the file of the system's managed policy; "" = SystemPolicyFile(). Tests have one of their own.
	PolicyFile string
	Environ    []string // the environment of the host, of which servers inherit a safe part; nil = os.Environ()
	// Open returns how a server is reached; nil, as its result too: by its process or its URL. Tests connect servers in
	// memory.
	Open func(s config.Server, stderr func(line string)) mcp.Opener
	// RoundTripper sends all HTTP requests, and Listen opens the listener for a browser that comes back from a sign-in;
	// nil: sockets. Tests replace both to stay in memory.
	RoundTripper http.RoundTripper
	Listen       func(ctx context.Context, address string) (net.Listener, error)
	// GuardCommand is a program with its arguments that ends the servers when this process is killed (process.RunGuard);
	// nil: none.
	GuardCommand []string
	// EnvironmentCommand is a program with its arguments that prints its environment (process.PrintEnvironment). The
	// login shell runs it, so that the hub learns the environment of the user. nil: the login shell is not asked.
	EnvironmentCommand []string
	// Desktop says that the host was started from a desktop, so the environment of the user is that of the login shell.
	Desktop bool
	// LeaveOut returns why this hub does without an entry of the config, "" if it does not; nil: it uses all. An entry
	// that is left out takes no place: one of the same name in another file counts as if it were not there.
	LeaveOut func(config.Server) (why string)
	// Watch returns a watcher of the config files; nil: one that uses the means of the file system.
	Watch func() FileWatcher
	// Tracer makes a span for every request; nil: no spans. Spans begin and end while the hub's lock is held, so their
	// exporter must not block then.
	Tracer trace.TracerProvider
	// Fatal ends the process, with text as its last line, when a fault may have damaged the hub's state. It is called
	// with the hub's lock held, so it must not call the hub. nil: an unrecovered panic. In a test it may return: then the
	// panic goes on in the goroutine that met the fault.
	Fatal func(text string)
	// WindowReturn is how long a window whose stream broke may take to come back before everything that belongs to it
	// ends; 0 = 10 s.
	WindowReturn time.Duration
}

// Hub is the domain. All methods may be called concurrently.
type Hub struct {
	*fixed

	mu    sync.Mutex // guards state; never held while waiting; taken by lock alone
	taken uint64     // how often mu was taken
	state state      // reached through lock, update and held
}

// fixed is the part of the hub that never changes after New, and needs no lock.
type fixed struct {
	id        string
	mark      string // short form of id, a part of the ids that this hub makes
	version   string
	models    *toolset.Catalog
	log       *slog.Logger
	environ   []string
	contained *process.Containment

	grants   *grants.Store
	launches *grants.Resolver
	config   *Config
	catalog  *catalog.Catalog
	// recallAnswers reads the approvals and the definitions of tools, once. It is not done in New, since there may be
	// megabytes, and the host waits for the start of the hub. It must be called, without the lock, before they are used.
	recallAnswers func()

	// how servers are reached: see Options
	open         func(s config.Server, stderr func(line string)) mcp.Opener
	roundTripper http.RoundTripper
	listen       func(ctx context.Context, address string) (net.Listener, error)

	lists  *toolBook
	rest   *restBook
	legacy *legacyBook
	tokens func() signin.Store // opened on first use

	budgets *budgets
	starts  chan struct{} // holds a token for each server that a list of all is starting
	// compares the content of an answer to a form with its schema; tests delay it
	compare func(s *server, schema, value json.RawMessage) schema.Verdict

	redactor *redact.Redactor
	inputs   *inputStore

	tracer *journal.Tracer // nil = no telemetry

	windowReturn time.Duration

	work sync.WaitGroup // every goroutine that the hub starts; Close waits for it
	// life ends in Close. It is the context of what runs on a goroutine of work and would last longer.
	life    context.Context
	endLife context.CancelCauseFunc

	fatal func(text string) // ends the process
	check func(*Hub) string // returns which invariant of the state does not hold, "" = all hold; nil except in tests

	record *journal.Recorder     // has locks of its own
	kept   *journal.KeptRequests // has a lock of its own

	// The content of these is guarded by the hub's lock. Each of their methods says whether it takes the lock.
	windows *windowTable // also sends events to them
	// cancels of requests that have ended whose notification is still being sent to the server
	deliveries *deliveries
}

// state is the part of the hub that its lock guards. Its methods are called with the lock held, and do not wait.
type state struct {
	*fixed
	hub *Hub // for goroutines, which take the lock themselves

	core     *core.State // what is open, and what is decided of it
	requests map[core.RequestNumber]*request
	prompts  map[core.PromptNumber]*prompt
	making   *request      // gets its number when the core opens it
	asking   *prompt       // gets its number when the core opens it
	pending  []core.Effect // to be carried out
	carrying bool          // they are being carried out

	searches searches
	// a channel for each resource whose subscription is being changed, which is closed, and removed, once that is over
	subscribing map[resourceKey]chan struct{}

	turnTimers map[core.ServerNumber]*time.Timer // those that are set

	made    core.ServerNumber                 // of the latest server
	servers []*server                         // the configured servers, in config order
	live    map[core.ServerNumber]*server     // those, and removed ones until they have ended
	waits   map[core.WaiterNumber]*serverWait // for a server
	waited  core.WaiterNumber                 // the latest
	// functions that kill the process of a server; a removed server stays in it until it has ended
	kills map[*server]func(why string)

	gateways []*Gateway
	closed   bool
	over     chan struct{} // made by shut; closed when every goroutine of work has ended
}

// New returns a hub without servers. LoadConfig adds servers.
func New(o Options) *Hub {
	id := rand.Text()
	h := &Hub{fixed: &fixed{
		id:       id,
		mark:     strings.ToLower(id[:6]),
		version:  o.Version,
		log:      o.Logger,
		environ:  o.Environ,
		redactor: &redact.Redactor{},
		fatal:    o.Fatal,
		check:    checkInvariants,
		compare: func(s *server, schema, value json.RawMessage) schema.Verdict {
			return s.allowance.forms.Check(schema, value)
		},

		starts:       make(chan struct{}, core.MaxEager),
		windowReturn: cmp.Or(o.WindowReturn, defaultWindowReturn),
	}}
	newState(h)
	if h.fatal == nil {
		h.fatal = crash
	}
	h.record = journal.NewRecorder(h.mark)
	h.life, h.endLife = context.WithCancelCause(context.Background())
	h.tracer = journal.NewTracer(o.Tracer, o.Version)
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	h.log = slog.New(redact.NewLog(h.log.Handler(), h.redactor))
	h.budgets = newBudgets(h)
	h.windows = newWindowTable(h)
	h.models = toolset.NewCatalog(h, o.StateDir, h.log)
	// what waits to be written counts as if one more server had it in flight
	h.kept = journal.OpenKeptRequests(o.StateDir, h.log, h.budgets.results.Account("of requests that are over"))
	h.deliveries = &deliveries{hub: h, pending: map[*delivery]struct{}{}}
	h.contained = process.NewContainment(process.ContainmentOptions{GuardCommand: o.GuardCommand,
		LedgerDir: o.StateDir, Logger: h.log})
	if o.Watch == nil {
		o.Watch = func() FileWatcher { return watch.New(watch.Options{Logger: h.log}) }
	}
	if h.environ == nil {
		h.environ = os.Environ()
	}
	h.redactor.Add(process.Credentials(h.environ)...)
	h.open, h.roundTripper, h.listen = o.Open, o.RoundTripper, o.Listen
	h.lists, h.rest, h.legacy = openTools(o.StateDir, h.log), openRest(o.StateDir, h.log), openLegacy(o.StateDir, h.log)
	h.tokens = sync.OnceValue(func() signin.Store {
		return notingStore{signin.OpenStore(o.StateDir, h.log), h.redactor}
	})
	h.grants = grants.Open(o.StateDir, id, h.log)
	h.recallAnswers = sync.OnceFunc(func() { h.grants.Refresh(grants.Call, grants.Definition) })
	h.grants.Refresh(grants.Launch)
	h.inputs = openInputs(o.StateDir, h.redactor, h.log)
	h.catalog = catalog.New(catalog.Options{StateDir: o.StateDir, RoundTripper: o.RoundTripper,
		UserAgent: strings.TrimRight("mcphub/"+o.Version, "/")})
	h.launches = &grants.Resolver{Grants: h.grants, User: process.NewUser(process.UserOptions{Environ: h.environ,
		Printer: o.EnvironmentCommand, Desktop: o.Desktop, Hub: userHub{h}, Life: h.life, Logger: h.log,
		Containment: h.contained, Answered: h.userAnswered})}
	h.config = newConfig(h, o.StateDir, o.Watch,
		func(from []config.Source) config.Contents { return config.ReadWithout(o.LeaveOut, from) })
	h.launches.Refuses = h.config.refusal
	h.config.policyFile = cmp.Or(o.PolicyFile, SystemPolicyFile())
	if o.Desktop { // so that the first server that starts may find the environment ready
		h.launches.User.Begin()
	}
	return h
}

// ID returns the id of this hub process. A window that comes back names it.
func (h *Hub) ID() string { return h.id }

// Version returns the version of the program.
func (h *Hub) Version() string { return h.version }

// Logger returns the logger of Options, wrapped so that it leaves out the secrets that the hub knows. It is for
// packages that log what the hub has told them.
func (h *Hub) Logger() *slog.Logger { return h.log }

// ModelTools returns the tools of all servers in the form for models.
func (h *Hub) ModelTools() *toolset.Catalog { return h.models }

// Draining reports whether new calls are refused.
func (h *Hub) Draining() bool {
	st := h.lock()
	defer st.unlock()
	return st.core.Draining()
}

// Drain refuses new calls, cancels the open ones with origin shutdown, closes every prompt and stops every server. It
// returns when all that is done, or when ctx has ended; what still runs then goes on ending by itself. The results are
// how many requests it cancelled and how many servers it stopped.
func (h *Hub) Drain(ctx context.Context, reason string) (cancelled, stopped int) {
	if reason == "" {
		reason = "the hub is shutting down"
	}
	reason = bounds.Reason(reason)
	var first bool
	var waits []<-chan struct{}
	h.update(func(st *state) {
		first = !st.core.Draining()
		st.apply(core.Drained{})
		cause := &event.CancelCause{Origin: event.OriginShutdown, Reason: reason}
		for _, r := range st.cancelScope(core.Scope{All: true}, cause) {
			if r.cause == cause {
				cancelled++
			}
		}
		for _, r := range st.requests {
			waits = append(waits, st.whenOver(r))
		}
		for _, s := range st.servers {
			if s.running() {
				stopped++
			}
			if done := s.end(cause); done != nil {
				waits = append(waits, done)
			}
		}
		for _, s := range st.live { // those that were removed have not ended yet
			if s.removed() {
				waits = append(waits, s.stopping())
			}
		}
	})
	if first {
		h.log.Info("draining", "reason", bounds.Printable(reason), "requests", cancelled, "servers", stopped)
	}
	for _, w := range waits {
		select {
		case <-w:
		case <-ctx.Done():
			return cancelled, stopped
		}
	}
	return cancelled, stopped
}

// killGrace is how long Close still waits after it has killed what did not end in time.
const killGrace = time.Second

// Close drains the hub, ends every window, and waits for every goroutine of the hub. If ctx ends first, it kills what
// is left of the servers, and returns an error that says so. It is idempotent: a second call waits for the same end.
func (h *Hub) Close(ctx context.Context) error {
	h.Drain(ctx, "")
	var over chan struct{}
	h.update(func(st *state) {
		st.shut()
		over = st.over
	})
	defer h.models.Close()
	defer h.kept.Close()
	defer h.catalog.Close()
	defer h.contained.Close() // ends what is left of the servers, and the guard
	select {
	case <-over:
		return nil
	case <-ctx.Done():
	}
	h.update(func(st *state) {
		for s, kill := range st.kills {
			go kill("the hub's time to shut down is over") // it ends by itself; nobody is left to wait for it
			st.log.Warn("server killed: it did not stop in time", "server", s.name)
		}
	})
	grace := time.NewTimer(killGrace)
	defer grace.Stop()
	select {
	case <-over:
	case <-grace.C:
	}
	return context.Cause(ctx)
}

// shut ends every window and the file watcher. It starts the only goroutine that waits for all others, because a
// WaitGroup must not be waited for again while its counter grows.
func (st *state) shut() {
	if st.closed {
		return
	}
	st.closed = true
	st.config.Close()
	st.deliveries.fail("the hub was shut down first")
	for _, id := range st.windows.close() {
		st.grants.EndWindow(id)
	}
	for _, timer := range st.turnTimers {
		timer.Stop()
	}
	st.budgets.close()
	st.endLife(event.ErrDraining())
	for _, s := range st.servers {
		s.endSignIn()
		s.stopTimer()
	}
	over := make(chan struct{})
	st.over = over
	go func() { // ends when all the work has ended
		st.work.Wait()
		close(over)
	}()
}

// emit sends an event to every attached window that wants it.
func (st *state) emit(b event.Body) { st.windows.emit(b) }
