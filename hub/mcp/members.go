package mcp

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// The functions of jsontext that are used everywhere in this package. Their argument is valid JSON: it comes from
// jsonrpc.

func eachMember(raw []byte, f func(name []byte, value json.RawMessage) bool) bool {
	return jsontext.Members(raw, f)
}

func member(raw []byte, name string) json.RawMessage { return jsontext.Get(raw, name) }

func stringOf(raw json.RawMessage) string { return jsontext.String(raw) }

// elements returns the elements of an array, or nil and false for any other value.
func elements(raw json.RawMessage) (list []json.RawMessage, array bool) {
	if array = jsontext.Elements(raw, func(v json.RawMessage) bool {
		list = append(list, v)
		return true
	}); !array {
		return nil, false
	}
	return list, true
}

// number returns the value of a JSON number.
func number(raw json.RawMessage) (float64, bool) {
	// ParseFloat also accepts hexadecimal, Inf, NaN and underscores, but valid JSON has none of these.
	f, err := strconv.ParseFloat(string(raw), 64)
	return f, err == nil
}

// textOf returns the value of a string, or nil for any other value.
func textOf(raw json.RawMessage) *string {
	if !jsontext.IsString(raw) {
		return nil
	}
	text := jsontext.String(raw)
	return &text
}

func isNull(raw json.RawMessage) bool { return jsontext.IsNull(raw) }

// isObject reports whether raw, which need not be JSON at all, is one valid JSON object.
func isObject(raw json.RawMessage) bool { return jsontext.IsObject(raw) }

// oneLine returns raw without line breaks, because stdio allows none within a message (basic/transports, every
// revision). Valid JSON has line breaks only between tokens, so only layout is lost.
func oneLine(raw json.RawMessage) json.RawMessage {
	if !bytes.ContainsAny(raw, "\n\r") {
		return raw
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}
