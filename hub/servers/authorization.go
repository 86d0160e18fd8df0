package servers

import (
	"context"
	"net/http"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/redact"
	"github.com/mcphub-go/mcphub/hub/signin"
	"github.com/mcphub-go/mcphub/hub/transport"
)

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
func (s *Server) authorizer(conf *config.Server) (transport.Authorizer, error) {
	sign, err := s.authorize(conf)
	if sign == nil || err != nil {
		return nil, err
	}
	return watched{SignIn: sign, server: s}, nil
}

// authorize returns the sign-in of s, and makes it if necessary. It returns nil if the server is a process, or if the
// config has an Authorization header of its own. It takes the lock.
func (s *Server) authorize(conf *config.Server) (*signin.SignIn, error) {
	if !hasSignIn(conf) {
		return nil, nil
	}
	t, key := s.table, conf.LaunchKey()
	var a *authorization
	t.House.Update(func() { a = s.auth })
	if a != nil && a.key == key {
		return a.signIn, nil
	}
	made := &authorization{key: key}
	sign, err := signin.New(signin.Options{
		Server: s.name, ServerURL: conf.URL, Store: t.tokens(), Logger: t.Logger, Config: conf.OAuth,
		RoundTripper: t.RoundTripper, Listen: t.Listen,
		Ask: func(ctx context.Context, p event.SignInQuestion) error {
			return s.owner.AskSignIn(ctx, p, func() bool { return made.wanted > 0 }, func(by int) {
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
	t.House.Update(func() { now, unwanted, refusal = s.authorizeBy(made) })
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
func (s *Server) authorizeBy(made *authorization) (now, unwanted *authorization, refusal *event.Error) {
	old := s.auth
	switch {
	case s.Removed():
		return nil, made, ErrNotFound(s.name)
	case s.table.closed:
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
	server *Server
}

// Authorize is called when the server has refused a request; it records whether the sign-in succeeded.
func (w watched) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	err := w.SignIn.Authorize(ctx, req, resp)
	s := w.server
	s.table.House.Update(func() {
		if a := s.auth; a != nil && a.signIn == w.SignIn {
			a.needed = err != nil
			s.signInChanged()
		}
	})
	return err
}

// EndSignIn closes the sign-in of a server that was removed, or whose launch has changed.
func (s *Server) EndSignIn() {
	if s.auth != nil {
		sign := s.auth.signIn
		s.auth = nil
		s.table.House.Go(sign.Close)
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
