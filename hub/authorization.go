package hub

import (
	"context"
	"errors"
	"net/http"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/servers"
	"github.com/mcphub-go/mcphub/hub/signin"
)

// authorization is the sign-in of one server behind a URL. It outlives the server's connections; a change of what the
// config says of the server makes another one. All but the first two are guarded by Hub.mu.
type authorization struct {
	signIn *signin.SignIn
	key    string // config.Server.LaunchKey

	asking int               // open prompts
	wanted int               // callers of SignIn
	needed bool              // a request was refused for lack of a token, and there is none
	told   event.SignInState // what the windows know
}

const methodSignIn = "authorization"

func hasSignIn(conf config.Server) bool {
	_, own := conf.Header["Authorization"]
	return conf.URL != "" && !own
}

// authorize gives the sign-in of s, nil when there is none: the server is a process, or the config brings an
// Authorization header of its own.
func (h *Hub) authorize(s *server, conf config.Server) (*signin.SignIn, error) {
	if !hasSignIn(conf) {
		return nil, nil
	}
	key := conf.LaunchKey()
	var a *authorization
	h.update(func() { a = s.auth })
	if a != nil && a.key == key {
		return a.signIn, nil
	}
	made := &authorization{key: key}
	sign, err := signin.New(signin.Options{
		Server: s.name, ServerURL: conf.URL, Store: h.tokens(), Logger: h.log, Config: signInConfig(conf.OAuth),
		RoundTripper: h.web, Listen: h.listen,
		Ask: func(ctx context.Context, p signin.Prompt) error { return h.askSignIn(ctx, s, made, p) },
	})
	if err != nil {
		return nil, err
	}
	made.signIn = sign
	now, unwanted, refusal := h.authorizeBy(s, made)
	if unwanted != nil {
		unwanted.signIn.Close()
	}
	if refusal != nil {
		return nil, refusal
	}
	return now.signIn, nil
}

// authorizeBy makes a sign-in that of s, unless somebody else has made one meanwhile: two of them would ask twice.
// unwanted is to be closed, without the lock.
func (h *Hub) authorizeBy(s *server, made *authorization) (now, unwanted *authorization, refusal *event.Error) {
	defer h.lock().unlock()
	old := s.auth
	switch {
	case s.Life().Removed():
		return nil, made, servers.ErrNotFound(s.name)
	case h.closed:
		return nil, made, event.ErrDraining()
	case old != nil && old.key == made.key:
		return old, made, nil
	}
	s.auth = made
	return made, old, nil
}

// signInConfig is what the config says of the sign-in, in the words of signin.
func signInConfig(o config.OAuth) signin.Config {
	return signin.Config{
		Grant: o.Grant, ClientID: o.ClientID, ClientSecret: o.ClientSecret, ClientMetadataURL: o.ClientMetadataURL,
		Scopes: o.Scopes, RedirectPort: o.RedirectPort,
		PrivateKeyPEM: o.PrivateKeyPEM, SigningAlgorithm: o.SigningAlgorithm,
		IDPIssuer: o.IDP.Issuer, IDPTokenEndpoint: o.IDP.TokenEndpoint, IDPClientID: o.IDP.ClientID,
		IDPIDToken:    o.IDP.IDToken,
		WorkloadToken: o.WorkloadToken, WorkloadTokenFile: o.WorkloadTokenFile, DPoP: o.DPoP,
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
	defer w.hub.lock().unlock()
	if a := w.server.auth; a != nil && a.signIn == w.SignIn {
		a.needed = err != nil
		w.hub.signInChanged(w.server)
	}
	return err
}

// signInChanged tells the windows where the sign-in stands, if they do not know. h.mu is held.
func (h *Hub) signInChanged(s *server) {
	if s.auth != nil && s.auth.told != s.signInState() {
		h.changed(s)
	}
}

// askSignIn shows a sign-in to the windows.
func (h *Hub) askSignIn(ctx context.Context, s *server, a *authorization, q signin.Prompt) error {
	answer, err := h.askAboutServer(ctx, s, &serverQuestion{
		name: "sign-in", method: methodSignIn, subject: q.Issuer, wants: "a sign-in", kinds: "sign-ins",
		info: event.PromptInfo{Kind: event.PromptSignIn, SignIn: &event.SignInQuestion{
			URL: q.URL, URLHost: q.URLHost, Waiting: q.Waiting, Issuer: q.Issuer, Resource: q.Resource, Scopes: q.Scopes,
		}},
		byHand: func() bool { return a.wanted > 0 },
		told: func(by int) {
			a.asking += by
			h.signInChanged(s)
		},
		over: signInOver,
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

// signInOver says how a question closes whose sign-in ended.
func signInOver(cause error) (c closing, cameBack bool) {
	c = closing{cause: event.CauseParent, origin: event.OriginParent, reason: "nobody waits for the sign-in any more"}
	_, cameBack = errors.AsType[*signin.Completed](cause)
	switch {
	case cameBack:
		c.cause, c.origin, c.reason = event.CauseSuperseded, event.OriginUser, "the browser has come back"
	case errors.Is(cause, signin.ErrSignedOut):
		c.origin, c.reason = event.OriginHost, "the user signed out"
	case errors.Is(cause, signin.ErrClosed):
		c.origin, c.reason = event.OriginHost, "the server was removed from the config or changed there"
	}
	return c, cameBack
}

// forgetSignIn ends the sign-in of a server that is no longer. h.mu is held.
func (h *Hub) forgetSignIn(s *server) {
	if s.auth != nil {
		sign := s.auth.signIn
		s.auth = nil
		h.work.Go(sign.Close)
	}
}

// errSignIn says why there is no token.
func errSignIn(s *server, err error) *event.Error {
	if e := s.SignInError(err); e != nil {
		return e
	}
	e := event.Fail(event.CodeUnavailable, event.ReasonSignInFailed, []string{"server", s.name},
		"the sign-in to server %q failed: %s",
		s.name, s.Quote(err.Error()))
	e.Err = err
	return e
}
