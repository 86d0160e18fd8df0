package servers

import (
	"context"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/signin"
)

// signingIn tells whether a person is being asked, or has just been and the rest is under way.
func (s *Server) signingIn() bool {
	return s.auth != nil && (s.auth.asking > 0 || s.auth.signIn.State().Phase == signin.Asking)
}

func (s *Server) signInState() event.SignInState {
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

// signInChanged tells the windows where the sign-in stands, if they do not know.
func (s *Server) signInChanged() {
	if s.auth != nil && s.auth.told != s.signInState() {
		s.owner.Changed()
	}
}

// SignInTold notes what the windows know of the sign-in.
func (s *Server) SignInTold(state event.SignInState) {
	if s.auth != nil {
		s.auth.told = state
	}
}

// CanSignIn gives the config of a server that can be signed in to, or why this one cannot. It takes the lock.
func (s *Server) CanSignIn() (conf config.Server, err error) {
	s.table.House.Update(func() { conf = s.conf })
	if !hasSignIn(&conf) {
		return config.Server{}, s.errNoSignIn()
	}
	return conf, nil
}

// SignIn signs in because the user wants it, also one who has just declined. conf has no references any more. It takes
// the lock.
func (s *Server) SignIn(ctx context.Context, conf *config.Server) error {
	sign, err := s.authorize(conf)
	switch {
	case err != nil:
		return s.errSignIn(err)
	case sign == nil: // a variable has brought a token
		return s.errNoSignIn()
	}
	want := func(by int) {
		s.table.House.Update(func() {
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
	return s.errSignIn(err)
}

// SignOut ends the connection and forgets the tokens. known gives the config without references, if that is needed to
// find them; it is called without the lock, which SignOut takes.
func (s *Server) SignOut(ctx context.Context, by event.Origin, known func() (config.Server, error)) error {
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
	forgotten := sign.Forget(ctx) // nothing of it is used any more, whatever is left in a store
	s.table.House.Update(func() {
		if s.auth != nil {
			s.auth.needed = true
		}
		s.owner.Changed()
	})
	if forgotten == nil {
		return nil
	}
	e := event.Fail(event.CodeUnavailable, event.ReasonSignInFailed, []string{"server", s.name},
		"server %q is signed out, but its tokens were not removed everywhere: %s", s.name, s.Quote(forgotten.Error()))
	e.Err = forgotten
	return e
}

// storedSignIn finds the sign-in of a server by what is known of its config.
func (s *Server) storedSignIn(known func() (config.Server, error)) (*signin.SignIn, error) {
	var a *authorization
	s.table.House.Update(func() { a = s.auth })
	if a != nil {
		return a.signIn, nil
	}
	conf, err := known()
	if err != nil {
		return nil, err
	}
	return s.authorize(&conf)
}

// errSignIn says why there is no token.
func (s *Server) errSignIn(err error) *event.Error {
	if e := s.SignInError(err); e != nil {
		return e
	}
	e := event.Fail(event.CodeUnavailable, event.ReasonSignInFailed, []string{"server", s.name},
		"the sign-in to server %q failed: %s", s.name, s.Quote(err.Error()))
	e.Err = err
	return e
}

func (s *Server) errNoSignIn() *event.Error {
	return event.Fail(event.CodeFailedPrecondition, event.ReasonNotOffered,
		[]string{"server", s.name, "capability", "sign-in"},
		"server %q has no sign-in: it is a process, or its config brings an Authorization header", s.name)
}
