package mcpserver

import (
	"context"
	"encoding/json"
	"sync/atomic"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// Call is one request of a client, from its arrival to its answer: for a modern one through all rounds.
type Call struct {
	Session *Session
	Method  string
	Params  json.RawMessage // the exact text that came; nil if there was none
	Meta    json.RawMessage // _meta of Params, including the progress token; nil if there was none
	Client  Client          // as declared for this request
	// HeaderParams are the arguments that a modern client over HTTP repeats in headers, by their names in lower case. nil
	// for all other requests.
	HeaderParams map[string]string

	level string // of a modern request: the lowest level of the log messages that it wants
	via   atomic.Pointer[exchange]
	asked *rounds // for a modern request
}

// exchange is the client's request on the wire that belongs to a call. A call has none while it is parked.
type exchange struct {
	id    jsonrpc.ID
	link  link
	token json.RawMessage
}

// Progress sends progress of the call to the client. params are those of notifications/progress; their token is
// replaced by the client's. Nothing is sent if the client sent no token or if none of its requests is on the wire.
func (c *Call) Progress(params json.RawMessage) {
	x := c.via.Load()
	if x == nil || x.token == nil {
		return
	}
	b := append([]byte(`{"progressToken":`), x.token...)
	if !jsontext.Members(params, func(name []byte, value json.RawMessage) bool {
		if string(name) != protocol.MetaProgressToken {
			b = append(jsontext.AppendString(append(b, ','), string(name)), ':')
			b = append(b, value...)
		}
		return true
	}) {
		return
	}
	_ = x.link.tell(x.id, protocol.MethodProgress, append(b, '}')) // a client that has gone needs no progress
}

// Log sends a log message that belongs to the call, if the client wants messages of the level. params are those of
// notifications/message.
func (c *Call) Log(level string, params json.RawMessage) {
	if !c.Client.Modern {
		c.Session.Log(level, params)
		return
	}
	if x := c.via.Load(); x != nil && passes(level, c.level) {
		_ = x.link.tell(x.id, protocol.MethodMessage, params) // logs may be lost
	}
}

// LogLevel returns the lowest level of the log messages that a client of 2026-07-28 wants during the call; "": none.
func (c *Call) LogLevel() string {
	if c.level == "" || !passes(c.level, c.level) { // no such level
		return ""
	}
	return c.level
}

// Heard reports whether a question that belongs to the call would reach the client now. A legacy client over HTTP may
// have closed its stream, which is no cancel; a modern client that has a round gets further questions at its retry.
// Heard does not block.
func (c *Call) Heard() bool {
	x := c.via.Load()
	return x != nil && x.link.heard(x.id)
}

// Ask asks the client a question that belongs to the call: elicitation/create, sampling/createMessage or roots/list.
// params and result are passed unchanged. ctx must be the call's or derived from it. Its end withdraws the question
// with the cause's reason (jsonrpc.Reasoner); the error is or wraps the cause then. A *jsonrpc.Error is the client's
// answer.
func (c *Call) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return c.AskAs(ctx, "", method, params)
}

// AskAs is Ask with a key for the question in its round, for a modern client. A key that is "" or that another open
// question has is replaced.
func (c *Call) AskAs(ctx context.Context, key, method string, params json.RawMessage) (json.RawMessage, error) {
	if !c.Client.answers(method, params) {
		return nil, ErrUndeclared
	}
	if c.asked != nil {
		return c.asked.ask(ctx, key, method, params)
	}
	x := c.via.Load()
	if x == nil || c.Client.Modern {
		return nil, ErrNotAskable
	}
	return x.link.ask(ctx, x.id, method, params)
}
