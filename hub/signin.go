package hub

import (
	"context"
	"net/http"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/redact"
	"github.com/mcphub-go/mcphub/hub/signin"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// SignIn signs in to a server and connects it. It asks the user even if the user has declined recently.
func (h *Hub) SignIn(ctx context.Context, name string) (event.ServerInfo, error) {
	s, conf, err := h.signInOf(name)
	if err != nil {
		return event.ServerInfo{}, err
	}
	var refusal error
	h.update(func(st *state) {
		st.apply(core.StartOrdered{Server: s.number}) // it follows, and people may be asked again
		refusal = s.refusal(ctx)
	})
	if refusal != nil {
		return event.ServerInfo{}, event.StoppedWaiting(ctx, refusal)
	}
	// the URL may hold a secret, and a workspace that the user does not trust may have set it
	resolved, err := s.launch.prepare(ctx, conf, true)
	if err != nil {
		return event.ServerInfo{}, event.StoppedWaiting(ctx, s.startError(ctx, err))
	}
	if err := s.signIn(ctx, &resolved.Server); err != nil {
		return event.ServerInfo{}, event.StoppedWaiting(ctx, err)
	}
	return h.StartServer(ctx, name)
}

// SignOut deletes the tokens of a server and ends its connection.
func (h *Hub) SignOut(ctx context.Context, name string) (event.ServerInfo, error) {
	return h.signOut(ctx, name, event.OriginHost)
}

func (h *Hub) signOut(ctx context.Context, name string, by event.Origin) (event.ServerInfo, error) {
	s, conf, err := h.signInOf(name)
	if err != nil {
		return event.ServerInfo{}, err
	}
	if err := s.signOut(ctx, by, func() (config.Server, error) { return h.known(s, conf) }); err != nil {
		return event.ServerInfo{}, err
	}
	return h.infoOf(s), nil
}

// signInOf returns a server that has a sign-in, and its config.
func (h *Hub) signInOf(name string) (*server, config.Server, error) {
	s, err := h.find(name)
	if err != nil {
		return nil, config.Server{}, err
	}
	conf, err := s.canSignIn()
	return s, conf, err
}

// known resolves the references of conf with the values that are known. It does not ask anybody.
func (h *fixed) known(s *server, conf config.Server) (config.Server, error) {
	values, err := h.inputs.values(conf)
	if err != nil {
		return config.Server{}, err
	}
	r, err := s.launch.resolve(conf, values)
	return r.Server, err
}

// askSignIn shows a sign-in to the windows: see signin.Options.
func (h *Hub) askSignIn(ctx context.Context, s *server, q event.SignInQuestion, wanted func() bool,
	told func(by int)) error {
	answer, err := h.askAboutServer(ctx, s, &serverQuestion{
		info:   event.PromptInfo{Kind: event.PromptSignIn, SignIn: &q},
		byHand: wanted, told: told, over: signInOver,
	})
	switch {
	case err != nil:
		return err
	case answer.cause == event.CauseAnswered:
		return nil
	case answer.cause == event.CauseDeclined:
		return signin.ErrDeclined
	}
	return signin.ErrDismissed
}

// signInOver returns how the question of a sign-in that has ended is closed.
func signInOver(cause error) (c closing, cameBack bool) {
	c.cause, c.origin, c.reason, cameBack = signInEnded(cause)
	return c, cameBack
}

// signingIn reports whether a person is asked to sign in, or has agreed and the rest of the sign-in is under way.
func (s *server) signingIn() bool {
	return s.auth != nil && (s.auth.asking > 0 || s.auth.signIn.State() == event.SignInAsking)
}

func (s *server) signInState() event.SignInState {
	switch {
	case s.auth == nil:
		return 0
	case s.signingIn():
		return event.SignInAsking
	case s.auth.signIn.State() == event.SignInSignedIn:
		return event.SignInSignedIn
	case s.auth.needed:
		return event.SignInNeeded
	}
	return 0
}

// signInChanged tells the windows the state of the sign-in if it has changed since they were last told.
func (s *server) signInChanged() {
	if s.auth != nil && s.auth.told != s.signInState() {
		s.changed()
	}
}

// signInTold records the state of the sign-in that was sent to the windows.
func (s *server) signInTold(state event.SignInState) {
	if s.auth != nil {
		s.auth.told = state
	}
}

// canSignIn returns the config of a server that has a sign-in, or an error for one that has none. It takes the lock.
func (s *server) canSignIn() (conf config.Server, err error) {
	s.hub.within(func() { conf = s.conf })
	if !hasSignIn(&conf) {
		return config.Server{}, s.errNoSignIn()
	}
	return conf, nil
}

// signIn signs in on the user's order, even if the user has just declined to. conf has its references resolved. It
// takes the lock.
func (s *server) signIn(ctx context.Context, conf *config.Server) error {
	sign, err := s.authorize(conf)
	switch {
	case err != nil:
		return s.errSignIn(err)
	case sign == nil: // the resolved config has an Authorization header
		return s.errNoSignIn()
	}
	var stops uint64
	s.hub.within(func() { stops = s.now().Stops })
	want := func(by int) {
		s.hub.within(func() {
			if s.auth != nil && s.auth.signIn == sign {
				s.auth.wanted += by
				s.signInChanged()
			}
		})
	}
	want(+1)
	defer want(-1)
	if err = sign.SignIn(ctx); err == nil || ctx.Err() != nil {
		return err
	}
	var stopped bool
	s.hub.within(func() {
		stopped = !s.hub.held().core.Draining() && (s.removed() || s.now().Stops != stops)
	})
	if stopped { // and the question has closed, or the sign-in has: whichever was first
		words := promptWordsOf(&event.PromptInfo{Kind: event.PromptSignIn, SignIn: &event.SignInQuestion{}})
		return words.stopped(s.name)
	}
	return s.errSignIn(err)
}

// signOut ends the connection and deletes the tokens. known returns the config with its references resolved; it is
// called, without the lock, only if the tokens cannot be found otherwise. SignOut takes the lock.
func (s *server) signOut(ctx context.Context, by event.Origin, known func() (config.Server, error)) error {
	sign, err := s.storedSignIn(known)
	switch {
	case err != nil:
		return s.errSignIn(err)
	case sign == nil:
		return s.errNoSignIn()
	}
	if err := s.stop(ctx, &event.CancelCause{Origin: by, Reason: "the user signed out"}); err != nil {
		return err
	}
	forgotten := sign.Forget(ctx) // the sign-in uses no token any more, even if a store keeps one
	s.hub.within(func() {
		if s.auth != nil {
			s.auth.needed = true
		}
		s.changed()
	})
	if forgotten == nil {
		return nil
	}
	e := event.Fail(event.CodeUnavailable, event.ReasonSignInFailed, []string{"server", s.name},
		"server %q is signed out, but its tokens were not removed everywhere: %s", s.name, s.quote(forgotten.Error()))
	e.Err = forgotten
	return e
}

// storedSignIn returns the sign-in of s. If none has been made yet, it makes one from the config that known returns.
func (s *server) storedSignIn(known func() (config.Server, error)) (*signin.SignIn, error) {
	var a *authorization
	s.hub.within(func() { a = s.auth })
	if a != nil {
		return a.signIn, nil
	}
	conf, err := known()
	if err != nil {
		return nil, err
	}
	return s.authorize(&conf)
}

// errSignIn converts err, the failure of a sign-in, to the error that callers get.
func (s *server) errSignIn(err error) *event.Error {
	if e := s.signInError(err); e != nil {
		return e
	}
	e := event.Fail(event.CodeUnavailable, event.ReasonSignInFailed, []string{"server", s.name},
		"the sign-in to server %q failed: %s", s.name, s.quote(err.Error()))
	e.Err = err
	return e
}

func (s *server) errNoSignIn() *event.Error {
	return event.Fail(event.CodeFailedPrecondition, event.ReasonNotOffered,
		[]string{"server", s.name, "capability", "sign-in"},
		"server %q has no sign-in: it is a process, or its config brings an Authorization header", s.name)
}

// authorization is the sign-in of one server with a URL. It outlives the server's connections, and is replaced when the
// launch key of the entry changes. All fields but the first two are guarded by the lock.
type authorization struct {
	signIn *signin.SignIn
	key    string // config.Server.LaunchKey

	asking int               // open prompts
	wanted int               // callers of SignIn
	needed bool              // a request was refused for lack of a token, and there is none
	told   event.SignInState // as last sent to the windows
}

func hasSignIn(conf *config.Server) bool {
	_, own := conf.Header["Authorization"]
	return conf.URL != "" && !own
}

// authorizer returns the Authorizer that signs the requests to the server's URL, or nil if the server has no sign-in.
// It takes the lock.
func (s *server) authorizer(conf *config.Server) (transport.Authorizer, error) {
	sign, err := s.authorize(conf)
	if sign == nil || err != nil {
		return nil, err
	}
	return watched{SignIn: sign, server: s}, nil
}

// authorize returns the sign-in of s, and makes it if necessary. It returns nil if the server is a process, or if the
// config has an Authorization header of its own. It takes the lock.
func (s *server) authorize(conf *config.Server) (*signin.SignIn, error) {
	if !hasSignIn(conf) {
		return nil, nil
	}
	h, key := s.hub, conf.LaunchKey()
	var a *authorization
	h.within(func() { a = s.auth })
	if a != nil && a.key == key {
		return a.signIn, nil
	}
	made := &authorization{key: key}
	sign, err := signin.New(signin.Options{
		Server: s.name, ServerURL: conf.URL, Store: h.tokens(), Logger: h.log, Config: conf.OAuth,
		RoundTripper: h.roundTripper, Listen: h.listen,
		Over: func() { // whoever waited may have gone before
			h.within(func() {
				if s.auth == made {
					s.signInChanged()
				}
			})
		},
		Ask: func(ctx context.Context, p event.SignInQuestion) error {
			return h.askSignIn(ctx, s, p, func() bool { return made.wanted > 0 }, func(by int) {
				made.asking += by
				s.signInChanged()
			})
		},
	})
	if err != nil {
		return nil, err
	}
	made.signIn = sign
	var now, unwanted *authorization
	var refusal *event.Error
	h.within(func() { now, unwanted, refusal = s.authorizeBy(made) })
	if unwanted != nil {
		unwanted.signIn.Close()
	}
	if refusal != nil {
		return nil, refusal
	}
	return now.signIn, nil
}

// authorizeBy makes made the sign-in of s, unless another goroutine has made one meanwhile: two sign-ins would ask
// twice. The caller closes unwanted without the lock.
func (s *server) authorizeBy(made *authorization) (now, unwanted *authorization, refusal *event.Error) {
	old := s.auth
	switch {
	case s.removed():
		return nil, made, errServerNotFound(s.name)
	case s.hub.held().closed:
		return nil, made, event.ErrDraining()
	case old != nil && old.key == made.key:
		return old, made, nil
	}
	s.auth = made
	return made, old, nil
}

// watched is a sign-in that records in server whether the server demands a token that it has not got.
type watched struct {
	*signin.SignIn
	server *server
}

// Authorize is called when the server has refused a request; it records whether the sign-in succeeded.
func (w watched) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	err := w.SignIn.Authorize(ctx, req, resp)
	s := w.server
	s.hub.within(func() {
		if a := s.auth; a != nil && a.signIn == w.SignIn {
			a.needed = err != nil
			s.signInChanged()
		}
	})
	return err
}

// endSignIn closes the sign-in of a server that was removed, or whose launch has changed.
func (s *server) endSignIn() {
	if s.auth != nil {
		sign := s.auth.signIn
		s.auth = nil
		s.hub.work.Go(sign.Close)
	}
}

// notingStore adds the tokens that pass through a store of sign-ins to the redactor.
type notingStore struct {
	signin.Store
	redactor *redact.Redactor
}

// Load implements signin.Store.
func (n notingStore) Load(ctx context.Context, key signin.Key) (*signin.Entry, error) {
	e, err := n.Store.Load(ctx, key)
	n.redactor.Add(e.Secrets()...)
	return e, err
}

// Save implements signin.Store.
func (n notingStore) Save(ctx context.Context, e *signin.Entry) error {
	n.redactor.Add(e.Secrets()...)
	return n.Store.Save(ctx, e)
}
