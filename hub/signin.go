package hub

import (
	"context"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/prompts"
	"github.com/mcphub-go/mcphub/hub/signin"
)

// SignIn signs in to a server and connects it. It asks the user even if the user has declined recently.
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
	// the URL may hold a secret, and a workspace that the user does not trust may have set it
	resolved, err := s.launch.Prepare(ctx, conf, true)
	if err != nil {
		return event.ServerInfo{}, event.StoppedWaiting(ctx, s.StartError(ctx, err))
	}
	if err := s.SignIn(ctx, &resolved.Server); err != nil {
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
	if err := s.SignOut(ctx, by, func() (config.Server, error) { return h.known(s, conf) }); err != nil {
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
	conf, err := s.CanSignIn()
	return s, conf, err
}

// known resolves the references of conf with the values that are known. It does not ask anybody.
func (h *fixed) known(s *server, conf config.Server) (config.Server, error) {
	values, err := h.inputs.Values(conf)
	if err != nil {
		return config.Server{}, err
	}
	r, err := s.launch.Resolve(conf, values)
	return r.Server, err
}

// askSignIn shows a sign-in to the windows: see servers.Owner.
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
	c.cause, c.origin, c.reason, cameBack = prompts.SignInOver(cause)
	return c, cameBack
}
