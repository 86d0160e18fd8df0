package jsonrpc

import (
	"errors"
	"fmt"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

var (
	// ErrClosed matches every *ClosedError with errors.Is.
	ErrClosed = errors.New("jsonrpc: connection closed")
	// ErrStalled is the cause with which a Peer without Options.Stalled ends when the other side has stopped reading.
	ErrStalled = errors.New("jsonrpc: the peer has stopped reading")
	// ErrInvalidJSON is returned for params that are not valid JSON: they would damage the message around them.
	ErrInvalidJSON = errors.New("jsonrpc: params are not valid JSON")
	// ErrDuplicateID is returned by RequestTracker.Register for an id that is pending in that direction.
	ErrDuplicateID = errors.New("jsonrpc: the id is already pending")
	// ErrUncancellable is returned by RequestTracker.Cancel for the requests that open a session: a client must not cancel
	// initialize (basic/utilities/cancellation, every legacy revision), and server/discover takes its place in the modern
	// era.
	ErrUncancellable = errors.New("jsonrpc: this request can not be cancelled")

	errRequestOver = errors.New("jsonrpc: the request is over")
)

// WithdrawnError is the cancel cause of an incoming request that the peer cancelled by notifications/cancelled. It is
// also the error of one of our calls that Options.OnOutgoingCancelled let the peer end.
type WithdrawnError struct {
	Reason string // as sent, untrusted, unbounded; "" when none was given
}

func (e *WithdrawnError) Error() string {
	if e.Reason == "" {
		return "jsonrpc: withdrawn by the peer"
	}
	return "jsonrpc: withdrawn by the peer: " + bounds.Printable(e.Reason)
}

// CancelReason returns the peer's reason: if the withdrawn request causes another cancel, that cancel has this reason.
func (e *WithdrawnError) CancelReason() string { return e.Reason }

// ClosedError is the error of pending calls, and the cancel cause of incoming requests, when the connection ends. It
// matches ErrClosed with errors.Is, and Unwrap returns the cause.
type ClosedError struct {
	Cause error // io.EOF when the peer closed it; what Close was given; or the error of the connection. May be nil
}

func (e *ClosedError) Error() string {
	if e.Cause == nil {
		return ErrClosed.Error()
	}
	return ErrClosed.Error() + ": " + e.Cause.Error()
}

// Is reports whether target is ErrClosed.
func (e *ClosedError) Is(target error) bool { return target == ErrClosed }

func (e *ClosedError) Unwrap() error { return e.Cause }

// QueueFullError reports that the peer reads too slowly: the bytes that wait to be written have reached the limit.
type QueueFullError struct {
	Queued int // bytes that wait
	Size   int // bytes of the refused message
	Limit  int // Options.WriteQueueBytes
}

func (e *QueueFullError) Error() string {
	return fmt.Sprintf("jsonrpc: the write queue is full (%d bytes wait, %d more would pass the limit of %d)", e.Queued,
		e.Size, e.Limit)
}

// ResultTooLargeError is the error of a call whose response was longer than the connection's limit, or for which
// Options.Results had no room.
type ResultTooLargeError struct {
	Limit int   // bytes allowed
	Size  int64 // bytes that came
	Err   error // the error of the account, if it had no room; else nil
}

func (e *ResultTooLargeError) Unwrap() error { return e.Err }

func (e *ResultTooLargeError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("jsonrpc: the response of %d bytes found no room: %v", e.Size, e.Err)
	}
	return fmt.Sprintf("jsonrpc: the response has %d bytes, more than the limit of %d (setting maxMessageBytes)", e.Size,
		e.Limit)
}

// InvalidResponseError is the error of a call whose response is JSON, but not a JSON-RPC response.
type InvalidResponseError struct {
	Detail string // what is wrong, in fixed words of this package
}

func (e *InvalidResponseError) Error() string { return "jsonrpc: invalid response: " + e.Detail }
