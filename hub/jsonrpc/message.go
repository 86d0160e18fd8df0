package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// ID is an opaque wire id: the exact JSON text of a string or a number, compared byte by byte. 1, "1" and 1.0 are three
// different ids, and large integers are preserved, because nothing is decoded. The zero ID means that there is no id.
//
// An ID is comparable and may be a map key. It holds a copy of the text from which it was made.
type ID struct{ raw string }

// ErrInvalidID is returned for a JSON text that is not a string or a number. MCP allows no other ids; null is
// forbidden, too (2025-11-25 and 2026-07-28, basic, "Requests").
var ErrInvalidID = errors.New("jsonrpc: an id must be a JSON string or number")

// ParseID returns the ID with the text raw, which must be exactly one JSON string or number with optional white space
// around it. Otherwise the error is ErrInvalidID.
func ParseID(raw []byte) (ID, error) {
	raw = bytes.Trim(raw, " \t\r\n")
	if !jsontext.IsID(raw) {
		return ID{}, ErrInvalidID
	}
	return ID{raw: string(raw)}, nil
}

// IntID returns the id whose JSON text is n in decimal digits.
func IntID(n int64) ID { return ID{raw: strconv.FormatInt(n, 10)} }

// String returns the JSON text: 7 for a number, "7" with its quotes for a string, and "" for the zero ID.
func (id ID) String() string { return id.raw }

// IsZero reports whether id is the zero ID.
func (id ID) IsZero() bool { return id.raw == "" }

// Error codes of JSON-RPC 2.0 section 5.1, and the one code to which this package gives a meaning of its own.
const (
	CodeParseError     = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternalError  = -32603
	// CodeTooManyRequests is the answer to requests beyond Options.MaxIncoming. It lies in the range that the 2026-07-28
	// "Error Codes" policy leaves without portable meaning, so a peer cannot misread it.
	CodeTooManyRequests = -32000
)

// Error is a JSON-RPC error object. As the error of a call it is the peer's answer. If a request handler returns it, it
// is sent to the peer as it is. Message and Data of a received Error are the peer's text, and untrusted.
type Error struct {
	Code    int64
	Message string
	Data    json.RawMessage // the exact text that came; nil when there was none
}

// Error returns the code and the message, for people.
func (e *Error) Error() string {
	return "jsonrpc: error " + strconv.FormatInt(e.Code, 10) + ": " + e.Message
}

// ReadError parses an error object of a response. The error is an *InvalidResponseError if the text is not an object
// with an integer code; other members that cannot be understood are ignored.
func ReadError(text []byte) (*Error, error) {
	e := &Error{}
	hasCode := false
	object := jsontext.Members(text, func(name []byte, value json.RawMessage) bool {
		switch string(name) {
		case "code":
			e.Code, hasCode = integer(value)
		case "message":
			e.Message = jsontext.String(value)
		case "data":
			e.Data = bytes.Clone(value)
		}
		return true
	})
	switch {
	case !object:
		return nil, &InvalidResponseError{Detail: "the error is no object"}
	case !hasCode:
		return nil, &InvalidResponseError{Detail: "the error has no integer code"}
	}
	return e, nil
}

// integer parses a number with an integral value in any JSON notation.
func integer(text []byte) (int64, bool) {
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return n, true
	}
	f, err := json.Number(text).Float64()
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<63 {
		return 0, false
	}
	return int64(f), true
}

// Outgoing messages are built by appending bytes, because their parts are JSON text already.

func appendRequest(b []byte, id ID, method string, params json.RawMessage) []byte {
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = append(b, id.raw...)
	b = append(b, `,"method":`...)
	b = jsontext.AppendString(b, method)
	return appendParams(b, params)
}

// NotificationMessage returns a complete notification, on one line. params must be valid JSON or empty.
func NotificationMessage(method string, params json.RawMessage) []byte {
	b := jsontext.AppendString([]byte(`{"jsonrpc":"2.0","method":`), method)
	return appendParams(b, params)
}

func appendParams(b []byte, params json.RawMessage) []byte {
	if len(params) > 0 {
		b = append(b, `,"params":`...)
		b = appendText(b, params)
	}
	return append(b, '}')
}

func appendResult(b []byte, id ID, result json.RawMessage) []byte {
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = append(b, id.raw...)
	b = append(b, `,"result":`...)
	if len(result) == 0 {
		b = append(b, "{}"...) // every MCP result is an object, the empty one included
	} else {
		b = appendText(b, result)
	}
	return append(b, '}')
}

func appendError(b []byte, id ID, e *Error) []byte {
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	if id.IsZero() { // the error answers a request whose id could not be read
		b = append(b, "null"...)
	}
	b = append(b, id.raw...)
	b = append(b, `,"error":{"code":`...)
	b = append(b, IntID(e.Code).raw...)
	b = append(b, `,"message":`...)
	b = jsontext.AppendString(b, e.Message)
	if len(e.Data) > 0 {
		b = append(b, `,"data":`...)
		b = appendText(b, e.Data)
	}
	return append(b, "}}"...)
}

// appendText appends valid JSON text. It replaces line breaks by blanks, because a message is one line
// (basic/transports, "stdio", every revision). In valid JSON a line break can only stand between tokens.
func appendText(b []byte, text []byte) []byte {
	if bytes.IndexByte(text, '\n') < 0 && bytes.IndexByte(text, '\r') < 0 {
		return append(b, text...)
	}
	for _, c := range text {
		if c == '\n' || c == '\r' {
			c = ' '
		}
		b = append(b, c)
	}
	return b
}

// Response returns the complete response to a request, on one line. If err is an *Error, it is the answer. Any other
// error is not shown to the peer: the answer is then CodeInternalError, and hidden is that error. A result that is not
// valid JSON would damage the message around it, and is treated as such an error. refusal is the error in the message,
// or nil if the message has a result.
func Response(id ID, result json.RawMessage, err error) (message []byte, refusal *Error, hidden error) {
	switch {
	case errors.As(err, &refusal):
		if len(refusal.Data) > 0 && !jsontext.Valid(refusal.Data) {
			refusal = &Error{Code: refusal.Code, Message: refusal.Message}
		}
	case err == nil && len(result) > 0 && !jsontext.Valid(result):
		err = ErrInvalidJSON
		fallthrough
	case err != nil:
		refusal, hidden = &Error{Code: CodeInternalError, Message: "internal error"}, err
	default:
		const around = len(`{"jsonrpc":"2.0","id":,"result":{}}` + "\n")
		return appendResult(make([]byte, 0, around+len(id.raw)+len(result)), id, result), nil, nil
	}
	return appendError(nil, id, refusal), refusal, hidden
}

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

	errRequestOver     = errors.New("jsonrpc: the request is over")
	errWithdrawnBefore = errors.New("jsonrpc: the request was withdrawn before it came")
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
