package door

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// AllKinds are all prompt kinds.
var AllKinds = mcphubv1.PromptKinds()

// ErrWindowClosed is the cause of what the end of a window has ended.
var ErrWindowClosed = errors.New("the window was closed")

// Window is one attached stream. Its methods may be called concurrently.
type Window struct {
	// welcome is the hub's first message.
	Welcome *mcphubv1.AttachResponse
	// events gets every further message, in order, and is closed when the stream has ended. err then says why, and is nil
	// for a clean end. A reader that stops reading delays only this window.
	Events <-chan *mcphubv1.AttachResponse
	Err    error

	stream   grpc.BidiStreamingClient[mcphubv1.AttachRequest, mcphubv1.AttachResponse]
	sending  sync.Mutex // guards Send of stream, and finished
	finished bool
	cancel   context.CancelCauseFunc
	Ended    chan struct{} // closed when the stream has ended
}

// Attach opens a window and waits for the hub's welcome. The window ends with ctx.
func Attach(ctx context.Context, client *Client, hello *mcphubv1.Hello) (*Window, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	stream, err := client.Editor.Attach(ctx)
	if err != nil {
		cancel(err)
		return nil, exit.FailureOf(err)
	}
	err = stream.Send(&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_Hello{Hello: hello}})
	var welcome *mcphubv1.AttachResponse
	if err == nil || err == io.EOF { // on io.EOF, Recv returns the status
		welcome, err = stream.Recv()
	}
	if err == nil && welcome.GetWelcome() == nil {
		err = exit.Failf("INTERNAL", "the hub's first message was no welcome")
	}
	if err != nil {
		cancel(err)
		return nil, exit.FailureOf(err)
	}
	events := make(chan *mcphubv1.AttachResponse)
	w := &Window{Welcome: welcome, Events: events, stream: stream, cancel: cancel, Ended: make(chan struct{})}
	go w.receive(ctx, events)
	return w, nil
}

// receive receives the messages, and ends the window. Only it uses the stream's receiving half.
func (w *Window) receive(ctx context.Context, events chan<- *mcphubv1.AttachResponse) {
	defer close(events)
	defer close(w.Ended)
	for {
		m, err := w.stream.Recv()
		if err == io.EOF {
			return
		}
		if err != nil {
			w.Err = exit.FailureOf(err)
			return
		}
		select {
		case events <- m:
		case <-ctx.Done():
			w.Err = context.Cause(ctx)
			return
		}
	}
}

// Post sends one message, unless the window has ended.
func (w *Window) Post(m *mcphubv1.AttachRequest) {
	w.sending.Lock()
	defer w.sending.Unlock()
	if !w.finished {
		_ = w.stream.Send(m) // its error is the stream's, which receive gets
	}
}

// Answer answers prompts.
func (w *Window) Answer(answers ...*mcphubv1.PromptAnswer) {
	for _, a := range answers {
		w.Post(&mcphubv1.AttachRequest{MessageId: "answer " + a.GetPromptId(),
			Message: &mcphubv1.AttachRequest_AnswerPrompt{AnswerPrompt: a}})
	}
}

// DismissUnfit dismisses a question if its answer does not fit the schema, since nobody is there to correct it. It
// returns a text that says so, "" for any other reply.
func (w *Window) DismissUnfit(r *mcphubv1.Reply) string {
	id, ok := strings.CutPrefix(r.GetMessageId(), "answer ")
	if !ok || r.GetError().GetReason() != "INVALID_CONTENT" {
		return ""
	}
	w.Answer(Dismiss(id))
	return "the answer does not fit, so the question is dismissed: " + console.Escape(r.GetError().GetMessage())
}

// CancelRequest cancels a request as the Cancel button does.
func (w *Window) CancelRequest(messageID, requestID, reason string) {
	w.Post(&mcphubv1.AttachRequest{MessageId: messageID, Message: &mcphubv1.AttachRequest_CancelMcpRequest{
		CancelMcpRequest: &mcphubv1.CancelMcpRequest{RequestId: requestID, Reason: reason},
	}})
}

// Finish says that this window sends nothing more. The hub then sends what it still has, and ends the stream. A reader
// that reads events to the end has seen everything.
func (w *Window) Finish() {
	w.Post(&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_CloseWindow{CloseWindow: &mcphubv1.CloseWindow{}}})
	w.sending.Lock()
	defer w.sending.Unlock()
	w.finished = true
}

// Close ends the window at once, and waits for that. Messages that were not read are lost.
func (w *Window) Close() {
	w.cancel(ErrWindowClosed)
	<-w.Ended
}

// Accept returns a yes to a prompt. It holds once, as everything that the command line agrees to.
func Accept(p *mcphubv1.Prompt, contentJSON string) *mcphubv1.PromptAnswer {
	answer := host.Accept(p)
	answer.GetAccept().Scope = mcphubv1.ApprovalScope_APPROVAL_SCOPE_ONCE
	answer.GetAccept().ContentJson = contentJSON
	return answer
}

// Dismiss returns the answer of a person who has closed the question.
func Dismiss(promptID string) *mcphubv1.PromptAnswer {
	return &mcphubv1.PromptAnswer{PromptId: promptID,
		Action: &mcphubv1.PromptAnswer_Dismiss{Dismiss: &mcphubv1.DismissPrompt{}}}
}

// OrDone returns why a window has ended, in words.
func OrDone(err error) any {
	if err == nil {
		return "the hub closed it"
	}
	return err
}

// EventLog keeps every event of one window, so that a step can also look at events that came before. It is safe for
// concurrent use.
type EventLog struct {
	// mu guards the fields below.
	mu      sync.Mutex
	events  []*mcphubv1.AttachResponse
	ended   bool
	changed chan struct{} // closed and replaced at every change
}

// Follow records the events of w. It returns when the window has ended.
func (l *EventLog) Follow(w *Window) {
	for event := range w.Events {
		l.Add(event)
	}
	l.End()
}

// Add records an event, end the end of the window.
func (l *EventLog) Add(event *mcphubv1.AttachResponse) {
	l.change(func() { l.events = append(l.events, event) })
}

// End records the end of the window.
func (l *EventLog) End() { l.change(func() { l.ended = true }) }

func (l *EventLog) change(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
	if l.changed != nil {
		close(l.changed)
	}
	l.changed = make(chan struct{})
}

// Since returns the events after the first n, whether the window has ended, and a channel that is closed at the next
// change.
func (l *EventLog) Since(n int) (events []*mcphubv1.AttachResponse, ended bool, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	return l.events[n:len(l.events):len(l.events)], l.ended, l.changed
}

// WaitFor returns what pick returns for the first event that it picks. If the event does not come before ctx or the
// window ends, the error names it by what.
func WaitFor[T any](ctx context.Context, l *EventLog, what string,
	pick func(*mcphubv1.AttachResponse) (T, bool)) (T, error) {
	for seen := 0; ; {
		events, ended, changed := l.Since(seen)
		for _, event := range events {
			if v, ok := pick(event); ok {
				return v, nil
			}
		}
		seen += len(events)
		var none T
		if ended {
			return none, fmt.Errorf("the window ended before %s", what)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return none, fmt.Errorf("%s did not come: %w", what, context.Cause(ctx))
		}
	}
}

// Eventually calls f again and again until it returns true. It is for what no output shows.
func Eventually(ctx context.Context, what string, f func() (bool, error)) error {
	for {
		ok, err := f()
		if ok || err != nil {
			return err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("%s did not come true: %w", what, context.Cause(ctx))
		}
	}
}
