package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"google.golang.org/grpc"

	"github.com/mcphub-go/mcphub/internal/conformance/scenario"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// kinds are the prompts that the window answers. Sampling is not among them: no scenario asks a client for it.
var kinds = []mcphubv1.PromptKind{
	mcphubv1.PromptKind_PROMPT_KIND_ELICITATION_FORM,
}

// window is a user who says yes. One goroutine, run, reads the stream and writes the answers; done is closed by it.
type window struct {
	stream grpc.BidiStreamingClient[mcphubv1.AttachRequest, mcphubv1.AttachResponse]
	cancel context.CancelCauseFunc
	done   chan struct{}
	err    error // written before done is closed
}

var errClosed = errors.New("the driver closed its window")

// attach returns once the hub knows the window.
func attach(ctx context.Context, editor mcphubv1.EditorServiceClient) (*window, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	stream, err := editor.Attach(ctx)
	if err == nil {
		err = stream.Send(&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_Hello{
			Hello: &mcphubv1.Hello{Title: "conformance", PromptKinds: kinds},
		}})
	}
	if err == nil {
		_, err = stream.Recv() // the welcome
	}
	if err != nil {
		cancel(err)
		return nil, fmt.Errorf("attaching a window: %w", err)
	}
	w := &window{stream: stream, cancel: cancel, done: make(chan struct{})}
	go w.run(ctx)
	return w, nil
}

// close ends the window and tells what went wrong in it.
func (w *window) close() error {
	w.cancel(errClosed)
	<-w.done
	return w.err
}

func (w *window) run(ctx context.Context) {
	defer close(w.done)
	for {
		m, err := w.stream.Recv()
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(context.Cause(ctx), errClosed) {
				w.err = errors.Join(w.err, fmt.Errorf("the window: %w", err))
			}
			return
		}
		p := m.GetPromptOpened().GetPrompt()
		if p == nil {
			continue
		}
		answer, err := w.answer(p)
		if err != nil {
			fmt.Fprintln(os.Stderr, "driver: prompt:", err)
			w.err = errors.Join(w.err, err)
			answer = &mcphubv1.PromptAnswer{Action: &mcphubv1.PromptAnswer_Dismiss{Dismiss: &mcphubv1.DismissPrompt{}}}
		}
		answer.PromptId = p.GetPromptId()
		_ = w.stream.Send(&mcphubv1.AttachRequest{MessageId: p.GetPromptId(), Message: &mcphubv1.AttachRequest_AnswerPrompt{AnswerPrompt: answer}}) // an error shows in Recv
	}
}

// answer is what the user does with a prompt.
func (w *window) answer(p *mcphubv1.Prompt) (*mcphubv1.PromptAnswer, error) {
	form := p.GetElicitationForm()
	if form == nil {
		return nil, fmt.Errorf("a prompt that the driver does not know: %T", p.GetQuestion())
	}
	content, err := scenario.FormAnswer(json.RawMessage(form.GetSchemaJson()))
	if err != nil {
		return nil, err
	}
	return &mcphubv1.PromptAnswer{Action: &mcphubv1.PromptAnswer_Accept{
		Accept: &mcphubv1.AcceptPrompt{ContentJson: string(content)},
	}}, nil
}
