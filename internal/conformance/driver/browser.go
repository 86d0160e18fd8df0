package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

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
