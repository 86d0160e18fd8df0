package servers

import (
	"context"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/signin"
)

// signingIn reports whether a person is asked to sign in, or has agreed and the rest of the sign-in is under way.
func (s *Server) signingIn() bool {
	return s.auth != nil && (s.auth.asking > 0 || s.auth.signIn.State() == event.SignInAsking)
}

func (s *Server) signInState() event.SignInState {
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
func (s *Server) signInChanged() {
	if s.auth != nil && s.auth.told != s.signInState() {
		s.changed()
	}
}

// SignInTold records the state of the sign-in that was sent to the windows.
func (s *Server) SignInTold(state event.SignInState) {
	if s.auth != nil {
		s.auth.told = state
	}
}

// CanSignIn returns the config of a server that has a sign-in, or an error for one that has none. It takes the lock.
func (s *Server) CanSignIn() (conf config.Server, err error) {
	s.table.House.Update(func() { conf = s.conf })
	if !hasSignIn(&conf) {
		return config.Server{}, s.errNoSignIn()
	}
	return conf, nil
}

// SignIn signs in on the user's order, even if the user has just declined to. conf has its references resolved. It
// takes the lock.
func (s *Server) SignIn(ctx context.Context, conf *config.Server) error {
	sign, err := s.authorize(conf)
	switch {
	case err != nil:
		return s.errSignIn(err)
	case sign == nil: // the resolved config has an Authorization header
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

// SignOut ends the connection and deletes the tokens. known returns the config with its references resolved; it is
// called, without the lock, only if the tokens cannot be found otherwise. SignOut takes the lock.
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
	forgotten := sign.Forget(ctx) // the sign-in uses no token any more, even if a store keeps one
	s.table.House.Update(func() {
		if s.auth != nil {
			s.auth.needed = true
		}
		s.changed()
	})
	if forgotten == nil {
		return nil
	}
	e := event.Fail(event.CodeUnavailable, event.ReasonSignInFailed, []string{"server", s.name},
		"server %q is signed out, but its tokens were not removed everywhere: %s", s.name, s.Quote(forgotten.Error()))
	e.Err = forgotten
	return e
}

// storedSignIn returns the sign-in of s. If none has been made yet, it makes one from the config that known returns.
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

// errSignIn converts err, the failure of a sign-in, to the error that callers get.
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
