package jsonrpc

import (
	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// Conn is one ordered message connection. One goroutine reads it and, at any moment, at most one writes it; Close may
// be called from anywhere.
type Conn interface {
	// ReadMessage gives the next message. Its bytes are valid until the next call. A *jsontext.TooLongError stands for
	// one message that was skipped, a *CallFailedError for one that will not come; reading goes on after both. Any other
	// error is the end.
	ReadMessage() ([]byte, error)
	// WriteMessages writes complete messages, in order, in as few system calls as it can. It may block as long as the
	// other side does not read. It keeps nothing of the batch once it has returned. An empty batch is allowed.
	WriteMessages(batch [][]byte) error
	// Close ends both directions and unblocks ReadMessage and WriteMessages. It is bounded in time, idempotent, and
	// may be called by several goroutines at once.
	Close() error
}

// TryWriter is an optional extra of a Conn, for writing from the goroutine of a caller.
type TryWriter interface {
	// TryWrite writes what the other side takes of msg and its framing right now, and never blocks. taken counts bytes
	// with the framing. With 0 < taken and done false, the Conn has kept the rest (a copy) and writes it first in the next
	// WriteMessages; with taken 0 nothing was kept. It is called like WriteMessages: never by two at once.
	TryWrite(msg []byte) (taken int, done bool, err error)
}

// WriteProgress is an optional extra of a Conn: how many bytes the other side has ever taken, also in the middle of a
// WriteMessages. Without it a Peer sees progress only when WriteMessages returns. It may be called at any moment.
type WriteProgress interface {
	WriteProgress() uint64
}

// Sender is an optional extra of a Conn whose messages travel each on its own, as over HTTP. A Peer hands every message
// to it and never calls WriteMessages: there is no queue, so nothing waits, nothing stalls, and what was handed over
// counts as written.
type Sender interface {
	// Send takes over one message, in the order in which they come, and never blocks; what becomes of it is told by
	// ReadMessage. It is called with a lock of the Peer held, so it must not call the Peer. An error means that the
	// message was not taken and that no other will be.
	Send(m OutgoingMessage) error
}

// OutgoingMessage is one message on its way to a Sender.
type OutgoingMessage struct {
	Message []byte // complete; it belongs to the Sender
	ID      ID     // of a request; zero for a notification and a response
	Method  string // "" for a response
	Extra   any    // How.Extra, untouched
}

// Sourced is an optional extra of a Conn that knows on whose behalf a message came.
type Sourced interface {
	// Source is the own request in whose answer the message came that ReadMessage returned last; zero when it came for
	// none. It is called by the reading goroutine alone.
	Source() ID
}

// Reading is an optional extra of a Conn that knows more of the message that ReadMessage returned last than its bytes.
type Reading interface {
	// Reading tells what the message says, if the connection had to read it itself: it is not read again. Else the kind is
	// jsontext.Invalid. owned: the bytes are not used again by the connection. It is called by the reading goroutine
	// alone, once after each message.
	Reading() (m jsontext.Message, kind jsontext.Kind, owned bool)
}

// Counted is an optional extra of a Conn that counts what it reads while it reads it.
type Counted interface {
	// Count gives the account on which large messages are, from the first part that was read of them. It is called
	// before anything is read.
	Count(on *bounds.Account)
	// Hold is what the message that ReadMessage returned last holds of it; who calls it owns that. nil: nothing, or
	// the bytes are still the connection's. It is called by the reading goroutine alone, once after each message.
	Hold() *bounds.Hold
}

// CallFailedError is what ReadMessage gives in place of the answer to one own request that gets none. Reading goes on.
// The call fails with Err, in order behind what came before; an id that is not pending is ignored.
type CallFailedError struct {
	ID  ID
	Err error
}

func (e *CallFailedError) Error() string {
	return "jsonrpc: no answer to request " + bounds.Printable(e.ID.raw) + ": " + e.Err.Error()
}

func (e *CallFailedError) Unwrap() error { return e.Err }
