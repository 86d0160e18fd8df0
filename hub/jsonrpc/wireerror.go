package jsonrpc

import (
	"encoding/json"
	"strconv"
)

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
