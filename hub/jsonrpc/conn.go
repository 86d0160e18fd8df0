package jsonrpc

import (
	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// Conn is one ordered message connection. One goroutine reads it, and at most one at a time writes it. Close may be
// called by any goroutine.
type Conn interface {
	// ReadMessage returns the next message. A message that is large is charged to results, which may be nil, from the time
	// its first part was read; see Message.Hold. A *jsontext.TooLongError stands for one message that was skipped, a
	// *CallFailedError for a response that will not come; reading goes on after both. Any other error is the end of the
	// connection.
	ReadMessage(results *bounds.Account) (Message, error)
	// WriteMessages writes complete messages, in order, in as few system calls as it can. It may block as long as the
	// other side does not read. It must not retain the batch. An empty batch is allowed.
	WriteMessages(batch [][]byte) error
	// Close ends both directions and unblocks ReadMessage and WriteMessages. It is bounded in time, idempotent, and safe
	// for concurrent use.
	Close() error
}

// Message is one message that was read, with what the connection knows about it.
type Message struct {
	// Text is the complete message, valid until the next ReadMessage unless Owned is set.
	Text []byte
	// Parsed and Kind are set if the connection had to parse the message itself. Else Kind is jsontext.Invalid.
	Parsed jsontext.Message
	Kind   jsontext.Kind
	// Source is the id of our request in whose answer the message came, as over HTTP. It is zero if the message came with
	// no answer, or if that is not known.
	Source ID
	// Owned reports that the connection does not use the bytes of Text again.
	Owned bool
	// Hold is what is charged for Text. It passes to the caller; nil if nothing is charged, or if Owned is not set.
	Hold *bounds.Hold
	// Drained reports that every byte that was read has been returned. A Peer pauses its reading during a storm then.
	Drained bool
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
