package jsonrpc

import (
	"context"
	"errors"
	"fmt"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

var (
	// ErrClosed is what every *ClosedError is, by errors.Is.
	ErrClosed = errors.New("jsonrpc: connection closed")
	// ErrStalled is the cause with which a Peer without Options.Stalled ends when the other side has stopped reading.
	ErrStalled = errors.New("jsonrpc: the peer has stopped reading")
	// ErrInvalidJSON is returned for params that are no JSON text: they would damage the message around them.
	ErrInvalidJSON = errors.New("jsonrpc: params are not valid JSON")
	// ErrDuplicateID is returned by RequestTracker.Register for an id that is pending in that direction.
	ErrDuplicateID = errors.New("jsonrpc: the id is already pending")
	// ErrUncancellable is returned by RequestTracker.Cancel for the requests that open a session: a client must not
	// cancel initialize (basic/utilities/cancellation, every legacy revision), and server/discover stands in its place
	// in the modern era.
	ErrUncancellable = errors.New("jsonrpc: this request can not be cancelled")

	errRequestOver = errors.New("jsonrpc: the request is over")
)

// WithdrawnError is the cancel cause of an incoming request that the peer cancelled by notifications/cancelled, and
// what an own call fails with when Options.OnOutgoingCancelled let the peer end it.
type WithdrawnError struct {
	Reason string // as sent, untrusted, unbounded; "" when none was given
}

func (e *WithdrawnError) Error() string {
	if e.Reason == "" {
		return "jsonrpc: withdrawn by the peer"
	}
	return "jsonrpc: withdrawn by the peer: " + bounds.Printable(e.Reason)
}

// CancelReason passes the peer's own words on, when what it withdrew is why something else is cancelled.
func (e *WithdrawnError) CancelReason() string { return e.Reason }

// ClosedError is what pending calls fail with and what incoming requests are cancelled with when the connection ends.
// errors.Is(err, ErrClosed) holds, and Unwrap gives the cause.
type ClosedError struct {
	Cause error // io.EOF when the peer closed it; what Close was given; or the error of the connection. May be nil
}

func (e *ClosedError) Error() string {
	if e.Cause == nil {
		return ErrClosed.Error()
	}
	return ErrClosed.Error() + ": " + e.Cause.Error()
}

// Is makes every ClosedError an ErrClosed.
func (e *ClosedError) Is(target error) bool { return target == ErrClosed }

func (e *ClosedError) Unwrap() error { return e.Cause }

// CancelledError is what a call that was cancelled on this side fails with.
// What became of the cancel on its way to the peer is told by Delivery and OnDelivery.
type CancelledError struct {
	Cause error // why: the cause of the context, or what RequestTracker.Cancel was given
	Sent  bool  // the cancel route was used; that the peer has got the cancel is another thing: see Delivery

	way cancelWay
}

func (e *CancelledError) Error() string {
	if e.Cause == nil {
		return "jsonrpc: call cancelled"
	}
	return "jsonrpc: call cancelled: " + e.Cause.Error()
}

func (e *CancelledError) Unwrap() error { return e.Cause }

// QueueFullError says that the peer reads too slowly: the bytes that wait to be written have reached the limit.
type QueueFullError struct {
	Queued int // bytes that wait
	Size   int // bytes of the refused message
	Limit  int // Options.WriteQueueBytes
}

func (e *QueueFullError) Error() string {
	return fmt.Sprintf("jsonrpc: the write queue is full (%d bytes wait, %d more would pass the limit of %d)", e.Queued,
		e.Size, e.Limit)
}

// ResultTooLargeError is what a call fails with when its response was longer than the connection's limit, or found no
// room on Options.Results.
type ResultTooLargeError struct {
	Limit int   // bytes allowed
	Size  int64 // bytes that came
	Err   error // the account's, if it was that; else nil
}

func (e *ResultTooLargeError) Unwrap() error { return e.Err }

func (e *ResultTooLargeError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("jsonrpc: the response of %d bytes found no room: %v", e.Size, e.Err)
	}
	return fmt.Sprintf("jsonrpc: the response has %d bytes, more than the limit of %d (setting maxMessageBytes)", e.Size,
		e.Limit)
}

// InvalidResponseError is what a call fails with when its response is JSON, but no JSON-RPC response.
type InvalidResponseError struct {
	Detail string // what is wrong, in fixed words of this package
}

func (e *InvalidResponseError) Error() string { return "jsonrpc: invalid response: " + e.Detail }

// Reasoner is a cancel cause that knows the words for the peer: what it returns becomes the reason of
// notifications/cancelled, and "" means that no reason is sent.
type Reasoner interface{ CancelReason() string }

// reasonOf is the reason for the peer. context.Canceled alone says nothing that a peer could use.
func reasonOf(cause error) string {
	var r Reasoner
	switch {
	case cause == nil || cause == context.Canceled:
		return ""
	case errors.As(cause, &r):
		return r.CancelReason()
	}
	return cause.Error()
}
