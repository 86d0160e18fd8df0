package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// streamable is the part of a transport over HTTP that a link needs: transport.Streamable in both eras, transport.SSE
// in the legacy one.
type streamable interface {
	Exchanges
	// Speak sets the era and the revision of the messages from now on; "" while initialize is open.
	Speak(modern bool, revision string)
	// Send takes ownership of a message and never blocks; Receive reports what becomes of it. An error is that with which
	// Receive has ended: the message is not sent.
	Send(m transport.Message) error
	// Receive returns what was received. It must not be called concurrently. An error is the end.
	Receive() (transport.Received, error)
	Close() error
}

// streamableLink returns a link over t, and owns t.
func streamableLink(t streamable, signedIn func() time.Duration) *Link {
	c := &streamableConn{t: t}
	return &Link{Conn: c, Exchanges: t, Speak: c.speak, SignedIn: signedIn}
}

// streamableConn makes a jsonrpc.Sender of a transport that sends each message separately.
type streamableConn struct {
	t      streamable
	modern atomic.Bool
}

func (c *streamableConn) speak(era Era, revision string) {
	c.modern.Store(era == Modern)
	c.t.Speak(era == Modern, revision)
}

// Send implements jsonrpc.Sender. Only modern requests have headers that repeat parts of the request.
func (c *streamableConn) Send(m jsonrpc.OutgoingMessage) error {
	out := transport.Message{ID: m.ID.String(), Method: m.Method, Body: m.Message}
	if c.modern.Load() {
		out.Name = requestName(m.Method, m.Message)
		out.Params, _ = m.Extra.(mirrored)
	}
	return c.t.Send(out)
}

// ReadMessage implements jsonrpc.Conn. The transport charges messages to HTTPOptions.Results, and has parsed them to
// find out which request they answer.
func (c *streamableConn) ReadMessage(*bounds.Account) (jsonrpc.Message, error) {
	r, err := c.t.Receive()
	switch {
	case err != nil:
		return jsonrpc.Message{}, err
	case r.FailedID != "":
		return jsonrpc.Message{}, &jsonrpc.CallFailedError{ID: wireID(r.FailedID), Err: r.Err}
	case r.Err != nil:
		return jsonrpc.Message{}, r.Err
	}
	return jsonrpc.Message{Text: r.Body, Message: r.Message, Kind: r.Kind, Source: wireID(r.Stream), Owned: true,
		Hold: r.Hold}, nil
}

// Close implements jsonrpc.Conn.
func (c *streamableConn) Close() error { return c.t.Close() }

// wireID parses an id that a transport has returned; "" becomes the zero ID.
func wireID(text string) jsonrpc.ID {
	id, err := jsonrpc.ParseID([]byte(text))
	if err != nil {
		return jsonrpc.ID{}
	}
	return id
}

// requestName returns the value of the header Mcp-Name of a request, which says what it is about (2026-07-28
// basic/transports/streamable-http "Request Metadata"; ext-tasks for its three methods). It is taken from the message
// itself, so that header and body cannot differ.
func requestName(method string, message []byte) string {
	key := ""
	switch method {
	case "tools/call", "prompts/get":
		key = "name"
	case "resources/read":
		key = "uri"
	case "tasks/get", "tasks/update", "tasks/cancel":
		key = "taskId"
	default:
		return ""
	}
	return stringOf(member(member(message, "params"), key))
}

// HTTP returns an Opener over Streamable HTTP, for either era. It sends nothing before the start of the session.
func HTTP(o transport.HTTPOptions) Opener {
	clock := timeSignIn(&o)
	return func(ctx context.Context) (*Link, error) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return streamableLink(transport.NewStreamable(o), clock), nil
	}
}

// SSE returns an Opener over HTTP+SSE, the transport of 2024-11-05. The Opener returns when the server has sent the URL
// to which messages are posted.
func SSE(o transport.HTTPOptions) Opener {
	clock := timeSignIn(&o)
	return func(ctx context.Context) (*Link, error) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		t := transport.NewSSE(o)
		if err := t.Connect(ctx); err != nil {
			return nil, err
		}
		l := streamableLink(t, clock)
		l.LegacyOnly = true
		return l, nil
	}
}

// AnyHTTP is HTTP for an address whose transport is not known: if a server refuses initialize in the way of a server
// that only knows the older HTTP+SSE, it is tried again over that (2025-11-25 and 2026-07-28 basic/transports,
// "Backward Compatibility").
func AnyHTTP(o transport.HTTPOptions) Opener {
	clock := timeSignIn(&o) // one for both, so that the first link counts a sign-in for the second
	open, fallback := HTTP(o), SSE(o)
	return func(ctx context.Context) (*Link, error) {
		l, err := open(ctx)
		if err == nil {
			l.Fallback, l.SignedIn = fallback, clock
		}
		return l, err
	}
}

// timeSignIn wraps o.Auth in a timedAuth and returns its total. It returns nil if o.Auth is nil.
func timeSignIn(o *transport.HTTPOptions) func() time.Duration {
	if o.Auth == nil {
		return nil
	}
	a := &timedAuth{Authorizer: o.Auth}
	o.Auth = a
	return a.total
}

// timedAuth is an Authorizer that measures for how long users have been asked to sign in so far.
type timedAuth struct {
	transport.Authorizer

	mu    sync.Mutex    // guards what follows
	open  int           // requests that wait for a sign-in
	since time.Time     // when open became 1
	spent time.Duration // the total before that
}

// Authorize implements transport.Authorizer.
func (a *timedAuth) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	a.mu.Lock()
	if a.open++; a.open == 1 {
		a.since = time.Now()
	}
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.open--; a.open == 0 {
			a.spent += time.Since(a.since)
		}
	}()
	return a.Authorizer.Authorize(ctx, req, resp)
}

func (a *timedAuth) total() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open > 0 {
		return a.spent + time.Since(a.since)
	}
	return a.spent
}

// 2026-07-28 basic/transports/streamable-http "Custom Headers from Tool Parameters": a tool may ask that arguments be
// repeated in headers, so that intermediaries between client and server can route by them.

const (
	annotationHeader = "x-mcp-header"
	// maxAnnotatedDepth bounds how deep a schema is searched for annotations.
	maxAnnotatedDepth = 100
)

// paramHeader is one argument that is repeated in the header Mcp-Param-<name>.
type paramHeader struct {
	name string
	path []string // of property names, from the arguments' root
}

// mirrored holds the headers Mcp-Param-* of a request: names without the prefix, values unencoded. It is passed to the
// transport as the Extra of jsonrpc.
type mirrored map[string]string

// mirroring reports whether annotations are used on this link: on stdio they may be ignored, and are; no legacy
// revision has them.
func (s *Session) mirroring() bool {
	return s.link.Exchanges != nil && s.Era() == Modern
}

// readAdmitted is ReadTool for an entry of the list that a server sends in this session.
func (s *Session) readAdmitted(raw json.RawMessage) (Tool, error) {
	t, err := ReadTool(raw)
	if err != nil {
		return Tool{}, err
	}
	return s.admitTool(t)
}

// admitTool stores the headers that a tool asks for. A tool whose annotation breaks a rule MUST NOT be listed, so that
// it cannot affect the others.
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

// mirrored returns the headers of a call, or nil if there are none.
func (s *Session) mirrored(call *openCall) mirrored {
	if call.method != protocol.MethodCallTool || !s.mirroring() {
		return nil
	}
	s.mu.Lock()
	headers := s.mirrors[call.req.Name]
	s.mu.Unlock()
	return mirror(headers, call.req.Arguments)
}

// mirror returns the arguments that are repeated in headers, or nil if there are none.
func mirror(headers []paramHeader, arguments json.RawMessage) (out mirrored) {
	for _, h := range headers {
		value := arguments
		for _, name := range h.path {
			value = member(value, name)
		}
		if text, ok := headerText(value); ok {
			if out == nil {
				out = make(mirrored, len(headers))
			}
			out[h.name] = text
		}
	}
	return out
}

// HeaderParams returns the arguments that a tool with this inputSchema wants in headers Mcp-Param-<name>, keyed by
// these names in lower case. The error says which rule an annotation breaks.
func HeaderParams(inputSchema, arguments json.RawMessage) (map[string]string, error) {
	headers, err := readParamHeaders(inputSchema)
	if err != nil {
		return nil, err
	}
	for i := range headers {
		headers[i].name = strings.ToLower(headers[i].name)
	}
	return mirror(headers, arguments), nil
}

// refreshed reports whether a call that was refused for its headers should be tried once more: the server has not run
// it, the tool's definition was fetched again, and it now asks for other headers. It is tried once for each round.
func (s *Session) refreshed(ctx context.Context, call *openCall, err error) bool {
	refusal := rpcError(err)
	if refusal == nil || refusal.Code != protocol.CodeHeaderMismatch || call.method != protocol.MethodCallTool ||
		!s.mirroring() {
		return false
	}
	before := s.mirrored(call)
	s.cache.dropMethod(protocol.MethodListTools) // the server refused what the kept definition led to
	if _, err := s.ListTools(ctx); err != nil {
		return false
	}
	return !maps.Equal(before, s.mirrored(call))
}

// headerText returns an argument as the text of its header. ok is false for null, for an absent argument, and for a
// value of a type that an annotation must not have.
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

// decimal returns an integer in decimal digits, whatever its notation in JSON.
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

// readParamHeaders returns the annotated parameters of an inputSchema. The error says which rule an annotation breaks.
func readParamHeaders(schema json.RawMessage) ([]paramHeader, error) {
	// The annotation's name can be written with escapes, so a schema has none for certain only if it contains neither the
	// name nor a backslash.
	if !bytes.Contains(schema, []byte(annotationHeader)) && !bytes.ContainsRune(schema, '\\') {
		return nil, nil
	}
	w := schemaWalk{names: map[string]bool{}}
	w.schema(schema, nil, true, 0)
	return w.found, w.err
}

// schemaWalk walks through a schema. It ends at the first error.
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

// schema examines one schema. reachable says that the path to it consists of properties only.
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

// keyword examines the value of any other keyword: a schema, an array of schemas, or neither.
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

// primitive reports whether a value of a schema's type can be sent in a header. null may be allowed as well, because a
// null is left out.
func primitive(raw json.RawMessage) bool {
	types := []string{stringOf(raw)}
	if len(raw) > 0 && raw[0] == '[' {
		types = slices.DeleteFunc(versions(raw), func(t string) bool { return t == "null" })
	}
	return len(types) == 1 && slices.Contains([]string{"string", "integer", "boolean"}, types[0])
}

// isToken reports whether s is 1*tchar (RFC 9110 section 5.6.2).
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}
