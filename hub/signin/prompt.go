package signin

import (
	"context"
	"errors"
	"fmt"

	"github.com/mcphub-go/mcphub/hub/outbound"
)

// Prompt is what is shown to a person before and during a sign-in.
type Prompt struct {
	// Server is the name in the configuration.
	Server string
	// URL is what the host opens in an external browser after consent. It was checked: https, or http on loopback.
	URL string
	// URLHost is the host of URL in punycode. It should be shown prominently, since the person will type a password there.
	URLHost string
	// Issuer is the authorization server, Resource is what access is requested to, Scopes are the requested rights.
	Issuer   string
	Resource string
	Scopes   []string
	// StepUp says that the person has signed in before, and the server wants more rights.
	StepUp bool
	// Waiting says that the browser was opened, and the redirect has not come yet. The URL must not be opened again.
	Waiting bool
}

// Asker shows p to a person. It is called twice in a successful sign-in: first for consent, and then with Waiting.
//
// If it returns nil, the person consents; with Waiting, the person says "I have finished". [ErrDeclined] and
// [ErrDismissed] end the sign-in. Any other error means that nobody could be asked; the flow fails without further
// consequences. When ctx ends, Asker must remove the prompt and return soon. The cause is a [*Completed] if the
// redirect has come.
type Asker func(ctx context.Context, p Prompt) error

var (
	// ErrDeclined is returned by an Asker if the person has said no.
	ErrDeclined = errors.New("declined")
	// ErrDismissed is returned by an Asker if the person has closed the prompt without an answer.
	ErrDismissed = errors.New("dismissed")
)

// Completed is the cause with which the context of a prompt ends when the browser has come back.
type Completed struct{}

func (*Completed) Error() string { return "the browser has come back" }

// checkBrowserURL accepts only addresses that may be opened in a browser: the address comes from a server's metadata.
func checkBrowserURL(text string) (outbound.Page, error) {
	page, err := outbound.CheckPage(text)
	if err != nil {
		return outbound.Page{}, fmt.Errorf("the authorization URL %w", err)
	}
	return page, nil
}
