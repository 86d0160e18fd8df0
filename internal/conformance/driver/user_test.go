package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"google.golang.org/grpc"

	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// editor is a fake EditorService with one window: it opens the prompts that a test sends it, and passes on the answers
// of the window.
type editor struct {
	mcphubv1.UnimplementedEditorServiceServer
	prompts chan *mcphubv1.Prompt
	answers chan *mcphubv1.PromptAnswer
	hello   chan *mcphubv1.Hello
}

func (e *editor) Attach(stream grpc.BidiStreamingServer[mcphubv1.AttachRequest, mcphubv1.AttachResponse]) error {
	m, err := stream.Recv()
	if err != nil {
		return err
	}
	e.hello <- m.GetHello()
	if err := stream.Send(
		&mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_Welcome{Welcome: &mcphubv1.Welcome{}}}); err != nil {
		return err
	}
	go func() {
		for {
			m, err := stream.Recv()
			if err != nil {
				return // the stream has ended, at the latest with the server
			}
			e.answers <- m.GetAnswerPrompt()
		}
	}()
	for {
		select {
		case p := <-e.prompts:
			if err := stream.Send(
				&mcphubv1.AttachResponse{
					Event: &mcphubv1.AttachResponse_PromptOpened{PromptOpened: &mcphubv1.PromptOpened{Prompt: p}}}); err != nil {
				return err
			}
		case <-stream.Context().Done():
			return nil
		}
	}
}

// answer opens a prompt and returns the answer of the driver's window.
func (e *editor) answer(t *testing.T, p *mcphubv1.Prompt) *mcphubv1.PromptAnswer {
	t.Helper()
	e.prompts <- p
	a := <-e.answers
	if a.GetPromptId() != p.GetPromptId() {
		t.Errorf("prompt %s, answered %s", p.GetPromptId(), a.GetPromptId())
	}
	return a
}

// serve starts an editor service in memory. The server and its goroutine end with the test.
func serve(t *testing.T) (*editor, *grpc.Server, *door.Client) {
	t.Helper()
	e := &editor{prompts: make(chan *mcphubv1.Prompt), answers: make(chan *mcphubv1.PromptAnswer, 8),
		hello: make(chan *mcphubv1.Hello, 1)}
	server := grpc.NewServer()
	mcphubv1.RegisterEditorServiceServer(server, e)
	return e, server, door.NewClient(fakeeditor.Serve(t, server, nil), nil)
}

// opened attaches the driver's window to an editor service of the test. The window is closed at the end of the test.
func opened(t *testing.T) *editor {
	t.Helper()
	e, _, client := serve(t)
	u, err := attach(context.WithoutCancel(t.Context()), client) // only close ends the window
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := u.close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func signIn(id, url string, waiting bool) *mcphubv1.Prompt {
	return &mcphubv1.Prompt{PromptId: id, Question: &mcphubv1.Prompt_SignIn{SignIn: &mcphubv1.SignIn{Url: url,
		Waiting: waiting}}}
}

func TestWindowDeclaresWhatItAnswers(t *testing.T) {
	e := opened(t)
	hello := <-e.hello
	want := []mcphubv1.PromptKind{mcphubv1.PromptKind_PROMPT_KIND_ELICITATION_FORM,
		mcphubv1.PromptKind_PROMPT_KIND_SIGN_IN}
	if got := hello.GetPromptKinds(); !slices.Equal(got, want) {
		t.Errorf("the window declared the prompt kinds %v, want %v", got, want)
	}
}

func TestWindowFillsForms(t *testing.T) {
	e := opened(t)
	form := &mcphubv1.ElicitationForm{SchemaJson: `{"properties":{"n":{"type":"number","default":95.5}}}`}
	a := e.answer(t, &mcphubv1.Prompt{PromptId: "1", Question: &mcphubv1.Prompt_ElicitationForm{ElicitationForm: form}})
	if got := a.GetAccept().GetContentJson(); got != `{"n":95.5}` {
		t.Errorf("%v", a)
	}
	form = &mcphubv1.ElicitationForm{SchemaJson: `{"properties":{"n":{"type":"string"}},"required":["n"]}`}
	a = e.answer(t, &mcphubv1.Prompt{PromptId: "2", Question: &mcphubv1.Prompt_ElicitationForm{ElicitationForm: form}})
	if a.GetDismiss() == nil {
		t.Errorf("what nobody can know was answered: %v", a)
	}
	a = e.answer(t,
		&mcphubv1.Prompt{PromptId: "3", Question: &mcphubv1.Prompt_ToolApproval{ToolApproval: &mcphubv1.ToolApproval{}}})
	if a.GetDismiss() == nil {
		t.Errorf("a prompt of a kind that was not declared was answered: %v", a)
	}
}

// TestWindowSignsIn: the window plays the browser, and follows the redirect of the authorization server to the address
// where the hub listens.
func TestWindowSignsIn(t *testing.T) {
	e := opened(t)
	arrived := make(chan string, 1)
	hub := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { arrived <- r.URL.RawQuery }))
	t.Cleanup(hub.Close)
	authorization := httptest.NewServer(http.RedirectHandler(hub.URL+"/callback?code=c&state=s", http.StatusFound))
	t.Cleanup(authorization.Close)
	if a := e.answer(t, signIn("1", authorization.URL, false)); a.GetAccept() == nil {
		t.Fatalf("%v", a)
	}
	if got := <-arrived; got != "code=c&state=s" {
		t.Errorf("the hub got %q", got)
	}
	// The hub closes the waiting prompt itself, so the window must not answer it. The form that comes next is answered.
	e.prompts <- signIn("2", authorization.URL, true)
	form := &mcphubv1.Prompt{PromptId: "3",
		Question: &mcphubv1.Prompt_ElicitationForm{ElicitationForm: &mcphubv1.ElicitationForm{SchemaJson: `{}`}}}
	if a := e.answer(t, form); a.GetAccept() == nil {
		t.Errorf("%v", a)
	}
}

// TestWindowGivesUpOnBrokenPage: if the sign-in page returns an error, no redirect will come, so the window dismisses
// the waiting prompt.
func TestWindowGivesUpOnBrokenPage(t *testing.T) {
	e := opened(t)
	authorization := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(authorization.Close)
	if a := e.answer(t, signIn("1", authorization.URL, false)); a.GetAccept() == nil {
		t.Fatalf("%v", a)
	}
	if a := e.answer(t, signIn("2", authorization.URL, true)); a.GetDismiss() == nil {
		t.Errorf("%v", a)
	}
}

// TestWindowTellsOfItsEnd: if the hub ends the stream, the driver reports an error, so that no scenario passes by
// accident.
func TestWindowTellsOfItsEnd(t *testing.T) {
	_, server, client := serve(t)
	u, err := attach(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	server.Stop()
	<-u.window.Ended
	if u.close() == nil {
		t.Error("the lost stream is no error")
	}
}
