package jsonrpc

import (
	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// Conn is one connection. It is also either a Stream or a Sender. One goroutine reads it. Close may be called by any
// goroutine.
type Conn interface {
	// ReadMessage returns the next message. A message that is large is charged to results, which may be nil, from the time
	// its first part was read; see Message.Hold. A *jsontext.TooLongError stands for one message that was skipped, a
	// *CallFailedError for a response that will not come; reading goes on after both. Any other error is the end of the
	// connection.
	ReadMessage(results *bounds.Account) (Message, error)
	// Close ends both directions and unblocks ReadMessage and Write. It is bounded in time, idempotent, and safe for
	// concurrent use.
	Close() error
}

// Stream is a Conn of one ordered stream of bytes, with a message on each line. At most one goroutine at a time writes
// it, and only whole lines, the rest of a line that was written in part first.
type Stream interface {
	Conn
	// Write writes everything. It may block as long as the other side does not read.
	Write(lines []byte) (n int, err error)
	// TryWrite writes as much as the other side accepts now, which may be nothing, and never blocks.
	TryWrite(lines []byte) (n int, err error)
	// Written returns how many bytes the other side has accepted so far, also during a Write. It is safe for concurrent
	// use.
	Written() uint64
}

// Message is one message that was read, with what the connection knows about it.
type Message struct {
	// Text is the complete message, valid until the next ReadMessage unless Owned is set.
	Text []byte
	// The parsed message and its kind are set if the connection had to parse it itself. Else Kind is jsontext.Invalid.
	jsontext.Message
	Kind jsontext.Kind
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

// Sender is a Conn that carries each message separately, as over HTTP. A Peer passes every message to it: there is no
// queue and no stall, and a message that was passed counts as written.
type Sender interface {
	Conn
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
