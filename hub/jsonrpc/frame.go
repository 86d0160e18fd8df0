package jsonrpc

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// The messages that leave are built by appending bytes: what they carry is JSON text already.

func appendRequest(b []byte, id ID, method string, params json.RawMessage) []byte {
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = append(b, id.raw...)
	b = append(b, `,"method":`...)
	b = appendString(b, method)
	return appendParams(b, params)
}

func appendNotification(b []byte, method string, params json.RawMessage) []byte {
	b = append(b, `{"jsonrpc":"2.0","method":`...)
	b = appendString(b, method)
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
	b = append(b, id.raw...)
	b = append(b, `,"error":{"code":`...)
	b = append(b, IntID(e.Code).raw...)
	b = append(b, `,"message":`...)
	b = appendString(b, e.Message)
	if len(e.Data) > 0 {
		b = append(b, `,"data":`...)
		b = appendText(b, e.Data)
	}
	return append(b, "}}"...)
}

func appendCancel(b []byte, id ID, reason string) []byte {
	b = append(b, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`...)
	b = append(b, id.raw...)
	if reason != "" {
		b = append(b, `,"reason":`...)
		b = appendString(b, reason)
	}
	return append(b, "}}"...)
}

// appendText appends valid JSON text. Line breaks can only stand between its tokens, and there they become blanks: a
// message is one line (basic/transports, "stdio", every revision).
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

// appendString appends s as a JSON string; bytes that are no UTF-8 become U+FFFD.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\t':
			b = append(b, '\\', 't')
		case c < 0x20 || c == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		case c < utf8.RuneSelf:
			b = append(b, c)
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			b = utf8.AppendRune(b, r)
			i += size
			continue
		}
		i++
	}
	return append(b, '"')
}
