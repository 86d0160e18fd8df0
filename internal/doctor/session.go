package doctor

import (
	"context"
	"sync"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/process"
)

// session is a session of the hub's own client code with the server, together with its observed connection.
type session struct {
	*mcp.Session
	line *line
}

// session connects in one era. The handler gets the questions of the server.
func (e *examination) session(ctx context.Context, way Way, era string, handler mcp.Handler) (*session, error) {
	s := &session{}
	everything := mcp.Capabilities{Roots: true, Sampling: true, SamplingTools: true, ElicitationForm: true,
		ElicitationURL: true}
	var err error
	s.Session, err = mcp.Connect(ctx, mcp.Options{
		Server: e.target.Name, Era: era, Client: e.o.Client, Handler: handler,
		ProbeTimeout: e.o.Connect,
		Capabilities: func() mcp.Capabilities { return everything },
		Open: func(ctx context.Context) (*mcp.Link, error) {
			l, err := way.open(ctx, process.Grace{}, &e.encoding)
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
