package jsonrpc

import (
	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// Conn is one ordered message connection. One goroutine reads it, and at most one at a time writes it. Close may be
// called by any goroutine.
type Conn interface {
	// ReadMessage returns the next message. Its bytes are valid until the next call. A *jsontext.TooLongError stands for
	// one message that was skipped, a *CallFailedError for a response that will not come; reading goes on after both. Any
	// other error is the end of the connection.
	ReadMessage() ([]byte, error)
	// WriteMessages writes complete messages, in order, in as few system calls as it can. It may block as long as the
	// other side does not read. It must not retain the batch. An empty batch is allowed.
	WriteMessages(batch [][]byte) error
	// Close ends both directions and unblocks ReadMessage and WriteMessages. It is bounded in time, idempotent, and safe
	// for concurrent use.
	Close() error
}

// TryWriter is an optional extension of a Conn, for writing from the goroutine of a caller.
type TryWriter interface {
	// TryWrite writes as much of msg and its framing as the other side accepts now, and never blocks. taken counts bytes,
	// including the framing. If taken > 0 and done is false, the Conn has kept a copy of the rest and writes it first in
	// the next WriteMessages; if taken is 0, nothing was kept. Like WriteMessages it is never called concurrently.
	TryWrite(msg []byte) (taken int, done bool, err error)
}

// WriteProgress is an optional extension of a Conn that counts the bytes that the other side has accepted so far, also
// during a WriteMessages. Without it, a Peer sees progress only when WriteMessages returns. It must be safe for
// concurrent use.
type WriteProgress interface {
	WriteProgress() uint64
}

// Sender is an optional extension of a Conn that carries each message separately, as over HTTP. A Peer passes every
// message to it and never calls WriteMessages: there is no queue and no stall, and a message that was passed counts as
// written.
type Sender interface {
	// Send takes ownership of one message and never blocks. It is called in the order of the messages. ReadMessage reports
	// what becomes of the message. Send is called with a lock of the Peer held, so it must not call the Peer. An error
	// means that the Sender took neither this message nor will take any other.
	Send(m OutgoingMessage) error
}

// OutgoingMessage is one message for a Sender.
type OutgoingMessage struct {
	Message []byte // complete; it belongs to the Sender
	ID      ID     // the id of a request; zero for a notification or a response
	Method  string // "" for a response
	Extra   any    // How.Extra, untouched
}

// Sourced is an optional extension of a Conn that knows for which request a message came.
type Sourced interface {
	// Source returns the id of our request in whose answer the message came that ReadMessage returned last, or the zero ID
	// if it came with no answer. Only the reading goroutine calls it.
	Source() ID
}

// Reading is an optional extension of a Conn that knows more about the message that ReadMessage returned last.
type Reading interface {
	// Reading returns the parsed message, if the connection had to parse it itself, so that it is not parsed again.
	// Otherwise the kind is jsontext.Invalid. owned reports whether the caller owns the bytes of the message: the
	// connection does not use them again. Only the reading goroutine calls it, once after each message.
	Reading() (m jsontext.Message, kind jsontext.Kind, owned bool)
}

// Counted is an optional extension of a Conn that accounts for the messages while it reads them.
type Counted interface {
	// Count sets the account to which large messages are charged, from the time their first part was read. It is called
	// before anything is read.
	Count(on *bounds.Account)
	// Hold returns the hold of the message that ReadMessage returned last, and passes its ownership to the caller. It
	// returns nil if nothing is held, or if the connection still owns the bytes. Only the reading goroutine calls it, once
	// after each message.
	Hold() *bounds.Hold
}

// CallFailedError is what ReadMessage returns in place of the response to one of our requests that gets none. Reading
// goes on. The call fails with Err, after everything that came before; an id that is not pending is ignored.
type CallFailedError struct {
	ID  ID
	Err error
}

func (e *CallFailedError) Error() string {
	return "jsonrpc: no answer to request " + bounds.Printable(e.ID.raw) + ": " + e.Err.Error()
}

func (e *CallFailedError) Unwrap() error { return e.Err }
