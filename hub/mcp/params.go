package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// object builds a JSON object member by member. The values are JSON text.
type object struct {
	b     []byte
	empty bool
}

func newObject(size int) *object {
	return &object{b: append(make([]byte, 0, size), '{'), empty: true}
}

func (o *object) name(name string) {
	if !o.empty {
		o.b = append(o.b, ',')
	}
	o.empty = false
	o.b = jsontext.AppendString(o.b, name)
	o.b = append(o.b, ':')
}

func (o *object) raw(name string, value []byte) {
	o.name(name)
	o.b = append(o.b, value...)
}

func (o *object) text(name, value string) {
	o.name(name)
	o.b = jsontext.AppendString(o.b, value)
}

// either adds one of two JSON texts.
func (o *object) either(name string, first bool, yes, no string) {
	if !first {
		yes = no
	}
	o.name(name)
	o.b = append(o.b, yes...)
}

func (o *object) end() []byte { return append(o.b, '}') }

// requestMeta returns the _meta of one request, and the capabilities that the request declares to the server. The keys
// come from the caller and from the session, which takes precedence. _meta is nil if it would be empty.
//
// A modern request MUST carry the protocol version and the client's capabilities and SHOULD name the client (2026-07-28
// basic/index); a modern server logs for a request only if that request carries a level.
func (s *Session) requestMeta(given map[string]json.RawMessage, token string) ([]byte, Capabilities) {
	n := s.state.Load()
	modern := n.era == Modern
	if len(given) == 0 && token == "" && !modern {
		return nil, n.declared
	}
	size := 64
	if modern {
		size = 384
	}
	meta := newObject(size)
	level := ""
	if modern {
		level = moreTalkative(s.logLevel(), stringOf(given[protocol.MetaLogLevel]))
	}
	if len(given) > 0 {
		for _, k := range slices.Sorted(maps.Keys(given)) {
			if !ownMeta(k, modern) {
				meta.raw(k, oneLine(given[k]))
			}
		}
	}
	if token != "" {
		meta.raw(protocol.MetaProgressToken, []byte(token))
	}
	declared := n.declared
	if modern {
		declared = s.capabilities().at(Revision20260728)
		s.appendModernMeta(meta, declared, level)
	}
	return meta.end(), declared
}

func (s *Session) appendModernMeta(meta *object, declared Capabilities, level string) {
	meta.text(protocol.MetaProtocolVersion, Revision20260728)
	meta.raw(protocol.MetaClientInfo, s.clientInfo)
	meta.name(protocol.MetaCapabilities)
	meta.b = declared.appendTo(meta.b, Revision20260728)
	if level != "" {
		meta.text(protocol.MetaLogLevel, level)
	}
}

// moreTalkative returns the lower of two log levels, with which more is logged. Either may be "".
func moreTalkative(a, b string) string {
	i, j := slices.Index(protocol.LogLevels, a), slices.Index(protocol.LogLevels, b)
	if i < 0 || j >= 0 && j < i {
		return b
	}
	return a
}

func ownMeta(key string, modern bool) bool {
	switch key {
	case protocol.MetaProgressToken:
		return true
	case protocol.MetaProtocolVersion, protocol.MetaClientInfo, protocol.MetaCapabilities:
		return modern
	case protocol.MetaLogLevel: // the session sends it: see moreTalkative
		return true
	}
	return false
}

// plainParams returns the params of a request with the given members, as pairs of name and JSON text, and _meta.
func (s *Session) plainParams(members ...string) json.RawMessage {
	return s.paramsWith(nil, members...)
}

// paramsWith is plainParams with keys of _meta.
func (s *Session) paramsWith(given map[string]json.RawMessage, members ...string) json.RawMessage {
	o := newObject(64)
	for i := 0; i+1 < len(members); i += 2 {
		o.raw(members[i], []byte(members[i+1]))
	}
	if meta, _ := s.requestMeta(given, ""); meta != nil {
		o.raw("_meta", meta)
	}
	return o.end()
}

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

// knownParams are the members of params that each method has. The hub writes them itself.
var knownParams = map[string][]string{
	protocol.MethodCallTool:     {"name", "arguments"},
	protocol.MethodGetPrompt:    {"name", "arguments"},
	protocol.MethodReadResource: {"uri"},
	protocol.MethodComplete:     {"ref", "argument", "context"},
}

// engineParams are those that each method may have: metadata, tasks of 2025-11-25 and rounds of 2026-07-28.
var engineParams = []string{"_meta", "task", "inputResponses", "requestState"}

// FurtherParams returns the members of the params of a request that MCP does not define for its method, as an object,
// or nil if there are none. They are passed on as they are. A member is none of them if its name differs from a defined
// one in case alone: servers that decode with Go's encoding/json would take it for that one, and call another tool, or
// with other arguments, than was agreed to.
func FurtherParams(method string, params json.RawMessage) json.RawMessage {
	var o *object
	known := knownParams[method]
	jsontext.Members(params, func(name []byte, value json.RawMessage) bool {
		is := func(defined string) bool { return strings.EqualFold(defined, string(name)) }
		if slices.ContainsFunc(known, is) || slices.ContainsFunc(engineParams, is) {
			return true
		}
		if o == nil {
			o = newObject(64)
		}
		o.raw(string(name), oneLine(value))
		return true
	})
	if o == nil {
		return nil
	}
	return o.end()
}

// further adds what FurtherParams has returned.
func (o *object) further(members json.RawMessage) {
	jsontext.Members(members, func(name []byte, value json.RawMessage) bool {
		o.raw(string(name), value)
		return true
	})
}

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
