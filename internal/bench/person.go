package main

import (
	"context"
	"sync"

	"google.golang.org/grpc"

	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// The answers of a person to every question.
const (
	silent   = ""
	accepts  = "accept"
	declines = "decline"
)

// stage is the progress of a request, as a window saw it.
type stage int

const (
	begun stage = iota + 1
	ended
)

// person is a window with a user who gives the same answer to every question. It follows the requests of the bystander.
type person struct {
	stream grpc.BidiStreamingClient[mcphubv1.AttachRequest, mcphubv1.AttachResponse]
	says   string
	cancel context.CancelCauseFunc
	gone   chan struct{} // closed by read

	sending sync.Mutex // one Send at a time

	mu      sync.Mutex // guards below
	whole   bool       // the snapshot has arrived
	stages  map[string]stage
	changed chan struct{} // closed at each change, and replaced
	err     error
}

// attachPerson opens a window and waits for its snapshot.
func attachPerson(ctx context.Context, editor mcphubv1.EditorServiceClient, says string) (*person, error) {
	streamCtx, cancel := context.WithCancelCause(ctx)
	stream, err := editor.Attach(streamCtx, grpc.MaxCallRecvMsgSize(1<<30))
	if err != nil {
		cancel(err)
		return nil, err
	}
	p := &person{stream: stream, says: says, cancel: cancel, gone: make(chan struct{}), changed: make(chan struct{}),
		stages: map[string]stage{}}
	go p.read()
	hello := &mcphubv1.Hello{Title: "bench", PromptKinds: allKinds}
	if err = p.send(&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_Hello{Hello: hello}}); err == nil {
		err = p.until(ctx, func() bool { return p.whole })
	}
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *person) close() {
	p.cancel(errBenchOver)
	<-p.gone
}

func (p *person) send(m *mcphubv1.AttachRequest) error {
	p.sending.Lock()
	defer p.sending.Unlock()
	return p.stream.Send(m)
}

func (p *person) read() {
	defer close(p.gone)
	for {
		m, err := p.stream.Recv()
		if q := m.GetPromptOpened().GetPrompt(); err == nil && q != nil && p.says != silent {
			_ = p.send(p.answerTo(q.GetPromptId())) // Recv reports a stream that has ended
		}
		p.mu.Lock()
		if p.err = err; err == nil {
			p.take(m)
		}
		close(p.changed)
		p.changed = make(chan struct{})
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (p *person) answerTo(id string) *mcphubv1.AttachRequest {
	a := &mcphubv1.PromptAnswer{PromptId: id, Action: &mcphubv1.PromptAnswer_Decline{Decline: &mcphubv1.DeclinePrompt{}}}
	if p.says == accepts {
		a.Action = &mcphubv1.PromptAnswer_Accept{Accept: &mcphubv1.AcceptPrompt{ContentJson: `{"name":"x"}`}}
	}
	return &mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_AnswerPrompt{AnswerPrompt: a}}
}

// take updates the person's state from a message. mu is held.
func (p *person) take(m *mcphubv1.AttachResponse) {
	switch e := m.GetEvent().(type) {
	case *mcphubv1.AttachResponse_Snapshot:
		p.whole = true
	case *mcphubv1.AttachResponse_McpRequestStarted:
		if r := e.McpRequestStarted.GetRequest(); r.GetState() == mcphubv1.RequestState_REQUEST_STATE_RUNNING {
			p.stages[r.GetRequestId()] = begun
		}
	case *mcphubv1.AttachResponse_McpRequestProgressed:
		if e.McpRequestProgressed.GetState() == mcphubv1.RequestState_REQUEST_STATE_RUNNING {
			p.stages[e.McpRequestProgressed.GetRequestId()] = begun
		}
	case *mcphubv1.AttachResponse_McpRequestCancelled:
		p.stages[e.McpRequestCancelled.GetRequestId()] = ended
	case *mcphubv1.AttachResponse_McpRequestFinished:
		p.stages[e.McpRequestFinished.GetRequestId()] = ended
	}
}

// await waits until a request has reached a stage. After an end, it forgets all requests.
func (p *person) await(ctx context.Context, id string, to stage) error {
	return p.until(ctx, func() bool {
		if p.stages[id] < to {
			return false
		}
		if to == ended {
			clear(p.stages)
		}
		return true
	})
}

func (p *person) until(ctx context.Context, holds func() bool) error {
	for {
		p.mu.Lock()
		ok, err, changed := holds(), p.err, p.changed
		p.mu.Unlock()
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

func (p *person) cancelRequest(id string) error {
	return p.send(&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_CancelMcpRequest{
		CancelMcpRequest: &mcphubv1.CancelMcpRequest{RequestId: id, Reason: "the bystander has seen enough"},
	}})
}

// hangUntilCancelled makes a call that ends only by a cancel.
func hangUntilCancelled(ctx context.Context, client *host.Client, id string) {
	_, _ = client.Hub.CallTool(ctx, &mcphubv1.CallToolRequest{RequestId: id, Server: "good", Tool: "hang"})
}
