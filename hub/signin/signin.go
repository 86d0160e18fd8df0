package signin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/outbound"
)

// Options are the options of a SignIn. Server and ServerURL are required.
type Options struct {
	// Server is the name in the configuration, ServerURL the server's address. Requests to another origin are not signed.
	Server    string
	ServerURL string
	// Ask shows prompts to a person. If it is nil, a sign-in that needs a person fails.
	Ask Asker
	// Over is called when a sign-in has ended, and State may be another one; nil: nothing is called.
	Over func()
	// Store keeps tokens between runs. If it is nil, they last as long as the SignIn. Tokens that were got without a
	// person are never stored.
	Store Store
	// Config comes from the server's entry.
	Config config.OAuth
	// Logger receives log records; nil discards them.
	Logger *slog.Logger
	// RoundTripper sends the requests for metadata, registrations and tokens. If it is nil, the SignIn makes one that
	// checks the addresses that it connects to. URLs, redirects and sizes are checked in either case.
	RoundTripper http.RoundTripper
	// Listen opens the listener for the browser that comes back, at an IP address and port of this computer (port 0 means
	// any). If it is nil, a socket is opened. It is for tests.
	Listen func(ctx context.Context, address string) (net.Listener, error)
}

// Limits of the requests for metadata, registrations and tokens, whose addresses come from the MCP server.
const (
	requestLimit  = 30 * time.Second // for one exchange, including its body and redirects
	responseLimit = 1 << 20          // the highest size of an answer, in bytes
)

// SignIn gets and keeps the token of one server. It implements transport.Authorizer. Its methods may be called
// concurrently. New makes a SignIn; the zero value cannot be used.
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

	saving chan struct{} // one slot; its holder writes the present entry to the store

	mu sync.Mutex // guards the fields below; never held over I/O, a prompt or a wait
	// entry is what is known about the server, or nil. Entries are replaced, not changed.
	entry *Entry
	// stored is the entry that the store is known to have had last, or nil. If it has another one, that is of another hub.
	stored *Entry
	// holders counts who uses the lock of the store, which release gives back.
	holders int
	release func()
	loaded  bool
	closed  bool
	flights map[kind]*flight
	// renewed is the entry from a refresh after a 401. If the server refuses that, too, a person is asked.
	renewed *Entry
	// fresh is the entry from the last sign-in, which ended at freshAt.
	fresh   *Entry
	freshAt time.Time
	// declined is returned until quietUntil.
	declined   *DeclinedError
	quietUntil time.Time
	stepUps    map[string]int // the number of step-ups, by scopes
	last       challenge      // of the last 401, for SignIn
}

// New returns the SignIn of one server. It does no I/O. An error says what is wrong with the options.
func New(o Options) (*SignIn, error) {
	u, err := url.Parse(o.ServerURL)
	if err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, errors.New("sign-in needs the http or https address of the server")
	}
	if err := check(&o.Config); err != nil {
		return nil, fmt.Errorf("sign-in to %s: %w", o.Server, err)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Store == nil || o.Config.Grant != GrantPerson {
		o.Store = NewMemory()
	}
	// u becomes the canonical URI of the resource (2025-11-25 basic/authorization "Canonical Server URI").
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	s := &SignIn{
		o: o, url: u, key: Key{o.Server, u.String()}, log: o.Logger.With("server", o.Server),
		guard: outbound.NewGuard(outbound.Options{Host: u.Hostname(), Purpose: "signing in to a server", Limit: requestLimit,
			MaxBytes: responseLimit, RoundTripper: o.RoundTripper}),
		listen: listenLoopback,
		saving: make(chan struct{}, 1), flights: map[kind]*flight{}, stepUps: map[string]int{},
	}
	if o.Listen != nil {
		s.listen = o.Listen
	}
	s.life, s.end = context.WithCancelCause(context.Background())
	return s, nil
}

// SignIn runs a sign-in that the user has asked for, even if one was just declined, or if there is a token already. It
// returns nil when there is a token.
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

// Forget signs out: it removes the token and the registration from memory and from the store, and ends a sign-in under
// way. It does not inform the authorization server.
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

// Close ends everything that runs, with ErrClosed, and waits for it. The store keeps its content.
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

// State says whether there is a token, or a refresh token (SignInSignedIn), or a person is being asked (SignInAsking).
// It is 0 if there is none, or if the store was not read yet.
func (s *SignIn) State() event.SignInState {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.flights[signing]; f != nil && f.asked {
		return event.SignInAsking
	}
	if e := s.entry; e.usable(time.Now()) || e != nil && e.RefreshToken != "" {
		return event.SignInSignedIn
	}
	return 0
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
		s.entry, s.stored, s.loaded = e, e, true
	}
	return nil
}

// ofAnotherHub returns the entry that another hub of this user has stored since this one has read or written the store,
// if it can be used in place of e; else nil.
func (s *SignIn) ofAnotherHub(ctx context.Context, e *Entry) *Entry {
	kept, err := s.o.Store.Load(ctx, s.key)
	if err != nil || kept == nil || kept.Issuer != e.Issuer || kept.AccessToken == "" || !s.ours(kept) ||
		e.TokenType == typeDPoP && kept.TokenType != typeDPoP { // the server wants bound tokens
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.stored
	if known == nil && !kept.Saved.After(e.Saved) || kept.sameTokens(known) || kept.sameTokens(e) {
		return nil
	}
	s.stored = kept
	return kept
}

// lockLimit bounds the wait for another hub of this user, in addition to its request.
const lockLimit = requestLimit + 5*time.Second

// lock keeps the other hubs of this user from changing the kept entry, until unlock is called. A store that cannot hold
// anything does not keep a user from signing in.
func (s *SignIn) lock(ctx context.Context) (unlock func(), err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, lockLimit, &Error{Server: s.o.Server,
		Text: "another program of yours refreshes the token, and does not come to an end with it"})
	defer cancel()
	release, err := s.o.Store.Lock(ctx, s.key)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	default:
		s.log.Warn("other hubs of this user may refresh the same token", "error", bounds.Printable(err.Error()))
		return func() {}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holders, s.release = 1, release
	return s.unlock, nil
}

// share is like lock, but does not wait for another part of this SignIn that has the lock. That is a refresh, whose
// result is not used when the present entry is replaced meanwhile.
func (s *SignIn) share(ctx context.Context) (unlock func(), err error) {
	s.mu.Lock()
	if s.holders > 0 {
		s.holders++
		s.mu.Unlock()
		return s.unlock, nil
	}
	s.mu.Unlock()
	return s.lock(ctx)
}

// unlock ends one use of the lock.
func (s *SignIn) unlock() {
	s.mu.Lock()
	s.holders--
	release := s.release
	if s.holders > 0 {
		release = func() {}
	}
	s.mu.Unlock()
	release()
}

// ours reports whether e fits the present configuration. It does not if the configuration names another client, whose
// token this is not, or if the configuration says that tokens must or must not be bound to a key, and the token of e is
// otherwise.
func (s *SignIn) ours(e *Entry) bool {
	c := s.o.Config
	switch {
	case c.DPoP == DPoPOff && e.ProofKey != nil, c.DPoP == DPoPRequire && e.AccessToken != "" && e.TokenType != typeDPoP:
		return false
	}
	return c.ClientID == "" || c.ClientID == e.ClientID
}

// adopt makes e the present entry, unless f was ended by Forget or Close. A refresh replaces only old, which it began
// with.
func (s *SignIn) adopt(f *flight, old, e *Entry) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if errors.Is(f.over, ErrSignedOut) || errors.Is(f.over, ErrClosed) || f.kind == refreshing && s.entry != old {
		return false
	}
	s.entry = e
	return true
}

// persist writes the present entry to the store when no other hub of this user is changing it.
func (s *SignIn) persist(ctx context.Context) error {
	unlock, err := s.share(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return s.write(ctx)
}

// write writes the present entry to the store. It is called with the lock of the store, or where there is none. It may
// be called concurrently: each call writes the entry that is present when its turn comes, so that the last one writes
// the latest. If the store fails, only the next run needs a new sign-in.
func (s *SignIn) write(ctx context.Context) error {
	select {
	case s.saving <- struct{}{}:
		defer func() { <-s.saving }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	e, write := s.current(), s.o.Store.Save
	if e == nil {
		write = func(ctx context.Context, _ *Entry) error { return s.o.Store.Delete(ctx, s.key) }
	}
	if err := write(ctx, e); e == nil && err != nil {
		return err
	} else if err != nil {
		s.log.Warn("the sign-in could not be kept for later", "error", bounds.Printable(without(err.Error(), e.secrets()...)))
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stored = e
	return nil
}
