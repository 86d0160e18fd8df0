package ipc

import (
	"context"
	"errors"

	"github.com/mcphub-go/mcphub/hub"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// carryOut does what one message of a window says. A message with an id gets exactly one reply; the trouble of one without
// is only logged. No message ends the window.
func (s *editorService) carryOut(ctx context.Context, w window, box *outbox, r *mcphubv1.AttachRequest) {
	outcome, err := s.apply(w, r)
	if err != nil && (r.GetMessageId() == "" || hubErrorOf(err).Code == hub.CodeInternal) {
		e := hubErrorOf(err)
		s.log.InfoContext(ctx, "window message failed", "window_id", bound(clean(w.ID())), "code", string(e.Code), "reason", e.Reason)
	}
	if r.GetMessageId() == "" {
		return
	}
	reply := &mcphubv1.Reply{MessageId: r.GetMessageId(), CancelOutcome: outcomes.proto(outcome)}
	if err != nil {
		reply.Error = s.convert.hubError(hubErrorOf(err))
	}
	box.reply(reply)
}

var errSecondHello = errors.New("hello: comes first and only once; set_roots and set_capabilities change what it said")

func (s *editorService) apply(w window, r *mcphubv1.AttachRequest) (hub.Outcome, error) {
	if err := r.Check(); err != nil {
		return 0, invalid(err)
	}
	switch m := r.GetMessage().(type) {
	case *mcphubv1.AttachRequest_CancelMcpRequest:
		return w.Cancel(m.CancelMcpRequest.GetRequestId(), m.CancelMcpRequest.GetReason())
	case *mcphubv1.AttachRequest_AnswerPrompt:
		return 0, w.Answer(promptAnswer(m.AnswerPrompt))
	case *mcphubv1.AttachRequest_SetRoots:
		w.SetRoots(list(m.SetRoots.GetRoots(), root))
	case *mcphubv1.AttachRequest_SetCapabilities:
		w.SetCapabilities(list(m.SetCapabilities.GetPromptKinds(), promptKinds.hub), m.SetCapabilities.GetSamplingTools(), extensions(m.SetCapabilities.GetExtensionsJson()))
	default:
		return 0, invalid(errSecondHello)
	}
	return 0, nil
}
