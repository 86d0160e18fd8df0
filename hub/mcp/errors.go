package mcp

import (
	"errors"
	"fmt"
	"io"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// DeclinedError ends a call whose server asked for something that a person refused and that the protocol cannot refuse
// on the wire: sampling within a multi round-trip request, or a URL that the server requires.
type DeclinedError struct {
	Kind   QuestionKind
	Action Action // Decline or Dismiss
}

func (e *DeclinedError) Error() string {
	verb := "declined"
	if e.Action == Dismiss {
		verb = "dismissed"
	}
	return fmt.Sprintf("the call ended because its %s question was %s", e.Kind, verb)
}

// ErrCallOver is what Handler.Ask returns for a question in a request of the server whose call is over or was
// cancelled: nobody is asked, or any more. The server gets the answer that comes with it, after a second, unless it
// withdraws the question itself. In that second the question takes none of the places of the server.
var ErrCallOver = errors.New("the call that led to the question is over")

// ProtocolError says that the server answered something that its revision does not allow.
type ProtocolError struct{ Text string }

func (e *ProtocolError) Error() string { return e.Text }

// BoundError says that a server asked for more than a bound of the hub allows (package bounds). Nobody was asked.
type BoundError struct {
	Code int64 // of the JSON-RPC error that a legacy server gets
	Text string
}

func (e *BoundError) Error() string { return e.Text }

// tooLarge refuses what has n bytes.
func tooLarge(what string, n, limit int) *BoundError {
	return &BoundError{jsonrpc.CodeInvalidParams, fmt.Sprintf("%s has %s, and may have %s", what, bounds.Bytes(n),
		bounds.Bytes(limit))}
}

// CapabilityError says that the server has not declared what the caller wants of it. Nothing was sent.
type CapabilityError struct {
	Server     string // the hub's name of it
	Capability string // as the protocol names it, such as "resources.subscribe"
}

func (e *CapabilityError) Error() string {
	return fmt.Sprintf("server %q does not offer %s", e.Server, e.Capability)
}

// ArgumentsError says that what the caller handed in cannot be sent. Nothing was sent.
type ArgumentsError struct{ Text string }

func (e *ArgumentsError) Error() string { return e.Text }

// StartError says why a session did not come up, with the server's exit status and last words where they are known.
type StartError struct {
	Server string
	Stage  string // "open", "server/discover" or "initialize"
	Err    error
	Noise  string              // what it wrote on stdout that is no message, and what to do; "" when nothing
	Ended  string              // from Link.Ended; "" when unknown
	Memory transport.MemoryUse // from Link.Memory; zero when that was not it
}

func (e *StartError) Error() string {
	text := fmt.Sprintf("server %q did not start: %s", e.Server, e.How())
	if words := e.Words(); words != "" {
		text += "; " + words
	}
	return text
}

// Words is what the server has said and how it ended, "" when nothing is known.
func (e *StartError) Words() string {
	if e.Noise != "" && e.Ended != "" {
		return e.Noise + "; " + e.Ended
	}
	return e.Noise + e.Ended
}

func (e *StartError) Unwrap() error { return e.Err }

// How says what failed, without the server's name and last words.
func (e *StartError) How() string {
	if refusal := rpcError(e.Err); refusal != nil && e.Stage != "open" {
		return fmt.Sprintf("it answered %s with error %d: %s", e.Stage, refusal.Code, bounds.Printable(refusal.Message))
	}
	return inWords(e.Err)
}

// inWords is err's text, for people, with the words of a server bounded.
func inWords(err error) string {
	if closed := (*jsonrpc.ClosedError)(nil); errors.As(err, &closed) {
		switch {
		case errors.Is(closed.Cause, io.EOF):
			return "it closed its output"
		case errors.Is(closed.Cause, jsonrpc.ErrStalled):
			return "it has stopped reading its input"
		}
	}
	if unstarted := (*transport.StartError)(nil); errors.As(err, &unstarted) {
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

// EndedError says that a session that had come up is over.
type EndedError struct {
	Server string
	Err    error
	Ended  string              // from Link.Ended; "" when unknown
	Memory transport.MemoryUse // from Link.Memory; zero when that was not it
	// ProcessGone: the server was a process of ours, and it has ended. Of any other server nobody knows whether it goes
	// on.
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
