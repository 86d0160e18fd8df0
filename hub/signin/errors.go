package signin

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/transport"
)

var (
	// ErrClosed is returned by all calls that wait when the SignIn is closed.
	ErrClosed = errors.New("the sign-in was closed")
	// ErrSignedOut is returned by a sign-in that runs when the user signs out.
	ErrSignedOut = errors.New("signed out")

	errNobodyWaits = errors.New("nobody waits for the sign-in any more")
)

// DeclinedError is returned by a sign-in that a person did not want. For the time [quiet] after it, requests that need
// a token fail with it at once, without a prompt. [SignIn.SignIn] asks in any case.
type DeclinedError struct {
	// Server is the name in the configuration.
	Server string
	// How is "declined", "dismissed", "abandoned" (nobody waits any more) or "denied" (at the authorization server).
	How string
}

// quiet is how long nobody is asked again after a sign-in that was not wanted.
const quiet = time.Minute

func (e *DeclinedError) Error() string {
	return fmt.Sprintf(
		"the sign-in to %s was %s; it is not asked for again for a minute: to try sooner, sign in to the server by hand",
		e.Server, e.How)
}

// Is reports whether target is transport.ErrNoSignIn.
func (e *DeclinedError) Is(target error) bool { return target == transport.ErrNoSignIn }

// RefusedError is a 403 that no sign-in can fix, or a step-up that was tried too often.
type RefusedError struct {
	Server string
	Text   string
}

func (e *RefusedError) Error() string { return e.Server + " refuses the request: " + e.Text }

// Is reports whether target is transport.ErrNoSignIn.
func (e *RefusedError) Is(target error) bool { return target == transport.ErrNoSignIn }

// Error is a sign-in that failed for technical reasons. The next request may try again at once.
type Error struct {
	Server string
	// Text is bounded, printable and without secrets.
	Text string
	// Code is the OAuth error code of the authorization server, or "" if it gave none.
	Code string
	// Unasked is the unchanged error of the Asker if nobody could be asked, else nil.
	Unasked error
}

func (e *Error) Error() string { return "signing in to " + e.Server + " failed: " + e.Text }

// Unwrap returns Unasked.
func (e *Error) Unwrap() error { return e.Unasked }

// failure converts the error that ended a flow to one for callers. Errors of the libraries may include the bodies of
// answers: only their text is used, shortened, and without secrets and control characters.
func (s *SignIn) failure(ctx context.Context, err error, secrets ...string) error {
	var declined *DeclinedError
	var refused *RefusedError
	var own *Error
	switch {
	case errors.As(err, &declined), errors.As(err, &refused), errors.As(err, &own):
		return err
	case ctx.Err() != nil && context.Cause(ctx) != nil:
		return context.Cause(ctx)
	}
	text, code := err.Error(), ""
	var retrieve *oauth2.RetrieveError
	if errors.As(err, &retrieve) {
		code = bounds.Printable(retrieve.ErrorCode)
		switch {
		case code != "":
			text = "the authorization server answers " + code
			if retrieve.ErrorDescription != "" {
				text += ": " + retrieve.ErrorDescription
			}
		case retrieve.Response != nil:
			text = "the authorization server answers with status " + retrieve.Response.Status
		}
	}
	if cannotRegister(err) {
		text = "the authorization server does not let this program register itself; set a client id for the server in its configuration (" + text + ")"
	}
	secrets = append(secrets, secretsOf(&s.o.Config)...)
	// some servers take a key in the query, and the addresses of their metadata include it
	secrets = append(secrets, s.url.RawQuery)
	return &Error{Server: s.o.Server, Text: bounds.Printable(without(text, secrets...)), Code: without(code, secrets...)}
}

// noSignIn is the message for a server that answers 401 and has no metadata: most of these want a key.
const noSignIn = `the server answers 401 (Unauthorized) and offers no sign-in; if it wants a key or a token, set it in ` +
	`"headers" of its configuration ("Authorization": "Bearer ..."), on the command line with ` +
	`--header 'Authorization: Bearer ...'; if it has a sign-in of OAuth, set a client id`

// cannotRegister reports whether err says that this program has no client id at an authorization server, and got none.
func cannotRegister(err error) bool {
	text := err.Error()
	return strings.Contains(text, "registration failed") || strings.Contains(text, "no configured client registration")
}

// without returns s with the secrets replaced. A peer may echo what it was sent.
func without(s string, secrets ...string) string {
	for _, secret := range secrets {
		if secret != "" {
			s = strings.ReplaceAll(s, secret, "[secret]")
			s = strings.ReplaceAll(s, url.QueryEscape(secret), "[secret]")
		}
	}
	return s
}
