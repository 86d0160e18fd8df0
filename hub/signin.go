package hub

import (
	"context"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/signin"
)

// signingIn tells whether a person is being asked, or has just been and the rest is under way. h.mu is held.
func (s *server) signingIn() bool {
	return s.auth != nil && (s.auth.asking > 0 || s.auth.signIn.State().Phase == signin.Asking)
}

// signInState: h.mu is held.
func (s *server) signInState() event.SignInState {
	switch {
	case s.auth == nil:
		return 0
	case s.signingIn():
		return event.SignInAsking
	case s.auth.signIn.State().Phase == signin.SignedIn:
		return event.SignInSignedIn
	case s.auth.needed:
		return event.SignInNeeded
	}
	return 0
}

// SignIn signs in to a server now and connects it. It asks also a person who has just declined.
func (h *Hub) SignIn(ctx context.Context, name string) (event.ServerInfo, error) {
	s, conf, err := h.signInOf(name)
	if err != nil {
		return event.ServerInfo{}, err
	}
	h.askLaunchAgain(s)
	var refusal error
	h.update(func() { refusal = s.Refusal(ctx) })
	if refusal != nil {
		return event.ServerInfo{}, contextError(ctx, refusal)
	}
	// the address may hold a secret, and be that of a workspace that the user does not trust
	resolved, err := h.prepared(ctx, s, conf, true)
	if err != nil {
		return event.ServerInfo{}, contextError(ctx, s.StartError(ctx, err))
	}
	sign, err := h.authorize(s, resolved.Server)
	if err != nil {
		return event.ServerInfo{}, errSignIn(s, err)
	}
	if sign == nil { // a variable has brought a token
		return event.ServerInfo{}, errNoSignIn(name)
	}
	if err := h.signInNow(ctx, s, sign); err != nil {
		if ctx.Err() != nil {
			return event.ServerInfo{}, contextError(ctx, err)
		}
		return event.ServerInfo{}, errSignIn(s, err)
	}
	return h.StartServer(ctx, name)
}

// signInNow signs in because the user wants it, and tells the windows what came of it.
func (h *Hub) signInNow(ctx context.Context, s *server, sign *signin.SignIn) error {
	want := func(by int) {
		defer h.lock().unlock()
		if s.auth != nil && s.auth.signIn == sign {
			s.auth.wanted += by
			h.signInChanged(s)
		}
	}
	want(+1)
	defer want(-1)
	return sign.SignIn(ctx)
}

// SignOut forgets the tokens of a server and ends its connection.
func (h *Hub) SignOut(ctx context.Context, name string) (event.ServerInfo, error) {
	return h.signOut(ctx, name, event.OriginHost)
}

func (h *Hub) signOut(ctx context.Context, name string, by event.Origin) (event.ServerInfo, error) {
	s, conf, err := h.signInOf(name)
	if err != nil {
		return event.ServerInfo{}, err
	}
	sign, err := h.storedSignIn(s, conf)
	if err != nil {
		return event.ServerInfo{}, errSignIn(s, err)
	}
	if sign == nil {
		return event.ServerInfo{}, errNoSignIn(name)
	}
	if err := h.stop(ctx, s, &event.CancelCause{Origin: by, Reason: "the user signed out"}); err != nil {
		return event.ServerInfo{}, err
	}
	forgotten := sign.Forget(ctx) // nothing of it is used any more, whatever is left in a store
	defer h.lock().unlock()
	if s.auth != nil {
		s.auth.needed = true
	}
	h.changed(s)
	if forgotten != nil {
		e := event.Fail(event.CodeUnavailable, event.ReasonSignInFailed, []string{"server", s.name},
			"server %q is signed out, but its tokens were not removed everywhere: %s", s.name, s.Quote(forgotten.Error()))
		e.Err = forgotten
		return event.ServerInfo{}, e
	}
	return s.info(), nil
}

// signInOf finds a server that can be signed in to.
func (h *Hub) signInOf(name string) (*server, config.Server, error) {
	s, err := h.find(name)
	if err != nil {
		return nil, config.Server{}, err
	}
	var conf config.Server
	h.update(func() { conf = *s.Conf() })
	if !hasSignIn(conf) {
		return nil, config.Server{}, errNoSignIn(name)
	}
	return s, conf, nil
}

// storedSignIn finds the sign-in of a server by what is known of its config. It asks nobody.
func (h *Hub) storedSignIn(s *server, conf config.Server) (*signin.SignIn, error) {
	var a *authorization
	h.update(func() { a = s.auth })
	if a != nil {
		return a.signIn, nil
	}
	values, err := h.inputs.Values(conf)
	if err != nil {
		return nil, err
	}
	var v config.Variables
	h.update(func() { v = h.variables(conf) })
	r, err := h.resolved(s, conf, v, values)
	if err != nil {
		return nil, err
	}
	return h.authorize(s, r.Server)
}

func errNoSignIn(name string) *event.Error {
	return event.Fail(event.CodeFailedPrecondition, event.ReasonNotOffered,
		[]string{"server", name, "capability", "sign-in"},
		"server %q has no sign-in: it is a process, or its config brings an Authorization header", name)
}
