package fakeeditor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"google.golang.org/grpc"
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
var AllKinds = []mcphubv1.PromptKind{
	mcphubv1.PromptKind_PROMPT_KIND_TOOL_APPROVAL,
	mcphubv1.PromptKind_PROMPT_KIND_SAMPLING,
	mcphubv1.PromptKind_PROMPT_KIND_ELICITATION_FORM,
	mcphubv1.PromptKind_PROMPT_KIND_ELICITATION_URL,
	mcphubv1.PromptKind_PROMPT_KIND_SIGN_IN,
	mcphubv1.PromptKind_PROMPT_KIND_SERVER_LAUNCH,
	mcphubv1.PromptKind_PROMPT_KIND_CONFIG_INPUT,
}

// Options of a window. TB must be set.
type Options struct {
	TB              TB
	ID              string                // empty: the hub creates one
	Title           string                // used in logs of the hub
	Kinds           []mcphubv1.PromptKind // nil: AllKinds; empty: none
	Roots           []*mcphubv1.Root
	SamplingTools   bool
	Extensions      string  // JSON text: extensions of MCP that the window can show
	MaxProgressRate int32   // 0: the hub's default
	Back            *Window // an ended window that comes back: its model and its id are taken over
	MaxHistory      int32   // 1,000 for a window that comes back
	BreakAfter      int     // break the stream after that many messages; 0: do not
}

// Window is one attached window. Its methods may be called concurrently, but those that fail the test only from the
// test's goroutine.
type Window struct {
	tb     TB
	stream grpc.BidiStreamingClient[mcphubv1.AttachRequest, mcphubv1.AttachResponse]
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

// Attach does the same as Open, but returns the error of the stream.
func Attach(ctx context.Context, conn grpc.ClientConnInterface, o Options) (*Window, error) {
	kinds := o.Kinds
	if kinds == nil {
		kinds = AllKinds
	}
	hello := &mcphubv1.Hello{
		WindowId: o.ID, Title: o.Title, PromptKinds: kinds, Roots: o.Roots, SamplingTools: o.SamplingTools,
		ExtensionsJson: o.Extensions, MaxProgressRate: o.MaxProgressRate, MaxHistory: o.MaxHistory,
	}
	m := newModel(len(kinds) == len(AllKinds))
	if before := o.Back; before != nil {
		m = before.takeModel()
		hello.WindowId, hello.ComesBackTo, hello.MaxHistory = m.windowID, m.hubID, 1000
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stream, err := mcphubv1.NewEditorServiceClient(conn).Attach(ctx)
	if err != nil {
		cancel(err)
		return nil, err
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
	w.mu.Lock()
	w.asked++
	id := "m" + strconv.Itoa(w.asked)
	w.mu.Unlock()
	r.MessageId = id
	w.send(r)
	var reply *mcphubv1.Reply
	if !w.await(func() bool { reply = w.replies[id]; return reply != nil }) {
		w.tb.Fatalf("no reply to %v: the stream ended: %v", r, w.Err())
	}
	return reply
}

// Call calls a method, one of the constants SERVICE_METHOD_FullMethodName, and waits for the reply.
func (w *Window) Call(method string, request proto.Message) *mcphubv1.Reply {
	w.tb.Helper()
	r, err := mcphubv1.NewCall(method, request)
	if err != nil {
		w.tb.Fatalf("call of %s: %v", method, err)
	}
	return w.Ask(r)
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
