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

	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/conformance/scenario"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// kinds are the prompts that the user answers. Sampling is not among them: no scenario asks a client for it.
var kinds = []mcphubv1.PromptKind{
	mcphubv1.PromptKind_PROMPT_KIND_ELICITATION_FORM,
	mcphubv1.PromptKind_PROMPT_KIND_SIGN_IN,
}

// user is a person who agrees to everything. Its goroutine reads the window.
type user struct {
	window   *door.Window
	watching sync.WaitGroup
	visits   sync.WaitGroup
	last     func() error // waits for the page that was opened last, and returns what went wrong; nil: none was opened
}

// attach returns when the hub has welcomed the user's window.
func attach(ctx context.Context, client *door.Client) (*user, error) {
	w, err := door.Attach(ctx, client, &mcphubv1.Hello{Title: "conformance", PromptKinds: kinds})
	if err != nil {
		return nil, err
	}
	u := &user{window: w}
	u.watching.Go(func() {
		defer u.visits.Wait()
		for m := range w.Events {
			if p := m.GetPromptOpened().GetPrompt(); p != nil {
				u.meet(ctx, p)
			}
			if e := m.GetReply().GetError(); e != nil {
				fmt.Fprintf(os.Stderr, "driver: an answer was refused: %s: %s\n", e.GetReason(), e.GetMessage())
			}
		}
	})
	return u, nil
}

// close ends the window. It returns an error if that has ended before.
func (u *user) close() (err error) {
	select {
	case <-u.window.Ended:
		err = fmt.Errorf("the window ended: %v", door.OrDone(u.window.Err))
	default:
	}
	u.window.Close()
	u.watching.Wait()
	return err
}

// meet answers a prompt like a user who wants the call to succeed.
func (u *user) meet(ctx context.Context, p *mcphubv1.Prompt) {
	switch q := p.GetQuestion().(type) {
	case *mcphubv1.Prompt_ElicitationForm:
		content, err := scenario.FormAnswer(json.RawMessage(q.ElicitationForm.GetSchemaJson()))
		if err != nil {
			u.dismiss(p, err)
			return
		}
		u.window.Answer(door.Accept(p, string(content)))
	case *mcphubv1.Prompt_SignIn:
		if q.SignIn.GetWaiting() {
			u.await(p)
			return
		}
		u.window.Answer(door.Accept(p, ""))
		u.last = sync.OnceValue(func() error { return browse(ctx, q.SignIn.GetUrl()) })
		u.visits.Go(func() { _ = u.last() })
	default:
		u.dismiss(p, fmt.Errorf("a prompt that the driver does not know: %T", q))
	}
}

// await leaves the prompt open while the browser is visiting a page: the hub closes it. If the visit fails, the user
// dismisses the prompt.
func (u *user) await(p *mcphubv1.Prompt) {
	visit := u.last
	if visit == nil {
		u.dismiss(p, errors.New("the hub waits for a page that nobody was asked to open"))
		return
	}
	u.visits.Go(func() {
		if err := visit(); err != nil {
			u.dismiss(p, err)
		}
	})
}

func (u *user) dismiss(p *mcphubv1.Prompt, why error) {
	fmt.Fprintln(os.Stderr, "driver: dismissed a prompt:", why)
	u.window.Answer(door.Dismiss(p.GetPromptId()))
}

// browse visits a page like a browser, following redirects. The suite's authorization server asks the user nothing: it
// redirects at once to the hub's address.
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
