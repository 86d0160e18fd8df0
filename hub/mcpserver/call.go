package mcpserver

import (
	"context"
	"encoding/json"
	"sync/atomic"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// Call is one request of a client, from its arrival to its answer: over all rounds of a modern one.
type Call struct {
	Session *Session
	Method  string
	Params  json.RawMessage // the exact text that came; nil when there was none
	Meta    json.RawMessage // _meta of Params, the progress token among it; nil when there was none
	Client  Client          // as declared for this request
	// HeaderParams are the arguments that a modern client over HTTP repeats in headers, by their names in lower case; nil
	// for all other requests, which repeat none.
	HeaderParams map[string]string

	level string // of a modern request: what it wants logged
	via   atomic.Pointer[exchange]
	asked *rounds // of a modern request
}

// exchange is the request of the client that is on the wire for a call; nil while a modern client thinks.
type exchange struct {
	id    jsonrpc.ID
	link  link
	token json.RawMessage
}

// Progress tells the client how far the call is: params are those of notifications/progress, of which the token is
// replaced by the client's. Without a token of the client, and while no request of it is on the wire, nothing is sent.
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
	_ = x.link.tell(x.id, protocol.MethodProgress, append(b, '}')) // a client that is gone needs no progress
}

// Log sends a log message in the course of the call, params being those of notifications/message, if the client wants
// messages of the level.
func (c *Call) Log(level string, params json.RawMessage) {
	if !c.Client.Modern {
		c.Session.Log(level, params)
		return
	}
	if x := c.via.Load(); x != nil && passes(level, c.level) {
		_ = x.link.tell(x.id, protocol.MethodMessage, params) // logs may be lost
	}
}

// LogLevel is from which level on the client of 2026-07-28 wants log messages in the course of the call; "": none.
func (c *Call) LogLevel() string {
	if c.level == "" || !passes(c.level, c.level) { // no such level
		return ""
	}
	return c.level
}

// Heard tells whether the client would hear now what it is asked in the course of the call. A legacy client over HTTP
// may have given up its stream, which is no cancel; a modern one that has a round hears of more when it comes back. It
// does not block.
func (c *Call) Heard() bool {
	x := c.via.Load()
	return x != nil && x.link.heard(x.id)
}

// Ask asks the client in the course of the call: elicitation/create, sampling/createMessage or roots/list, params and
// result as they are. The end of ctx, which is the call's or made of it, withdraws the question with the cause's reason
// (jsonrpc.Reasoner); the error is the cause then, perhaps within another. A *jsonrpc.Error is the client's answer.
func (c *Call) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return c.AskAs(ctx, "", method, params)
}

// AskAs is Ask with the key that the question is to have among those of its round, towards a modern client; "", and one
// that another open question has, is replaced.
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
