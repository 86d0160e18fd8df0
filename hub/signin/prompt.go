package signin

import (
	"context"
	"errors"
	"fmt"

	"github.com/mcphub-go/mcphub/hub/browse"
)

// Prompt is what a person is shown before and during a sign-in.
type Prompt struct {
	// Server is the name in the configuration.
	Server string
	// URL is what the host opens in the outside browser after consent. It has been checked: https, or http on loopback.
	URL string
	// URLHost is the host of URL in punycode, to be shown large: it is where the person will type a password.
	URLHost string
	// Issuer is the authorization server, Resource what access is asked for, Scopes the rights asked for.
	Issuer   string
	Resource string
	Scopes   []string
	// StepUp: the person has signed in before, and the server wants more rights.
	StepUp bool
	// Waiting: the browser has been opened, and the redirect has not come yet. Nothing is to be opened again.
	Waiting bool
}

// Asker puts p to a person. It is called twice in a sign-in that goes well: first for consent, and after that with
// Waiting.
//
// nil means consent; with Waiting it means "I have finished". [ErrDeclined] and [ErrDismissed] end the sign-in. Any
// other error says that nobody could be asked, and fails the flow without further consequences. When ctx ends, Asker
// must take the prompt away and return soon; the cause is a [*Completed] when the redirect has come.
type Asker func(ctx context.Context, p Prompt) error

var (
	// ErrDeclined is returned by an Asker: the person said no.
	ErrDeclined = errors.New("declined")
	// ErrDismissed is returned by an Asker: the person closed the prompt without an answer.
	ErrDismissed = errors.New("dismissed")
)

// Completed is the cause with which a prompt's context ends once the browser has come back.
type Completed struct{}

func (*Completed) Error() string { return "the browser has come back" }

// checkBrowserURL lets through only what may be handed to a browser: the address comes from a server's metadata.
func checkBrowserURL(text string) (browse.Page, error) {
	page, err := browse.Check(text)
	if err != nil {
		return browse.Page{}, fmt.Errorf("the authorization URL %w", err)
	}
	return page, nil
}
