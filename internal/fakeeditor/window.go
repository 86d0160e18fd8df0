// Package fakeeditor is an editor window for tests, over any gRPC connection, such as that of Serve in memory.
//
// It attaches, keeps a model of servers, requests and prompts from the snapshot and the later events, and offers the
// actions of a user: accept, decline, dismiss, cancel, close. It checks the invariants of every stream: sequences rise
// strictly, each request ends once, each prompt opens once and closes once. It blocks only on channels, so it works
// inside a testing/synctest bubble.
//
// What must not live here: knowledge of the hub or of package ipc. It knows only the contract.
package fakeeditor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// TB is the part of testing.TB that a window needs.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// AllKinds are the prompt kinds of the contract.
var AllKinds = mcphubv1.PromptKinds()

// Options of a window. TB must be set.
type Options struct {
	TB              TB
	ID              string                // empty: the hub creates one
	Title           string                // used in logs of the hub
	Kinds           []mcphubv1.PromptKind // nil: AllKinds; empty: none
	Roots           []*mcphubv1.Root
	SamplingTools   bool
	MaxProgressRate int32   // 0: the hub's default
	Back            *Window // an ended window that comes back: its model and its id are taken over
	BreakAfter      int     // break the stream after that many messages; 0: do not
}

// Window is one attached window. Its methods may be called concurrently, but those that fail the test only from the
// test's goroutine.
type Window struct {
	tb     TB
	stream Stream
	cancel context.CancelCauseFunc
	ended  chan struct{} // closed by read at the end of the stream

	sendMu sync.Mutex // guards Send of stream, which is not safe for concurrent use, and closed
	closed bool       // for good

	mu      sync.Mutex    // guards all fields below
	changed chan struct{} // closed and renewed with each event
	model   model
	events  []*mcphubv1.AttachResponse
	replies map[string]*mcphubv1.Reply
	asked   int
	err     error // how the stream ended; nil = OK
}

var errBreak = errors.New("the fake editor broke its stream")

// Open attaches a window and waits for its snapshot. If that does not come, it fails the test; Attach returns the error
// instead.
func Open(ctx context.Context, conn grpc.ClientConnInterface, o Options) *Window {
	o.TB.Helper()
	w, err := Attach(ctx, conn, o)
	if err != nil {
		o.TB.Fatalf("attach: %v", err)
	}
	return w
}

// Stream is the window's half of a stream, over gRPC or over the socket of a page.
type Stream interface {
	Send(*mcphubv1.AttachRequest) error
	Recv() (*mcphubv1.AttachResponse, error)
}

// Attach does the same as Open, but returns the error of the stream.
func Attach(ctx context.Context, conn grpc.ClientConnInterface, o Options) (*Window, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	stream, err := mcphubv1.NewEditorServiceClient(conn).Attach(ctx)
	if err != nil {
		cancel(err)
		return nil, err
	}
	return AttachOver(stream, cancel, o)
}

// AttachOver is Attach over a stream, which cancel breaks.
func AttachOver(stream Stream, cancel context.CancelCauseFunc, o Options) (*Window, error) {
	kinds := o.Kinds
	if kinds == nil {
		kinds = AllKinds
	}
	hello := &mcphubv1.Hello{
		WindowId: o.ID, Title: o.Title, PromptKinds: kinds, Roots: o.Roots, SamplingTools: o.SamplingTools,
		MaxProgressRate: o.MaxProgressRate,
	}
	m := newModel(len(kinds) == len(AllKinds))
	if before := o.Back; before != nil {
		m = before.takeModel()
		hello.WindowId, hello.ComesBackTo, hello.MaxHistory = m.windowID, m.hubID, 1000
	}
	w := &Window{
		tb: o.TB, stream: stream, cancel: cancel, ended: make(chan struct{}), changed: make(chan struct{}), model: m,
		replies: map[string]*mcphubv1.Reply{},
	}
	go w.read(o.BreakAfter)
	w.send(&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_Hello{Hello: hello}})
	if !w.await(func() bool { return w.model.started }) {
		return nil, w.Err()
	}
	return w, nil
}

// read receives messages until the end of the stream, or breaks it after that many. It owns ended.
func (w *Window) read(most int) {
	defer close(w.ended)
	for n := 1; ; n++ {
		m, err := w.stream.Recv()
		w.mu.Lock()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				w.err = err
			}
			w.cancel(errBreak) // frees what gRPC holds for the stream
			w.mu.Unlock()
			return
		}
		w.events = append(w.events, m)
		if r := m.GetReply(); r != nil {
			if w.replies[r.GetMessageId()] != nil {
				w.tb.Errorf("two replies to message %s", r.GetMessageId())
			}
			w.replies[r.GetMessageId()] = r
		}
		for _, fault := range w.model.apply(m) {
			w.tb.Errorf("window %s: %s: %v", w.model.windowID, fault, m)
		}
		close(w.changed)
		w.changed = make(chan struct{})
		w.mu.Unlock()
		if n == most {
			w.cancel(errBreak)
			return
		}
	}
}

// await waits until holds, which is called with mu held, returns true. It returns false if the stream ended before
// that.
func (w *Window) await(holds func() bool) bool {
	over := false
	for {
		w.mu.Lock()
		ok, changed := holds(), w.changed
		w.mu.Unlock()
		if ok || over {
			return ok
		}
		select {
		case <-changed:
		case <-w.ended:
			over = true // check the last messages once more
		}
	}
}

func (w *Window) send(r *mcphubv1.AttachRequest) {
	w.sendMu.Lock()
	defer w.sendMu.Unlock()
	if !w.closed {
		_ = w.stream.Send(r) // Recv returns the error
	}
}

// Ask sends a message with a new message_id and waits for the reply.
func (w *Window) Ask(r *mcphubv1.AttachRequest) *mcphubv1.Reply {
	w.tb.Helper()
	w.post(r)
	var reply *mcphubv1.Reply
	if !w.await(func() bool { reply = w.replies[r.GetMessageId()]; return reply != nil }) {
		w.tb.Fatalf("no reply to %v: the stream ended: %v", r, w.Err())
	}
	return reply
}

// post sends a message with a new message_id.
func (w *Window) post(r *mcphubv1.AttachRequest) {
	w.mu.Lock()
	w.asked++
	r.MessageId = "m" + strconv.Itoa(w.asked)
	w.mu.Unlock()
	w.send(r)
}

// Call calls a method, one of the constants SERVICE_METHOD_FullMethodName, and waits for the reply.
func (w *Window) Call(method string, request proto.Message) *mcphubv1.Reply {
	w.tb.Helper()
	return w.Ask(w.call(method, request))
}

// BeginTool calls a tool, and does not wait for the end of the call.
func (w *Window) BeginTool(request *mcphubv1.CallToolRequest) {
	w.tb.Helper()
	w.post(w.call(mcphubv1.McpHubService_CallTool_FullMethodName, request))
}

func (w *Window) call(method string, request proto.Message) *mcphubv1.AttachRequest {
	w.tb.Helper()
	r, err := mcphubv1.NewCall(method, request)
	if err != nil {
		w.tb.Fatalf("call of %s: %v", method, err)
	}
	return r
}

// Close closes the window for good, and returns the status with which the hub ends the stream.
func (w *Window) Close() error {
	w.sendMu.Lock()
	if !w.closed {
		w.closed = true
		_ = w.stream.Send(&mcphubv1.AttachRequest{ // Recv returns the error
			Message: &mcphubv1.AttachRequest_CloseWindow{CloseWindow: &mcphubv1.CloseWindow{}},
		})
	}
	w.sendMu.Unlock()
	return w.Wait()
}

// Ended reports whether the stream has ended.
func (w *Window) Ended() bool {
	select {
	case <-w.ended:
		return true
	default:
		return false
	}
}

// Break ends the stream abruptly, like a reload of the page or a lost connection.
func (w *Window) Break() {
	w.cancel(errBreak)
	<-w.ended
}

// Wait waits until the stream has ended and returns its status; nil means OK.
func (w *Window) Wait() error {
	<-w.ended
	return w.Err()
}

// Err returns the status of a stream that has ended; nil means OK, or that it has not ended.
func (w *Window) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// takeModel returns the model of an ended window that comes back.
func (w *Window) takeModel() model {
	<-w.ended
	w.mu.Lock()
	defer w.mu.Unlock()
	m := w.model.clone()
	m.started, m.welcomed = false, false
	return m
}

func (w *Window) String() string { return fmt.Sprintf("window %s", w.ID()) }

// The actions of a user. Each one waits for the hub's reply.

// Accept accepts a prompt: content is the JSON text of a form or a completion, "" for the other kinds.
func (w *Window) Accept(promptID, content string) *mcphubv1.Reply {
	w.tb.Helper()
	return w.accept(promptID, &mcphubv1.AcceptPrompt{Scope: mcphubv1.ApprovalScope_APPROVAL_SCOPE_ONCE,
		ContentJson: content})
}

// AcceptFor accepts a tool approval for a scope.
func (w *Window) AcceptFor(promptID string, scope mcphubv1.ApprovalScope) *mcphubv1.Reply {
	w.tb.Helper()
	return w.accept(promptID, &mcphubv1.AcceptPrompt{Scope: scope})
}

func (w *Window) accept(promptID string, a *mcphubv1.AcceptPrompt) *mcphubv1.Reply {
	w.tb.Helper()
	return w.answer(&mcphubv1.PromptAnswer{PromptId: promptID, Action: &mcphubv1.PromptAnswer_Accept{Accept: a}})
}

// Decline declines a prompt.
func (w *Window) Decline(promptID, reason string) *mcphubv1.Reply {
	w.tb.Helper()
	return w.answer(&mcphubv1.PromptAnswer{PromptId: promptID,
		Action: &mcphubv1.PromptAnswer_Decline{Decline: &mcphubv1.DeclinePrompt{Reason: reason}}})
}

// Dismiss closes a prompt without a choice.
func (w *Window) Dismiss(promptID string) *mcphubv1.Reply {
	w.tb.Helper()
	return w.answer(&mcphubv1.PromptAnswer{PromptId: promptID,
		Action: &mcphubv1.PromptAnswer_Dismiss{Dismiss: &mcphubv1.DismissPrompt{}}})
}

func (w *Window) answer(a *mcphubv1.PromptAnswer) *mcphubv1.Reply {
	w.tb.Helper()
	return w.Ask(&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_AnswerPrompt{AnswerPrompt: a}})
}

// CancelRequest cancels a request, like the Cancel button.
func (w *Window) CancelRequest(id, reason string) *mcphubv1.Reply {
	w.tb.Helper()
	return w.Ask(&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_CancelMcpRequest{
		CancelMcpRequest: &mcphubv1.CancelMcpRequest{RequestId: id, Reason: reason},
	}})
}

// SetRoots changes the workspace folders.
func (w *Window) SetRoots(roots ...*mcphubv1.Root) *mcphubv1.Reply {
	w.tb.Helper()
	return w.Ask(
		&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_SetRoots{SetRoots: &mcphubv1.SetRoots{Roots: roots}}})
}

// Serve serves s in memory until the end of the test, and returns a connection to it. If through is not nil, it sees
// what the client reads and writes.
func Serve(tb interface {
	TB
	Cleanup(f func())
}, s *grpc.Server, through func(net.Conn) net.Conn) *grpc.ClientConn {
	tb.Helper()
	l := bufconn.Listen(1 << 16)
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	conn, err := grpc.NewClient("passthrough:///memory", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(1<<30)),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			c, err := l.DialContext(ctx)
			if err == nil && through != nil {
				c = through(c)
			}
			return c, err
		}))
	if err != nil {
		tb.Fatalf("a connection in memory: %v", err)
	}
	tb.Cleanup(func() {
		_ = conn.Close()
		s.Stop()
		if err := <-served; err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			tb.Errorf("serve: %v", err)
		}
	})
	return conn
}
