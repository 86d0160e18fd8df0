package main

import (
	"context"
	"sync"
	"time"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// window is an attached window that counts its events and keeps nothing else of them.
type window struct {
	cancel context.CancelCauseFunc
	ended  chan struct{} // closed by read

	mu      sync.Mutex // guards below
	seen    sightings
	changed chan struct{} // closed at each change, and replaced
	err     error
}

type sightings struct {
	welcome        bool
	opened, closed int // prompts
	finished       int // requests that ended in any way
	progress       map[string]*progressCount
}

var allKinds = []mcphubv1.PromptKind{
	mcphubv1.PromptKind_PROMPT_KIND_TOOL_APPROVAL, mcphubv1.PromptKind_PROMPT_KIND_SAMPLING,
	mcphubv1.PromptKind_PROMPT_KIND_ELICITATION_FORM, mcphubv1.PromptKind_PROMPT_KIND_ELICITATION_URL,
}

// attach opens a window that can show these kinds of prompts, and waits for its welcome.
func attach(ctx context.Context, editor mcphubv1.EditorServiceClient, kinds []mcphubv1.PromptKind) (*window, error) {
	streamCtx, cancel := context.WithCancelCause(ctx)
	stream, err := editor.Attach(streamCtx)
	if err != nil {
		cancel(err)
		return nil, err
	}
	w := &window{cancel: cancel, ended: make(chan struct{}), changed: make(chan struct{}),
		seen: sightings{progress: map[string]*progressCount{}}}
	go w.read(stream)
	hello := &mcphubv1.Hello{Title: "bench", PromptKinds: kinds}
	if err := stream.Send(&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_Hello{Hello: hello}}); err != nil {
		w.close()
		return nil, err
	}
	if err := w.await(ctx, func(s *sightings) bool { return s.welcome }); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

func (w *window) close() {
	w.cancel(errBenchOver)
	<-w.ended
}

// read counts until the stream ends.
func (w *window) read(stream mcphubv1.EditorService_AttachClient) {
	defer close(w.ended)
	for {
		m, err := stream.Recv()
		now := time.Now()
		w.mu.Lock()
		if err != nil {
			w.err = err
		} else {
			w.seen.take(m, now)
		}
		close(w.changed)
		w.changed = make(chan struct{})
		w.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *sightings) take(m *mcphubv1.AttachResponse, now time.Time) {
	switch m.GetEvent().(type) {
	case *mcphubv1.AttachResponse_Welcome:
		s.welcome = true
	case *mcphubv1.AttachResponse_PromptOpened:
		s.opened++
	case *mcphubv1.AttachResponse_PromptClosed:
		s.closed++
	case *mcphubv1.AttachResponse_McpRequestFinished, *mcphubv1.AttachResponse_McpRequestCancelled:
		s.finished++
	}
	if id, ok := progressed(m); ok {
		if s.progress[id] == nil {
			s.progress[id] = &progressCount{}
		}
		s.progress[id].add(now)
	}
}

// await waits until holds returns true; holds is called with mu held. An error means that the stream or ctx ended
// first.
func (w *window) await(ctx context.Context, holds func(*sightings) bool) error {
	for {
		w.mu.Lock()
		ok, err, changed := holds(&w.seen), w.err, w.changed
		w.mu.Unlock()
		switch {
		case ok:
			return nil
		case err != nil:
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
