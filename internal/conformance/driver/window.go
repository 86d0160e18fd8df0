package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"

	"google.golang.org/grpc"

	"github.com/mcphub-go/mcphub/internal/conformance/scenario"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// kinds are the prompts that the window answers. Sampling is not among them: no scenario asks a client for it.
var kinds = []mcphubv1.PromptKind{
	mcphubv1.PromptKind_PROMPT_KIND_ELICITATION_FORM,
	mcphubv1.PromptKind_PROMPT_KIND_SIGN_IN,
}

// window is a user who agrees to everything. Its goroutine, run, reads the stream. It ends with the stream, and then
// waits for the visits.
type window struct {
	stream grpc.BidiStreamingClient[mcphubv1.AttachRequest, mcphubv1.AttachResponse]
	cancel context.CancelCauseFunc
	done   chan struct{} // closed by run
	err    error         // written before done is closed

	sendMu sync.Mutex // guards Send of stream, which is not safe for concurrent use

	visits sync.WaitGroup // only run adds to it
	last   *visit         // the page that was opened last; only run uses it
}

var errClosed = errors.New("the driver closed its window")

// attach returns when the hub has welcomed the window.
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

// close ends the window and returns its errors.
func (w *window) close() error {
	w.cancel(errClosed)
	<-w.done
	return w.err
}

func (w *window) run(ctx context.Context) {
	defer close(w.done)
	defer w.visits.Wait()
	for {
		m, err := w.stream.Recv()
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(context.Cause(ctx), errClosed) {
				w.err = errors.Join(w.err, fmt.Errorf("the window: %w", err))
			}
			return
		}
		if p := m.GetPromptOpened().GetPrompt(); p != nil {
			w.meet(ctx, p)
		}
		if e := m.GetReply().GetError(); e != nil {
			fmt.Fprintf(os.Stderr, "driver: an answer was refused: %s: %s\n", e.GetReason(), e.GetMessage())
		}
	}
}

// meet answers a prompt like a user who wants the call to succeed.
func (w *window) meet(ctx context.Context, p *mcphubv1.Prompt) {
	switch q := p.GetQuestion().(type) {
	case *mcphubv1.Prompt_ElicitationForm:
		content, err := scenario.FormAnswer(json.RawMessage(q.ElicitationForm.GetSchemaJson()))
		if err != nil {
			w.dismiss(p, err)
			return
		}
		w.accept(p, string(content))
	case *mcphubv1.Prompt_SignIn:
		if q.SignIn.GetWaiting() {
			w.await(p)
			return
		}
		w.accept(p, "")
		w.open(ctx, q.SignIn.GetUrl())
	default:
		w.dismiss(p, fmt.Errorf("a prompt that the driver does not know: %T", q))
	}
}

func (w *window) accept(p *mcphubv1.Prompt, content string) {
	w.answer(&mcphubv1.PromptAnswer{PromptId: p.GetPromptId(), Action: &mcphubv1.PromptAnswer_Accept{
		Accept: &mcphubv1.AcceptPrompt{ContentJson: content},
	}})
}

func (w *window) dismiss(p *mcphubv1.Prompt, why error) {
	fmt.Fprintln(os.Stderr, "driver: dismissed a prompt:", why)
	w.answer(&mcphubv1.PromptAnswer{PromptId: p.GetPromptId(),
		Action: &mcphubv1.PromptAnswer_Dismiss{Dismiss: &mcphubv1.DismissPrompt{}}})
}

// answer sends an answer. It ignores errors: run sees the end of the stream.
func (w *window) answer(a *mcphubv1.PromptAnswer) {
	w.sendMu.Lock()
	defer w.sendMu.Unlock()
	_ = w.stream.Send(&mcphubv1.AttachRequest{MessageId: a.GetPromptId(),
		Message: &mcphubv1.AttachRequest_AnswerPrompt{AnswerPrompt: a}})
}

// visit is a page that the user opens in a browser. The suite's authorization server asks the user nothing: it
// redirects at once to the hub's address.
type visit struct {
	done chan struct{} // closed when the last page is shown
	err  error         // written before done is closed
}

// open visits a page like a browser, following redirects. Only run calls it.
func (w *window) open(ctx context.Context, url string) {
	v := &visit{done: make(chan struct{})}
	w.last = v
	w.visits.Go(func() {
		defer close(v.done)
		v.err = browse(ctx, url)
	})
}

func browse(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	page, err := io.ReadAll(io.LimitReader(response.Body, 4096))
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the browser shows %s: %.200q", response.Status, page)
	}
	return nil
}

// await leaves the prompt open while the browser is visiting a page: the hub closes it. If the visit fails, the user
// dismisses the prompt.
func (w *window) await(p *mcphubv1.Prompt) {
	v := w.last
	if v == nil {
		w.dismiss(p, errors.New("the hub waits for a page that nobody was asked to open"))
		return
	}
	w.visits.Go(func() {
		<-v.done
		if v.err != nil {
			w.dismiss(p, v.err)
		}
	})
}
