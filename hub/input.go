package hub

import (
	"context"
	"errors"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/inputs"
)

// errNotGiven is returned if the user was asked for a value and gave none.
var errNotGiven = errors.New("the user gave no value")

// inputValues returns the values of the inputs that conf refers to, from the store or from the user, one after the
// other. An input that its file does not define is left out; resolving reports it.
func (h *Hub) inputValues(ctx context.Context, s *server, conf config.Server, byHand bool) (map[string]string, error) {
	var values map[string]string
	for _, in := range inputs.Of(conf) {
		value, err := h.sharing.Do(ctx, sharedKey{file: in.Origin.File, input: in.ID}, s, func(t *shared) (string, error) {
			return h.findInput(ctx, s, in, t, byHand)
		})
		if errors.Is(err, errNotGiven) {
			err = inputs.Missing(s.name, in)
		}
		if err != nil {
			return nil, err
		}
		if values == nil {
			values = map[string]string{}
		}
		values[in.ID] = value
	}
	return values, nil
}

// findInput returns the value of one input, on behalf of all starts that wait for it.
func (h *Hub) findInput(ctx context.Context, s *server, in config.Input, t *shared, byHand bool) (string, error) {
	if value, ok := h.inputs.Get(in); ok {
		return value, nil
	}
	for {
		h.within(func() { in = inputs.Now(s.Conf(), in) })
		answer, err := h.askAboutServer(ctx, s, &serverQuestion{
			info: event.PromptInfo{Kind: event.PromptConfigInput, Input: inputs.Question(in)}, with: t,
			byHand: func() bool { return byHand },
		})
		switch {
		case err != nil:
			return "", ofAll(err)
		case answer.cause == event.CauseSuperseded: // the input has changed, or the last window left and another one came
			continue
		case answer.cause != event.CauseAnswered:
			return "", errNotGiven
		}
		if value, ok := h.inputs.Put(in, answer.content, answer.byHost); ok { // Answer has checked the content
			return value, nil
		}
		return "", errNotGiven
	}
}
