package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/process"
)

// visit is a connection without a session: the doctor chooses each message, including those that a well-behaved client
// does not send. Questions of the server are refused.
type visit struct {
	*line
	peer *jsonrpc.Peer
}

func (e *examination) visit(ctx context.Context, way Way, grace process.Grace) (*visit, error) {
	l, err := way.open(ctx, grace, &e.encoding)
	if err != nil {
		return nil, err
	}
	if l.link.Speak != nil {
		l.link.Speak(mcp.Legacy, "")
	}
	return &visit{line: l, peer: jsonrpc.NewPeer(l.link.Conn, jsonrpc.Options{Server: e.target.Name,
		Answer: func(method string) (json.RawMessage, bool) { return json.RawMessage("{}"), method == "ping" }})}, nil
}

func (v *visit) close() { _ = v.peer.Close(errExamined) }

// initialize offers a revision and returns the server's answer.
func (v *visit) initialize(ctx context.Context, client mcp.Implementation, revision string) (json.RawMessage, error) {
	params, err := json.Marshal(map[string]any{"protocolVersion": revision, "capabilities": struct{}{},
		"clientInfo": client})
	if err != nil {
		return nil, err
	}
	answer, err := v.peer.Call(ctx, "initialize", params)
	if err != nil {
		return nil, v.explained(err)
	}
	if v.link.Speak != nil {
		v.link.Speak(mcp.Legacy, jsontext.String(jsontext.Get(answer, "protocolVersion")))
	}
	return answer, v.peer.Notify("notifications/initialized", nil)
}

// explained returns an error that says how the process ended, if that is the reason for err; else err.
func (v *visit) explained(err error) error {
	if _, closed := errors.AsType[*jsonrpc.ClosedError](err); closed {
		if v.proc != nil {
			_ = v.peer.Close(errExamined)
		}
		if how := v.ended(); how != "" {
			return errors.New(how)
		}
	}
	return err
}

// ask makes a call that must be answered. It returns the answer or the error, and the time that it took.
func (v *visit) ask(ctx context.Context, method, params string) (answer json.RawMessage, took time.Duration,
	err error) {
	began := time.Now()
	answer, err = v.peer.Call(ctx, method, json.RawMessage(params))
	return answer, time.Since(began), v.explained(err)
}

// code returns the JSON-RPC code of an error that the server answered. ok is false for any other error.
func code(err error) (code int64, ok bool) {
	if e, is := errors.AsType[*jsonrpc.Error](err); is {
		return e.Code, true
	}
	return 0, false
}

// said returns the name and version of the server in an answer to initialize.
func said(answer json.RawMessage) string {
	info := jsontext.Get(answer, "serverInfo")
	return fmt.Sprintf("%s %s", jsontext.String(jsontext.Get(info, "name")),
		jsontext.String(jsontext.Get(info, "version")))
}
