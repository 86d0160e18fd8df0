package hub

import (
	"context"
	"net/http"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/signin"
)

// authorization is the sign-in of one server behind a URL. It outlives the server's connections; a change of what the config says of the server
// makes another one. asking and needed are guarded by Hub.mu.
type authorization struct {
	signIn *signin.SignIn
	key    string // config.Server.LaunchKey
	asking int    // open prompts
	needed bool   // a request was refused for lack of a token, and there is none
}

const methodSignIn = "authorization"

// authorize gives the sign-in of s, nil when there is none: the server is a process, or the config brings an Authorization header of its own.
func (h *Hub) authorize(s *server, conf config.Server) (*signin.SignIn, error) {
	if _, own := conf.Header["Authorization"]; own {
		return nil, nil
	}
	a := &authorization{key: conf.LaunchKey()}
	h.mu.Lock()
	if s.auth != nil && s.auth.key == a.key {
		defer h.mu.Unlock()
		return s.auth.signIn, nil
	}
	h.mu.Unlock()
	sign, err := signin.New(signin.Options{
		Server: s.name, ServerURL: conf.URL, Store: h.tokens(), Logger: h.log, Config: signInConfig(conf.OAuth),
		Ask: func(ctx context.Context, p signin.Prompt) error { return h.askSignIn(ctx, s, a, p) },
	})
	if err != nil {
		return nil, err
	}
	a.signIn = sign
	h.mu.Lock()
	over, late := h.closed || s.removed, s.auth != nil && s.auth.key == a.key
	if !over && !late {
		h.forgetSignIn(s)
		s.auth = a
	}
	now := s.auth
	h.mu.Unlock()
	if over || late { // the hub or the server is gone, or somebody else was faster
		sign.Close()
	}
	if over {
		return nil, errDraining()
	}
	return now.signIn, nil
}

// signInConfig is what the config says of the sign-in, in the words of signin.
func signInConfig(o config.OAuth) signin.Config {
	return signin.Config{
		Grant: o.Grant, ClientID: o.ClientID, ClientSecret: o.ClientSecret, ClientMetadataURL: o.ClientMetadataURL, Scopes: o.Scopes, RedirectPort: o.RedirectPort,
		PrivateKeyPEM: o.PrivateKeyPEM, SigningAlgorithm: o.SigningAlgorithm,
		IDPIssuer: o.IDP.Issuer, IDPTokenEndpoint: o.IDP.TokenEndpoint, IDPClientID: o.IDP.ClientID, IDPIDToken: o.IDP.IDToken,
	}
}

// watched tells the hub whether a server wants a sign-in.
type watched struct {
	*signin.SignIn
	hub    *Hub
	server *server
}

// Authorize notes that the server has refused a request, and what came of the sign-in.
func (w watched) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	err := w.SignIn.Authorize(ctx, req, resp)
	w.hub.mu.Lock()
	defer w.hub.mu.Unlock()
	if a := w.server.auth; a != nil && a.signIn == w.SignIn && a.needed != (err != nil) {
		a.needed = err != nil
		w.hub.changed(w.server)
	}
	return err
}

// askSignIn shows a sign-in to the windows and waits for the first answer, or for whatever else ends it. Each question is a request of its own, so
// that it can be seen and cancelled; all that waits for the server waits for it, too.
func (h *Hub) askSignIn(ctx context.Context, s *server, a *authorization, q signin.Prompt) error {
	h.mu.Lock()
	if h.draining || !h.canShow(PromptSignIn, false) {
		h.mu.Unlock()
		return fail(CodeFailedPrecondition, ReasonNoApprover, []string{"server", s.name}, "server %q wants a sign-in and no window can show the question; attach a window that shows sign-ins", s.name)
	}
	human := DefaultHumanTimeout
	if limit := s.conf.Timeouts.Human; limit != nil {
		human = *limit
	}
	r := &request{id: h.mint("sign-in"), method: methodSignIn, subject: q.Issuer, direction: Outgoing, server: s}
	h.register(ctx, r)
	h.moveTo(r, StateRunning)
	p := &prompt{request: r, humanLimit: human, info: PromptInfo{Kind: PromptSignIn, SignIn: &SignInQuestion{
		URL: q.URL, URLHost: q.URLHost, Waiting: q.Waiting, Issuer: q.Issuer, Resource: q.Resource, Scopes: q.Scopes,
	}}}
	h.openPrompt(p)
	a.asking++
	h.changed(s)
	h.mu.Unlock()

	var answer closing
	select {
	case answer = <-p.settled:
	case <-ctx.Done():
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	defer h.changed(s)
	a.asking--
	if answer.cause == 0 { // the sign-in is over, one way or the other
		closed, cancelled := withdrawn(context.Cause(ctx))
		h.closePrompt(p, closed)
		if closed.cause == CauseSuperseded {
			h.end(r, ending{state: StateDone})
		} else {
			h.cancel(r, cancelled)
			h.end(r, ending{state: StateCancelled})
		}
		return context.Cause(ctx)
	}
	switch answer.action {
	case ActionAccept:
		h.end(r, ending{state: StateDone})
		return nil
	case ActionDecline:
		h.end(r, ending{state: StateDone})
		return signin.ErrDeclined
	}
	if answer.cause == CauseDismissed {
		h.end(r, ending{state: StateDone})
	} else {
		h.cancel(r, &cancelCause{Origin: answer.origin, Reason: answer.reason})
		h.end(r, ending{state: StateCancelled})
	}
	return signin.ErrDismissed
}

// forgetSignIn ends the sign-in of a server that is no longer. h.mu is held.
func (h *Hub) forgetSignIn(s *server) {
	if s.auth != nil {
		sign := s.auth.signIn
		s.auth = nil
		h.work.Go(sign.Close)
	}
}

func (s *server) signingIn() bool { return s.auth != nil && s.auth.asking > 0 }

// signInState: h.mu is held.
func (s *server) signInState() SignInState {
	switch {
	case s.auth == nil:
		return 0
	case s.auth.asking > 0:
		return SignInAsking
	case s.auth.signIn.State().Phase == signin.SignedIn:
		return SignInSignedIn
	case s.auth.needed:
		return SignInNeeded
	}
	return 0
}

// SignIn signs in to a server now and connects it. It asks also a person who has just declined.
func (h *Hub) SignIn(ctx context.Context, name string) (ServerInfo, error) {
	s, sign, err := h.signInOf(name)
	if err != nil {
		return ServerInfo{}, err
	}
	if err := sign.SignIn(ctx); err != nil {
		if ctx.Err() != nil {
			return ServerInfo{}, contextError(ctx, err)
		}
		return ServerInfo{}, errSignIn(s, err)
	}
	return h.StartServer(ctx, name)
}

// SignOut forgets the tokens of a server and ends its connection.
func (h *Hub) SignOut(ctx context.Context, name string) (ServerInfo, error) {
	s, sign, err := h.signInOf(name)
	if err != nil {
		return ServerInfo{}, err
	}
	if err := h.stop(ctx, s, &cancelCause{Origin: OriginHost, Reason: "the user signed out"}); err != nil {
		return ServerInfo{}, err
	}
	if err := sign.Forget(ctx); err != nil {
		return ServerInfo{}, errSignIn(s, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.auth != nil {
		s.auth.needed = true
	}
	h.changed(s)
	return s.info(), nil
}

// signInOf finds a server that can be signed in to.
func (h *Hub) signInOf(name string) (*server, *signin.SignIn, error) {
	s, err := h.find(name)
	if err != nil {
		return nil, nil, err
	}
	h.mu.Lock()
	conf := s.conf
	h.mu.Unlock()
	if conf.URL == "" {
		return nil, nil, errNoSignIn(name)
	}
	sign, err := h.authorize(s, conf)
	switch {
	case err != nil:
		return nil, nil, errSignIn(s, err)
	case sign == nil:
		return nil, nil, errNoSignIn(name)
	}
	return s, sign, nil
}

func errNoSignIn(name string) *Error {
	return fail(CodeFailedPrecondition, ReasonNotOffered, []string{"server", name, "capability", "sign-in"},
		"server %q has no sign-in: it is a process, or its config brings an Authorization header", name)
}

// errSignIn says why there is no token.
func errSignIn(s *server, err error) *Error {
	if e := signInError(s, err); e != nil {
		return e
	}
	e := fail(CodeUnavailable, ReasonSignInFailed, []string{"server", s.name}, "the sign-in to server %q failed: %s", s.name, boundText(err.Error()))
	e.Err = err
	return e
}
