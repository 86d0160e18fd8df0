package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// 2026-07-28 basic/transports/streamable-http "Custom Headers from Tool Parameters": a tool may ask that arguments be
// repeated in headers, so that what stands between client and server can route by them.

const (
	annotationHeader = "x-mcp-header"
	// maxAnnotatedDepth bounds the walk through a schema that holds annotations.
	maxAnnotatedDepth = 100
)

// paramHeader is one argument that is repeated in the header Mcp-Param-<name>.
type paramHeader struct {
	name string
	path []string // of property names, from the arguments' root
}

// mirrored is what a request says in headers Mcp-Param-*: names without the prefix, values as they stand. It travels as
// the extra of jsonrpc.
type mirrored map[string]string

// mirroring tells whether annotations count on this link: stdio may ignore them, and does; no legacy revision has them.
func (s *Session) mirroring() bool {
	return s.link.Exchanges != nil && s.Era() == Modern
}

// readAdmitted is readTool for an entry of the list that a server gives to this session.
func (s *Session) readAdmitted(raw json.RawMessage) (Tool, error) {
	t, err := readTool(raw)
	if err != nil {
		return Tool{}, err
	}
	return s.admitTool(t)
}

// admitTool keeps what a tool wants to see in headers. A tool whose annotation breaks a rule MUST NOT be listed, so
// that it cannot spoil the others.
func (s *Session) admitTool(t Tool) (Tool, error) {
	if !s.mirroring() {
		return t, nil
	}
	headers, err := readParamHeaders(t.InputSchema)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || len(headers) == 0 {
		delete(s.mirrors, t.Name)
	} else {
		if s.mirrors == nil {
			s.mirrors = make(map[string][]paramHeader)
		}
		s.mirrors[t.Name] = headers
	}
	if err != nil {
		return Tool{}, &ProtocolError{Text: "tool " + strconv.Quote(bounds.Printable(t.Name)) + ": " + err.Error()}
	}
	return t, nil
}

// mirrored is what the headers of a call say, nil for nothing.
func (s *Session) mirrored(call *openCall) mirrored {
	if call.method != protocol.MethodCallTool || !s.mirroring() {
		return nil
	}
	s.mu.Lock()
	headers := s.mirrors[call.req.Name]
	s.mu.Unlock()
	var out mirrored
	for _, h := range headers {
		if text, ok := h.of(call.req.Arguments); ok {
			if out == nil {
				out = make(mirrored, len(headers))
			}
			out[h.name] = text
		}
	}
	return out
}

// HeaderParams gives the arguments that a tool with this inputSchema wants to see in headers Mcp-Param-<name>, by these
// names in lower case. The error says which rule an annotation breaks.
func HeaderParams(inputSchema, arguments json.RawMessage) (map[string]string, error) {
	headers, err := readParamHeaders(inputSchema)
	if err != nil || len(headers) == 0 {
		return nil, err
	}
	out := make(map[string]string, len(headers))
	for _, h := range headers {
		if text, ok := h.of(arguments); ok {
			out[strings.ToLower(h.name)] = text
		}
	}
	return out, nil
}

// of is the argument as its header says it.
func (h paramHeader) of(arguments json.RawMessage) (string, bool) {
	value := arguments
	for _, name := range h.path {
		value = member(value, name)
	}
	return headerText(value)
}

// extra is m for jsonrpc: an empty one is none.
func (m mirrored) extra() any {
	if len(m) == 0 {
		return nil
	}
	return m
}

// refreshed tells whether a call that was refused for its headers is worth a second try: the server has not run it, the
// tool's definition was fetched anew, and it asks for other headers now. It is tried once for each round.
func (s *Session) refreshed(ctx context.Context, call *openCall, err error) bool {
	refusal := rpcError(err)
	if refusal == nil || refusal.Code != protocol.CodeHeaderMismatch || call.method != protocol.MethodCallTool ||
		!s.mirroring() {
		return false
	}
	before := s.mirrored(call)
	s.cache.dropMethod(protocol.MethodListTools) // what was kept is what was refused
	if _, err := s.ListTools(ctx); err != nil {
		return false
	}
	return !maps.Equal(before, s.mirrored(call))
}

// headerText is an argument as its header says it. Null and absent ones are left out; so is what no annotation can be
// meant for.
func headerText(raw json.RawMessage) (string, bool) {
	switch {
	case len(raw) == 0:
		return "", false
	case raw[0] == '"':
		return stringOf(raw), true
	case raw[0] == 't', raw[0] == 'f':
		return string(raw), true
	case raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9':
		return decimal(string(raw))
	}
	return "", false
}

// decimal is an integer in decimal digits, however it is spelled in JSON.
func decimal(text string) (string, bool) {
	if !strings.ContainsAny(text, ".eE") {
		return text, true
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53-1 {
		return "", false
	}
	return strconv.FormatInt(int64(f), 10), true
}

// readParamHeaders finds the annotations of an inputSchema. An error says which rule one of them breaks.
func readParamHeaders(schema json.RawMessage) ([]paramHeader, error) {
	// A name can be written with escapes, so only a schema with neither is known to have no annotation.
	if !bytes.Contains(schema, []byte(annotationHeader)) && !bytes.ContainsRune(schema, '\\') {
		return nil, nil
	}
	w := schemaWalk{names: map[string]bool{}}
	w.schema(schema, nil, true, 0)
	return w.found, w.err
}

// schemaWalk goes through a schema; the first fault ends it.
type schemaWalk struct {
	found []paramHeader
	names map[string]bool // in lower case
	err   error
}

func (w *schemaWalk) fail(path []string, text string) {
	if w.err == nil {
		where := bounds.Printable(strings.Join(path, "."))
		w.err = &ProtocolError{Text: annotationHeader + " at " + strconv.Quote(where) + " " + text}
	}
}

// schema looks at one schema. reachable: a chain of properties alone has led here.
func (w *schemaWalk) schema(raw json.RawMessage, path []string, reachable bool, depth int) {
	if depth > maxAnnotatedDepth {
		w.fail(path, "cannot be looked for: the schema is too deep")
		return
	}
	eachMember(raw, func(name []byte, value json.RawMessage) bool {
		switch string(name) {
		case annotationHeader:
			w.annotation(raw, value, path, reachable)
		case "const", "default", "enum", "example", "examples": // data, not schemas
		case "properties":
			eachMember(value, func(property []byte, sub json.RawMessage) bool {
				w.schema(sub, append(slices.Clip(path), string(property)), reachable, depth+1)
				return w.err == nil
			})
		case "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
			eachMember(value, func(_ []byte, sub json.RawMessage) bool {
				w.schema(sub, path, false, depth+1)
				return w.err == nil
			})
		default:
			w.keyword(value, path, depth)
		}
		return w.err == nil
	})
}

// keyword looks at the value of any other keyword: a schema, an array of them, or neither.
func (w *schemaWalk) keyword(value json.RawMessage, path []string, depth int) {
	switch {
	case len(value) == 0:
	case value[0] == '{':
		w.schema(value, path, false, depth+1)
	case value[0] == '[':
		jsontext.Elements(value, func(sub json.RawMessage) bool {
			w.schema(sub, path, false, depth+1)
			return true
		})
	}
}

func (w *schemaWalk) annotation(schema, value json.RawMessage, path []string, reachable bool) {
	name := stringOf(value)
	switch {
	case !reachable || len(path) == 0:
		w.fail(path, "is not reached by properties alone")
	case !isToken(name):
		w.fail(path, "is no name of a header")
	case !primitive(member(schema, "type")):
		w.fail(path, "stands at a type that is not string, integer or boolean")
	case w.names[strings.ToLower(name)]:
		w.fail(path, "repeats a name")
	default:
		w.names[strings.ToLower(name)] = true
		w.found = append(w.found, paramHeader{name: name, path: path})
	}
}

// primitive tells whether a schema's type is one that can stand in a header; null beside it does no harm, as a null is
// left out.
func primitive(raw json.RawMessage) bool {
	types := []string{stringOf(raw)}
	if len(raw) > 0 && raw[0] == '[' {
		types = slices.DeleteFunc(versions(raw), func(t string) bool { return t == "null" })
	}
	return len(types) == 1 && slices.Contains([]string{"string", "integer", "boolean"}, types[0])
}

// isToken tells whether s is 1*tchar (RFC 9110 section 5.6.2).
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}
