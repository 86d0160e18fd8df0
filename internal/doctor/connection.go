package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/process"
)

// session is a session of the hub's own client code with the server, together with its observed connection.
type session struct {
	*mcp.Session
	line *line
}

// session connects in one era. The handler gets the questions of the server.
func (e *examination) session(ctx context.Context, era string, handler mcp.Handler) (*session, error) {
	s := &session{}
	everything := mcp.Capabilities{Roots: true, Sampling: true, SamplingTools: true, ElicitationForm: true,
		ElicitationURL: true}
	var err error
	s.Session, err = mcp.Connect(ctx, mcp.Options{
		Server: e.target.Name, Era: era, Client: e.o.Client, Handler: handler,
		ProbeTimeout: e.o.Connect,
		Capabilities: func() mcp.Capabilities { return everything },
		Open: func(ctx context.Context) (*mcp.Link, error) {
			l, err := e.way.open(ctx, process.Grace{}, &e.encoding)
			if err != nil {
				return nil, err
			}
			s.line = l
			return l.link, nil
		},
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (s *session) close() { _ = s.Close(errExamined) }

// asker receives the questions of a server and leaves them open, since there is no user to answer. It is safe for
// concurrent use.
type asker struct {
	mcp.NoHandler
	asked func(q *mcp.Question) // may be nil; must not block

	mu    sync.Mutex
	open  map[jsonrpc.ID]bool
	count int
}

func newAsker(asked func(*mcp.Question)) *asker {
	return &asker{asked: asked, open: map[jsonrpc.ID]bool{}}
}

// Ask waits until the question ends.
func (a *asker) Ask(ctx context.Context, q *mcp.Question) (mcp.Answer, error) {
	a.mu.Lock()
	a.count++
	a.open[q.WireID] = true
	a.mu.Unlock()
	if a.asked != nil {
		a.asked(q)
	}
	<-ctx.Done()
	return mcp.Answer{Action: mcp.Dismiss}, nil
}

// questions returns the ids of the questions that were asked, and their number.
func (a *asker) questions() (ids []jsonrpc.ID, n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id := range a.open {
		ids = append(ids, id)
	}
	return ids, a.count
}

// visit is a connection without a session: the doctor chooses each message, including those that a well-behaved client
// does not send. Questions of the server are refused.
type visit struct {
	*line
	peer *jsonrpc.Peer
}

func (e *examination) visit(ctx context.Context, grace process.Grace) (*visit, error) {
	l, err := e.way.open(ctx, grace, &e.encoding)
	if err != nil {
		return nil, err
	}
	if l.link.Speak != nil {
		l.link.Speak(mcp.Legacy, "")
	}
	return &visit{line: l, peer: jsonrpc.NewPeer(l.link.Conn, jsonrpc.Options{Server: e.target.Name})}, nil
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
		if how := v.link.Ended; how != nil && how() != "" {
			return errors.New(how())
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
