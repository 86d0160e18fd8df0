package jsonrpc

import (
	"bytes"
	"encoding/json"

	"github.com/mcphub-go/mcphub/hub/jsontext"
)

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
