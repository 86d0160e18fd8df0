package jsonrpc

import (
	"bytes"
	"errors"
	"strconv"

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

// MarshalJSON returns the text of the id as it came, and null for the zero ID.
func (id ID) MarshalJSON() ([]byte, error) {
	if id.raw == "" {
		return []byte("null"), nil
	}
	return []byte(id.raw), nil
}

// UnmarshalJSON is ParseID, except that null sets the zero ID.
func (id *ID) UnmarshalJSON(raw []byte) error {
	if string(raw) == "null" {
		*id = ID{}
		return nil
	}
	parsed, err := ParseID(raw)
	if err != nil {
		return err
	}
	*id = parsed
	return nil
}
