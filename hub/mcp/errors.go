package mcp

import (
	"errors"
	"fmt"
	"io"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/process"
)

// DeclinedError ends a call whose server asked for something that a user refused and that the protocol cannot refuse on
// the wire: sampling within a multi round-trip request, or a URL that the server requires.
type DeclinedError struct {
	Kind    QuestionKind
	Action  Action // Decline or Dismiss
	Unasked bool   // see Answer
}

func (e *DeclinedError) Error() string {
	if e.Unasked {
		return fmt.Sprintf("the call ended because nobody could be asked its %s question", e.Kind)
	}
	verb := "declined"
	if e.Action == Dismiss {
		verb = "dismissed"
	}
	return fmt.Sprintf("the call ended because its %s question was %s", e.Kind, verb)
}

// ErrCallOver is what Handler.Ask returns for a question in a request of the server whose call is over or was
// cancelled: no user is asked, or not any more. The server gets the answer that was returned with it after a second,
// unless it withdraws the question itself. In that second the question does not count against the server's open
// requests.
var ErrCallOver = errors.New("the call that led to the question is over")

// ProtocolError reports that the server's answer violates its revision.
type ProtocolError struct{ Text string }

func (e *ProtocolError) Error() string { return e.Text }

// BoundError reports that a server asked for more than a bound of the hub allows (package bounds). No user was asked.
type BoundError struct {
	Code int64 // the code of the JSON-RPC error that a legacy server gets
	Text string
}

func (e *BoundError) Error() string { return e.Text }

// tooLarge returns the error for something that has n bytes.
func tooLarge(what string, n, limit int) *BoundError {
	return &BoundError{jsonrpc.CodeInvalidParams, fmt.Sprintf("%s has %s, and may have %s", what, bounds.Bytes(n),
		bounds.Bytes(limit))}
}

// CapabilityError reports that the server has not declared the capability that a request needs. Nothing was sent.
type CapabilityError struct {
	Server     string // the hub's name of the server
	Capability string // as the protocol names it, such as "resources.subscribe"
}

func (e *CapabilityError) Error() string {
	return fmt.Sprintf("server %q does not offer %s", e.Server, e.Capability)
}

// ArgumentsError reports that the caller's arguments cannot be sent. Nothing was sent.
type ArgumentsError struct{ Text string }

func (e *ArgumentsError) Error() string { return e.Text }

// StartError reports why a session could not be started, with the server's exit status and last words if they are
// known.
type StartError struct {
	Server string
	Stage  string // "open", "server/discover" or "initialize"
	Err    error
	Noise  string // what it wrote on stdout that is no message, and advice; "" if nothing
	Ended  string // from Link.Ended; "" if unknown
}

func (e *StartError) Error() string {
	text := fmt.Sprintf("server %q did not start: %s", e.Server, e.How())
	if words := e.Words(); words != "" {
		text += "; " + words
	}
	return text
}

// Words returns what the server has printed and how it ended, or "" if nothing is known.
func (e *StartError) Words() string {
	if e.Noise != "" && e.Ended != "" {
		return e.Noise + "; " + e.Ended
	}
	return e.Noise + e.Ended
}

func (e *StartError) Unwrap() error { return e.Err }

// How returns what failed, without the server's name and last words.
func (e *StartError) How() string {
	if refusal := rpcError(e.Err); refusal != nil && e.Stage != "open" {
		return fmt.Sprintf("it answered %s with error %d: %s", e.Stage, refusal.Code, bounds.Printable(refusal.Message))
	}
	return inWords(e.Err)
}

// inWords returns err's text for people, with bounded text of the server.
func inWords(err error) string {
	if closed := (*jsonrpc.ClosedError)(nil); errors.As(err, &closed) {
		switch {
		case errors.Is(closed.Cause, io.EOF):
			return "it closed its output"
		case errors.Is(closed.Cause, jsonrpc.ErrStalled):
			return "it has stopped reading its input"
		}
	}
	if unstarted := (*process.StartError)(nil); errors.As(err, &unstarted) {
		return fmt.Sprintf("command %q: %s", unstarted.Command, unstarted.Message)
	}
	if both := (*bothFailedError)(nil); errors.As(err, &both) {
		return both.Error()
	}
	if refusal := rpcError(err); refusal != nil {
		return fmt.Sprintf("the server answered with error %d: %s", refusal.Code, bounds.Printable(refusal.Message))
	}
	return err.Error()
}

// EndedError reports that a session that had been started has ended.
type EndedError struct {
	Server string
	Err    error
	Ended  string // from Link.Ended; "" if unknown
	// ProcessGone reports that the server was our child process, and that it has ended. Whether any other server goes on
	// is not known.
	ProcessGone bool
}

func (e *EndedError) Error() string {
	text := fmt.Sprintf("the connection to server %q ended: %s", e.Server, inWords(e.Err))
	if e.Ended != "" {
		text += "; " + e.Ended
	}
	return text
}

func (e *EndedError) Unwrap() error { return e.Err }

// ElicitationCompleted ends the questions about a URL that the server reports as done
// (notifications/elicitation/complete, 2025-11-25).
type ElicitationCompleted struct{ ElicitationID string }

func (e *ElicitationCompleted) Error() string { return "the server reports that the page is done with" }

// SiblingError ends the open questions of a round when another question of that round has ended the whole call.
type SiblingError struct{ Err error }

func (e *SiblingError) Error() string {
	return "another question of the same call ended it: " + e.Err.Error()
}

func (e *SiblingError) Unwrap() error { return e.Err }
