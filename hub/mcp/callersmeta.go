package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// CallersMeta parses the _meta that a caller sends with its request: JSON text of an object, or "" for none. It must
// not have a key that MCP reserves, nor a progress token: the session sets these itself. level is the lowest level of
// the log messages that are wanted during the request (2026-07-28 server/utilities/logging), or "" for none.
func CallersMeta(text, level string) (map[string]json.RawMessage, error) {
	if text == "" && level == "" {
		return nil, nil
	}
	meta := map[string]json.RawMessage{}
	object := text == "" || jsontext.Valid([]byte(text)) &&
		jsontext.Members([]byte(text), func(name []byte, value json.RawMessage) bool {
			meta[string(name)] = bytes.Clone(value)
			return true
		})
	if !object {
		return nil, errors.New("is no JSON object")
	}
	for k := range meta {
		if k == "progressToken" || reservedMeta(k) {
			return nil, fmt.Errorf("has the key %q, which the hub sets itself", bounds.Printable(k))
		}
	}
	if level != "" {
		meta[protocol.MetaLogLevel] = jsontext.AppendString(nil, level)
	}
	return meta, nil
}

// reservedMeta reports whether MCP reserves a _meta key for the protocol (2026-07-28 basic/index "_meta": the second
// label of the prefix is modelcontextprotocol or mcp).
func reservedMeta(key string) bool {
	prefix, _, ok := strings.Cut(key, "/")
	if !ok {
		return false
	}
	labels := strings.Split(prefix, ".")
	return len(labels) > 1 && (labels[1] == "modelcontextprotocol" || labels[1] == "mcp")
}
