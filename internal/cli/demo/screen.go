package demo

import (
	"context"
	"fmt"
	"strings"

	"github.com/mcphub-go/mcphub/internal/cli/door"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// screen is one window of the editor that the demo simulates.
type screen struct {
	title  string
	window *door.Window
	log    door.EventLog
	asked  int // number of messages so far that have a reply
}

// say posts a message and waits for the hub's reply to it.
func (scr *screen) say(ctx context.Context, m *mcphubv1.AttachRequest) *mcphubv1.Reply {
	scr.asked++
	m.MessageId = fmt.Sprintf("%s-%d", strings.ReplaceAll(scr.title, " ", "-"), scr.asked)
	scr.window.Post(m)
	return sees(ctx, scr, "the hub's reply", func(e *mcphubv1.AttachResponse) (*mcphubv1.Reply, bool) {
		return e.GetReply(), e.GetReply().GetMessageId() == m.MessageId
	})
}

// answer answers a prompt; the hub must accept the answer.
func (scr *screen) answer(ctx context.Context, a *mcphubv1.PromptAnswer) {
	reply := scr.say(ctx, &mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_AnswerPrompt{AnswerPrompt: a}})
	failIf(reply.GetError() != nil, "the answer was refused: %s", reply.GetError().GetMessage())
}

// cancel cancels a request as the Cancel button does, and returns the outcome.
func (scr *screen) cancel(ctx context.Context, requestID, reason string) mcphubv1.CancelOutcome {
	reply := scr.say(ctx, &mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_CancelMcpRequest{
		CancelMcpRequest: &mcphubv1.CancelMcpRequest{RequestId: requestID, Reason: reason},
	}})
	failIf(reply.GetError() != nil, "the cancel was refused: %s", reply.GetError().GetMessage())
	return reply.GetCancelOutcome()
}

// sees waits until a window gets an event that pick picks, of all since it was opened.
func sees[T any](ctx context.Context, scr *screen, what string, pick func(*mcphubv1.AttachResponse) (T, bool)) T {
	return got(door.WaitFor(ctx, &scr.log, what+" in the "+scr.title, pick))
}

// cancelled waits for the mcpRequestCancelled of a request in one window.
func (scr *screen) cancelled(ctx context.Context, requestID string) *mcphubv1.McpRequestCancelled {
	return sees(ctx, scr, "mcpRequestCancelled", func(e *mcphubv1.AttachResponse) (*mcphubv1.McpRequestCancelled, bool) {
		return e.GetMcpRequestCancelled(), e.GetMcpRequestCancelled().GetRequestId() == requestID
	})
}

// delivery waits until a window knows what became of the cancel of a request. On a busy machine that may be after its
// mcpRequestCancelled.
func (scr *screen) delivery(ctx context.Context, requestID string) mcphubv1.CancelDelivery {
	return sees(ctx, scr, "the delivery of the cancel", func(e *mcphubv1.AttachResponse) (mcphubv1.CancelDelivery, bool) {
		if c := e.GetMcpRequestCancelled(); c.GetRequestId() == requestID {
			return c.GetDelivery(), c.GetDelivery() != mcphubv1.CancelDelivery_CANCEL_DELIVERY_PENDING
		}
		d := e.GetMcpRequestCancelDelivery()
		return d.GetDelivery(), d.GetRequestId() == requestID
	})
}

// progress waits for the first progress of a request.
func (scr *screen) progress(ctx context.Context, requestID string) *mcphubv1.Progress {
	return sees(ctx, scr, "progress", func(e *mcphubv1.AttachResponse) (*mcphubv1.Progress, bool) {
		p := e.GetMcpRequestProgressed()
		return p.GetProgress(), p.GetRequestId() == requestID && p.GetProgress() != nil
	})
}
