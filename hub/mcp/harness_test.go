package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
	"github.com/mcphub-go/mcphub/internal/faketime"
)

var update = flag.Bool("update", false, "rewrite the golden parts of testdata")

// pipe is an in-memory pipe with an unbounded buffer: Write never blocks.
type pipe struct {
	mu     sync.Mutex
	cond   *sync.Cond
	buf    bytes.Buffer
	closed bool
}

func newPipe() *pipe {
	p := &pipe{}
	p.cond = sync.NewCond(&p.mu)
	return p
}

func (p *pipe) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.buf.Len() == 0 && !p.closed {
		p.cond.Wait()
	}
	if p.buf.Len() == 0 {
		return 0, io.EOF
	}
	return p.buf.Read(b)
}

func (p *pipe) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return 0, io.ErrClosedPipe
	}
	p.cond.Broadcast()
	return p.buf.Write(b)
}

func (p *pipe) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.cond.Broadcast()
	return nil
}

// memConn is line framing over two pipes. Its TryWrite works as that of a process's pipe does, so that the order of
// writes is that of the calls.
type memConn struct {
	*jsonrpc.LineConn
	w *pipe
}

func (c *memConn) TryWrite(line []byte) (int, error) { return c.w.Write(line) }

// wire returns a link and the server's ends of it.
func wire() (link *Link, fromClient, toClient *pipe) {
	fromClient, toClient = newPipe(), newPipe()
	return &Link{Conn: &memConn{jsonrpc.NewLineConn(toClient, fromClient, jsonrpc.LineConnOptions{}), fromClient}},
		fromClient, toClient
}

// serving opens links to a fake server, each served by a goroutine that the test waits for.
func serving(t *testing.T, f *fakeserver.Server) Opener {
	t.Helper()
	var serving sync.WaitGroup
	t.Cleanup(serving.Wait)
	return func(context.Context) (*Link, error) {
		link, fromClient, toClient := wire()
		serving.Go(func() {
			if err := f.Serve(context.Background(), fromClient, toClient); err != nil {
				t.Errorf("fake server: %v", err)
			}
		})
		return link, nil
	}
}

// recorder is a Handler that answers questions with ask, if it is set, and records what it is told.
type recorder struct {
	ask    func(ctx context.Context, q *Question) (Answer, error)
	roots  []Root
	late   atomic.Int32 // responses that came late
	onLate func()       // called for each; may be nil

	mu      sync.Mutex
	logs    []LogMessage
	changes int
	told    []string // the other changes, in order: "prompts", "resources", and the URI of an update
	asked   []*Question
}

func (r *recorder) Ask(ctx context.Context, q *Question) (Answer, error) {
	r.mu.Lock()
	r.asked = append(r.asked, q)
	r.mu.Unlock()
	if r.ask == nil {
		return Answer{}, errors.New("nobody was to be asked")
	}
	return r.ask(ctx, q)
}

func (r *recorder) Roots(context.Context, *CallRequest, string) (json.RawMessage, error) {
	return ListOfRoots(r.roots), nil
}

func (r *recorder) Logged(m LogMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.logs = append(r.logs, m)
}

func (r *recorder) ToolsChanged() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes++
}

func (r *recorder) PromptsChanged() { r.tell("prompts") }

func (r *recorder) ResourcesChanged() { r.tell("resources") }

func (r *recorder) ResourceUpdated(uri string) { r.tell(uri) }
func (*recorder) ElicitationCompleted(string)  {}

func (r *recorder) tell(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told = append(r.told, what)
}

// heard returns what was told since its last call.
func (r *recorder) heard() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	told := r.told
	r.told = nil
	return told
}

func (r *recorder) LateResponse(LateResponse) {
	r.late.Add(1)
	if r.onLate != nil {
		r.onLate()
	}
}

func (r *recorder) lateResponses() int { return int(r.late.Load()) }

func (r *recorder) questions() []*Question {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*Question(nil), r.asked...)
}

func (r *recorder) changed() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changes
}

func (r *recorder) messages() []LogMessage {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]LogMessage(nil), r.logs...)
}

// hang returns an ask function that waits for the end of the question and sends its cause. It then returns an answer,
// which must not reach the server any more.
func hang(causes chan<- error) func(context.Context, *Question) (Answer, error) {
	return func(ctx context.Context, _ *Question) (Answer, error) {
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return Answer{Action: Accept, Content: json.RawMessage(`{"leaked":true}`)}, nil
	}
}

func accepting(content string) func(context.Context, *Question) (Answer, error) {
	return func(context.Context, *Question) (Answer, error) {
		return Answer{Action: Accept, Content: json.RawMessage(content)}, nil
	}
}

var (
	everything = Capabilities{Roots: true, Sampling: true, SamplingTools: true, ElicitationForm: true,
		ElicitationURL: true}
	testClient = Implementation{Name: "hub", Title: "Hub", Version: "1"}
)

// connect starts a session and closes it at the end of the test.
func connect(t *testing.T, f *fakeserver.Server, h *recorder, change ...func(*Options)) *Session {
	t.Helper()
	o := Options{
		Server: "test", Open: serving(t, f), Client: testClient, Handler: h,
		Capabilities: func() Capabilities { return everything },
	}
	for _, c := range change {
		c(&o)
	}
	s, err := Connect(context.Background(), o)
	if err != nil {
		t.Fatalf("Connect: %v", err)
	}
	t.Cleanup(func() { s.Close(nil) })
	return s
}

// outcome is what a call in the background returned.
type outcome struct {
	result *CallResult
	err    error
}

// begin calls in a goroutine; its outcome waits in the channel.
func begin(ctx context.Context, s *Session, c *CallRequest) <-chan outcome {
	out := make(chan outcome, 1)
	go func() {
		r, err := s.CallTool(ctx, c)
		out <- outcome{r, err}
	}()
	return out
}

// finished returns the outcome of a call that must be over once every goroutine is blocked.
func finished(t *testing.T, out <-chan outcome) outcome {
	t.Helper()
	synctest.Wait()
	select {
	case o := <-out:
		return o
	default:
		t.Fatal("the call is still running")
		return outcome{}
	}
}

// stopped is a cancel cause with a reason for the server.
type stopped struct{ reason string }

func (e *stopped) Error() string        { return "stopped: " + e.reason }
func (e *stopped) CancelReason() string { return e.reason }

// lines are the raw messages of a method that the fake has received.
func lines(f *fakeserver.Server, method string) []fakeserver.Message {
	var out []fakeserver.Message
	for _, m := range f.Received() {
		if m.Method == method {
			out = append(out, m)
		}
	}
	return out
}

// pass lets fake time go by.
func pass(d time.Duration) { faketime.Pass(d) }
