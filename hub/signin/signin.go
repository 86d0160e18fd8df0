package signin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/outbound"
)

// Options says for which server tokens are got, and by what means. Server and ServerURL are required.
type Options struct {
	// Server is the name in the configuration, ServerURL the server's address. Requests to another origin are not signed.
	Server    string
	ServerURL string
	// Ask puts prompts to a person; nil: a sign-in that needs one fails.
	Ask Asker
	// Store keeps tokens between runs; nil: they last as long as the SignIn. Tokens got without a person are never stored.
	Store Store
	// Config is from the server's entry.
	Config Config
	// Logger; nil discards.
	Logger *slog.Logger
	// RoundTripper carries the requests for metadata, registrations and tokens; nil makes one of our own that looks at the
	// addresses it connects to. URLs, redirects and sizes are checked in either case.
	RoundTripper http.RoundTripper
	// Listen opens the listener to which the browser comes back, at an IP address and port of this computer (0: any); nil
	// opens a socket. For tests.
	Listen func(ctx context.Context, address string) (net.Listener, error)
}

// SignIn gets and keeps the token of one server. It implements transport.Authorizer. All methods may be called at once,
// from any goroutine. The zero value is of no use; see New.
type SignIn struct {
	o      Options
	url    *url.URL
	key    Key
	log    *slog.Logger
	guard  *outbound.Guard
	listen listener

	life context.Context // of all flights; ended by Close
	end  context.CancelCauseFunc
	wg   sync.WaitGroup // flights

	nonces nonces

	saving chan struct{} // one slot: whoever writes to the store writes what holds then

	mu sync.Mutex // guards everything below; never held over I/O, a prompt or a wait
	// entry is what is known of the server; nil: nothing. Entries are replaced, not changed.
	entry   *Entry
	loaded  bool
	closed  bool
	flights map[kind]*flight
	// renewed is the entry that came of a refresh after a 401: when the server refuses that too, a person is asked.
	renewed *Entry
	// fresh is the entry that came of a sign-in, at freshAt.
	fresh   *Entry
	freshAt time.Time
	// declined holds until quietUntil.
	declined   *DeclinedError
	quietUntil time.Time
	stepUps    map[string]int // by scopes: step-ups begun
	last       challenge      // of the last 401, for SignIn
}

// New prepares the sign-in to one server. It does no I/O. An error tells what is wrong with the options.
func New(o Options) (*SignIn, error) {
	u, err := url.Parse(o.ServerURL)
	if err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, errors.New("sign-in needs the http or https address of the server")
	}
	if err := o.Config.check(); err != nil {
		return nil, fmt.Errorf("sign-in to %s: %w", o.Server, err)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Store == nil || o.Config.Grant != GrantPerson {
		o.Store = NewMemory()
	}
	// The canonical URI of a resource (2025-11-25 basic/authorization "Canonical Server URI").
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	s := &SignIn{
		o: o, url: u, key: Key{o.Server, u.String()}, log: o.Logger.With("server", o.Server),
		guard: newGuard(u.Hostname(), o.RoundTripper), listen: listenLoopback,
		saving: make(chan struct{}, 1), flights: map[kind]*flight{}, stepUps: map[string]int{},
	}
	if o.Listen != nil {
		s.listen = o.Listen
	}
	s.life, s.end = context.WithCancelCause(context.Background())
	return s, nil
}

// SignIn runs a sign-in because the user asks for it: also when one was declined a moment ago, or there is a token
// already. It returns when the token is there, or why there is none.
func (s *SignIn) SignIn(ctx context.Context) error {
	if err := s.load(ctx); err != nil {
		return err
	}
	for {
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			return ErrClosed
		}
		s.declined = nil
		clear(s.stepUps)
		f := s.flights[signing]
		if f == nil {
			f = s.begin(&flight{kind: signing, c: s.last, explicit: true}, s.flow)
		} else if f.over != nil {
			s.mu.Unlock()
			if err := s.gone(ctx, f); err != nil {
				return err
			}
			continue
		} else {
			f.waiters++
		}
		s.mu.Unlock()
		return s.wait(ctx, f)
	}
}

// Forget signs out: the token and the registration are removed from memory and store, and a sign-in under way is ended.
// The authorization server is not told.
func (s *SignIn) Forget(ctx context.Context) error {
	s.mu.Lock()
	s.entry, s.renewed, s.fresh, s.declined, s.loaded = nil, nil, nil, nil, true
	clear(s.stepUps)
	var ended []*flight
	for _, f := range s.flights {
		if f.over == nil {
			f.over = ErrSignedOut
			ended = append(ended, f)
		}
	}
	s.mu.Unlock()
	for _, f := range ended {
		f.cancel(ErrSignedOut)
	}
	s.log.Info("signed out")
	return s.persist(ctx)
}

// Close ends everything that runs, with ErrClosed, and waits for it. The store keeps what it has.
func (s *SignIn) Close() {
	s.mu.Lock()
	s.closed = true
	for _, f := range s.flights {
		if f.over == nil {
			f.over = ErrClosed
		}
	}
	s.mu.Unlock()
	s.end(ErrClosed)
	s.wg.Wait()
	s.guard.Close()
}

// Phase is where a sign-in stands.
type Phase int

const (
	// None: there is no token, or none was looked for yet.
	None Phase = iota
	// Asking: a person is being asked, or the browser is waited for.
	Asking
	// SignedIn: there is a token, or the means to refresh it.
	SignedIn
)

// State is what may be shown of a sign-in. There are no secrets in it.
type State struct {
	Phase Phase
	// Issuer is the authorization server, Scopes the rights, Expiry the end of the token (zero: not known). With SignedIn
	// only.
	Issuer  string
	Scopes  []string
	Expiry  time.Time
	Refresh bool // the token can be refreshed without a person
}

// State tells where the sign-in stands now.
func (s *SignIn) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.flights[signing]; f != nil && f.asked {
		return State{Phase: Asking}
	}
	if e := s.entry; e.usable(time.Now()) || e != nil && e.RefreshToken != "" {
		return State{SignedIn, e.Issuer, slices.Clone(e.Scopes), e.Expiry, e.RefreshToken != ""}
	}
	return State{}
}

func (s *SignIn) current() *Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.entry
}

// load reads the store, once.
func (s *SignIn) load(ctx context.Context) error {
	s.mu.Lock()
	if s.loaded || s.closed {
		s.mu.Unlock()
		return nil
	}
	f := s.flights[loading]
	if f == nil {
		f = s.begin(&flight{kind: loading}, s.readStore)
	} else {
		f.waiters++
	}
	s.mu.Unlock()
	return s.wait(ctx, f)
}

func (s *SignIn) readStore(ctx context.Context, f *flight) error {
	e, err := s.o.Store.Load(ctx, s.key)
	if err != nil {
		s.log.Warn("a kept sign-in could not be read", "error", bounds.Printable(err.Error()))
	}
	if e != nil && !s.ours(e) {
		e = nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.over == nil && !s.loaded {
		s.entry, s.loaded = e, true
	}
	return nil
}

// ours is false when the configuration names another client now: the token in e is not its own then. It is false, too,
// when the configuration says now that tokens must be bound to a key, or must not, and that of e is otherwise.
func (s *SignIn) ours(e *Entry) bool {
	c := s.o.Config
	switch {
	case c.DPoP == DPoPOff && e.ProofKey != nil, c.DPoP == DPoPRequire && e.AccessToken != "" && e.TokenType != typeDPoP:
		return false
	}
	return c.ClientID == "" || c.ClientID == e.ClientID
}

// adopt makes e what is known, unless f was ended by Forget or Close. A refresh replaces nothing but old, which it
// began with.
func (s *SignIn) adopt(f *flight, old, e *Entry) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if errors.Is(f.over, ErrSignedOut) || errors.Is(f.over, ErrClosed) || f.kind == refreshing && s.entry != old {
		return false
	}
	s.entry = e
	return true
}

// persist writes what is known to the store. It may be called by several at once: each writes the state of its turn, so
// that the last one leaves what holds. A store that fails costs a sign-in in the next run, not this one.
func (s *SignIn) persist(ctx context.Context) error {
	select {
	case s.saving <- struct{}{}:
		defer func() { <-s.saving }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	e := s.current()
	if e == nil {
		return s.o.Store.Delete(ctx, s.key)
	}
	if err := s.o.Store.Save(ctx, e); err != nil {
		s.log.Warn("the sign-in could not be kept for later", "error", bounds.Printable(without(err.Error(), e.secrets()...)))
		return err
	}
	return nil
}
