package gateway

import (
	"bytes"
	"encoding/json"

	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// foreignMeta returns the members of a _meta object that are passed on: all except the progress token and the keys that
// MCP reserves, which belong to one connection. If there are none of these, it returns the text unchanged.
func foreignMeta(meta json.RawMessage) json.RawMessage {
	own := false
	b := []byte{'{'}
	jsontext.Members(meta, func(name []byte, value json.RawMessage) bool {
		if string(name) == protocol.MetaProgressToken || reserved(name) {
			own = true
			return true
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(jsontext.AppendString(b, string(name)), ':'), value...)
		return true
	})
	if !own {
		return meta
	}
	return append(b, '}')
}

// reserved reports whether MCP reserves a key of _meta (2026-07-28 basic/index, "_meta": the second label of the prefix
// is modelcontextprotocol or mcp).
func reserved(key []byte) bool {
	prefix, _, has := bytes.Cut(key, []byte("/"))
	if !has {
		return false
	}
	_, rest, more := bytes.Cut(prefix, []byte("."))
	second, _, _ := bytes.Cut(rest, []byte("."))
	return more && (string(second) == "modelcontextprotocol" || string(second) == "mcp")
}

// spliced returns an object with some members replaced or added. Everything else stays unchanged.
func spliced(object json.RawMessage, members ...member) json.RawMessage {
	b := make([]byte, 1, len(object)+64)
	b[0] = '{'
	add := func(name string, value []byte) {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(jsontext.AppendString(b, name), ':'), value...)
	}
	done := 0
	jsontext.Members(object, func(name []byte, value json.RawMessage) bool {
		for i, m := range members {
			if m.name == string(name) {
				if done&(1<<i) != 0 {
					return true
				}
				done |= 1 << i
				value = m.value
			}
		}
		add(string(name), value)
		return true
	})
	for i, m := range members {
		if done&(1<<i) == 0 {
			add(m.name, m.value)
		}
	}
	return append(b, '}')
}

// without returns an object without one of its members. If it has no member of that name, the text is returned
// unchanged.
func without(object json.RawMessage, left string) json.RawMessage {
	if jsontext.Get(object, left) == nil {
		return object
	}
	b := append(make([]byte, 0, len(object)), '{')
	jsontext.Members(object, func(name []byte, value json.RawMessage) bool {
		if string(name) != left {
			if len(b) > 1 {
				b = append(b, ',')
			}
			b = append(append(jsontext.AppendString(b, string(name)), ':'), value...)
		}
		return true
	})
	return append(b, '}')
}

type member struct {
	name  string
	value json.RawMessage
}

func text(name, value string) member { return member{name, jsontext.AppendString(nil, value)} }
