package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
	"google.golang.org/grpc"
)

// allKinds are all prompt kinds.
var allKinds = []mcphubv1.PromptKind{
	mcphubv1.PromptKind_PROMPT_KIND_TOOL_APPROVAL,
	mcphubv1.PromptKind_PROMPT_KIND_SAMPLING,
	mcphubv1.PromptKind_PROMPT_KIND_ELICITATION_FORM,
	mcphubv1.PromptKind_PROMPT_KIND_ELICITATION_URL,
	mcphubv1.PromptKind_PROMPT_KIND_SIGN_IN,
	mcphubv1.PromptKind_PROMPT_KIND_SERVER_LAUNCH,
	mcphubv1.PromptKind_PROMPT_KIND_CONFIG_INPUT,
}

var errWindowClosed = errors.New("the window was closed")

// window is one attached stream. Its methods may be called concurrently.
type window struct {
	// welcome is the hub's first message.
	welcome *mcphubv1.AttachResponse
	// events gets every further message, in order, and is closed when the stream has ended. err then says why, and is nil
	// for a clean end. A reader that stops reading delays only this window.
	events <-chan *mcphubv1.AttachResponse
	err    error

	outgoing chan *mcphubv1.AttachRequest // nil means a half-close
	cancel   context.CancelCauseFunc
	sent     chan struct{} // closed when the sender has ended
	ended    chan struct{} // closed when the stream has ended
}

// attach opens a window and waits for the hub's welcome. The window ends with ctx.
func attach(ctx context.Context, client *hubClient, hello *mcphubv1.Hello) (*window, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	stream, err := client.Editor.Attach(ctx)
	if err != nil {
		cancel(err)
		return nil, asFailure(err)
	}
	err = stream.Send(&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_Hello{Hello: hello}})
	var welcome *mcphubv1.AttachResponse
	if err == nil || err == io.EOF { // on io.EOF, Recv returns the status
		welcome, err = stream.Recv()
	}
	if err == nil && welcome.GetWelcome() == nil {
		err = failuref("INTERNAL", "the hub's first message was no welcome")
	}
	if err != nil {
		cancel(err)
		return nil, asFailure(err)
	}
	events := make(chan *mcphubv1.AttachResponse)
	w := &window{
		welcome: welcome, events: events, cancel: cancel,
		outgoing: make(chan *mcphubv1.AttachRequest, 16), sent: make(chan struct{}), ended: make(chan struct{}),
	}
	go w.send(stream)
	go w.receive(ctx, stream, events)
	return w, nil
}

// send sends the messages of outgoing. Only it uses the stream's sending half.
func (w *window) send(stream grpc.BidiStreamingClient[mcphubv1.AttachRequest, mcphubv1.AttachResponse]) {
	defer close(w.sent)
	for {
		select {
		case m := <-w.outgoing:
			if m == nil {
				_ = stream.Send(&mcphubv1.AttachRequest{ // its error is the stream's, which receive gets
					Message: &mcphubv1.AttachRequest_CloseWindow{CloseWindow: &mcphubv1.CloseWindow{}},
				})
				return
			}
			if stream.Send(m) != nil {
				return
			}
		case <-w.ended:
			return
		}
	}
}

// receive receives the messages, and ends the window. Only it uses the stream's receiving half.
func (w *window) receive(ctx context.Context, stream grpc.BidiStreamingClient[mcphubv1.AttachRequest,
	mcphubv1.AttachResponse], events chan<- *mcphubv1.AttachResponse) {
	defer close(events)
	defer close(w.ended)
	for {
		m, err := stream.Recv()
		if err == io.EOF {
			return
		}
		if err != nil {
			w.err = asFailure(err)
			return
		}
		select {
		case events <- m:
		case <-ctx.Done():
			w.err = context.Cause(ctx)
			return
		}
	}
}

// post sends one message, unless the window has ended.
func (w *window) post(m *mcphubv1.AttachRequest) {
	select {
	case w.outgoing <- m:
	case <-w.sent:
	}
}

// answer answers prompts.
func (w *window) answer(answers ...*mcphubv1.PromptAnswer) {
	for _, a := range answers {
		w.post(&mcphubv1.AttachRequest{MessageId: "answer " + a.GetPromptId(),
			Message: &mcphubv1.AttachRequest_AnswerPrompt{AnswerPrompt: a}})
	}
}

// dismissUnfit dismisses a question if its answer does not fit the schema, since nobody is there to correct it. It
// returns a text that says so, "" for any other reply.
func (w *window) dismissUnfit(r *mcphubv1.Reply) string {
	id, ok := strings.CutPrefix(r.GetMessageId(), "answer ")
	if !ok || r.GetError().GetReason() != "INVALID_CONTENT" {
		return ""
	}
	w.answer(dismiss(id))
	return "the answer does not fit, so the question is dismissed: " + escape(r.GetError().GetMessage())
}

// cancelRequest cancels a request as the Cancel button does.
func (w *window) cancelRequest(messageID, requestID, reason string) {
	w.post(&mcphubv1.AttachRequest{MessageId: messageID, Message: &mcphubv1.AttachRequest_CancelMcpRequest{
		CancelMcpRequest: &mcphubv1.CancelMcpRequest{RequestId: requestID, Reason: reason},
	}})
}

// finish says that this window sends nothing more. The hub then sends what it still has, and ends the stream. A reader
// that reads events to the end has seen everything.
func (w *window) finish() { w.post(nil) }

// close ends the window at once, and waits for its goroutines. Messages that were not read are lost.
func (w *window) close() {
	w.cancel(errWindowClosed)
	<-w.ended
	<-w.sent
}

func accept(promptID, contentJSON string) *mcphubv1.PromptAnswer {
	return &mcphubv1.PromptAnswer{PromptId: promptID, Action: &mcphubv1.PromptAnswer_Accept{
		Accept: &mcphubv1.AcceptPrompt{Scope: mcphubv1.ApprovalScope_APPROVAL_SCOPE_ONCE, ContentJson: contentJSON},
	}}
}

// once gives a yes the scope of everything that the command line agrees to.
func once(yes *mcphubv1.PromptAnswer) *mcphubv1.PromptAnswer {
	yes.GetAccept().Scope = mcphubv1.ApprovalScope_APPROVAL_SCOPE_ONCE
	return yes
}

// give returns an answer with a value. The hub must not keep the value: a command line holds for one command, and a
// secret that was typed for one call should not outlive it.
func give(promptID, value string) *mcphubv1.PromptAnswer {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // strings always marshal
	}
	return &mcphubv1.PromptAnswer{PromptId: promptID, Action: &mcphubv1.PromptAnswer_Accept{
		Accept: &mcphubv1.AcceptPrompt{ContentJson: string(text), KeptByHost: true},
	}}
}

func decline(promptID, reason string) *mcphubv1.PromptAnswer {
	return &mcphubv1.PromptAnswer{PromptId: promptID, Action: &mcphubv1.PromptAnswer_Decline{
		Decline: &mcphubv1.DeclinePrompt{Reason: reason},
	}}
}

func dismiss(promptID string) *mcphubv1.PromptAnswer {
	return &mcphubv1.PromptAnswer{PromptId: promptID,
		Action: &mcphubv1.PromptAnswer_Dismiss{Dismiss: &mcphubv1.DismissPrompt{}}}
}
