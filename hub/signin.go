package hub

import (
	"context"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/prompts"
	"github.com/mcphub-go/mcphub/hub/signin"
)

// SignIn signs in to a server now and connects it. It asks also a person who has just declined.
func (h *Hub) SignIn(ctx context.Context, name string) (event.ServerInfo, error) {
	s, conf, err := h.signInOf(name)
	if err != nil {
		return event.ServerInfo{}, err
	}
	h.within(s.launch.AskAgain)
	var refusal error
	h.within(func() { refusal = s.Refusal(ctx) })
	if refusal != nil {
		return event.ServerInfo{}, event.StoppedWaiting(ctx, refusal)
	}
	// the address may hold a secret, and be that of a workspace that the user does not trust
	resolved, err := s.launch.Prepare(ctx, conf, true)
	if err != nil {
		return event.ServerInfo{}, event.StoppedWaiting(ctx, s.StartError(ctx, err))
	}
	if err := s.SignIn(ctx, &resolved.Server); err != nil {
		return event.ServerInfo{}, event.StoppedWaiting(ctx, err)
	}
	return h.StartServer(ctx, name)
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
	if err := s.SignOut(ctx, by, func() (config.Server, error) { return h.known(s, conf) }); err != nil {
		return event.ServerInfo{}, err
	}
	return h.infoOf(s), nil
}

// signInOf finds a server that can be signed in to.
func (h *Hub) signInOf(name string) (*server, config.Server, error) {
	s, err := h.find(name)
	if err != nil {
		return nil, config.Server{}, err
	}
	conf, err := s.CanSignIn()
	return s, conf, err
}

// known gives the config of a server with what is known put in for its references. It asks nobody.
func (h *fixed) known(s *server, conf config.Server) (config.Server, error) {
	values, err := h.inputs.Values(conf)
	if err != nil {
		return config.Server{}, err
	}
	r, err := s.launch.Resolve(conf, values)
	return r.Server, err
}

// askSignIn shows a sign-in to the windows: see servers.Owner.
func (h *Hub) askSignIn(ctx context.Context, s *server, q signin.Prompt, wanted func() bool, told func(by int)) error {
	answer, err := h.askAboutServer(ctx, s, &serverQuestion{
		info: event.PromptInfo{Kind: event.PromptSignIn, SignIn: &event.SignInQuestion{
			URL: q.URL, URLHost: q.URLHost, Waiting: q.Waiting, Issuer: q.Issuer, Resource: q.Resource, Scopes: q.Scopes,
		}},
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

// signInOver says how a question closes whose sign-in ended.
func signInOver(cause error) (c closing, cameBack bool) {
	c.cause, c.origin, c.reason, cameBack = prompts.SignInOver(cause)
	return c, cameBack
}
