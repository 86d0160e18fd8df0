package ipc

import (
	"context"
	"errors"

	"github.com/mcphub-go/mcphub/hub/event"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// message is one message of a window while it is handled. A message with an id gets exactly one reply, unless the
// stream has ended. The error of a message without an id is only logged. No message ends the window.
type message struct {
	s   *editorService
	w   window
	box *outbox
	// the requests that the window can give up
	waits *givable
	*mcphubv1.AttachRequest
}

// carryOut carries out the message, or begins to. It does not block, so that a Cancel right after a call is not
// delayed.
func (m *message) carryOut() {
	if err := mcphubv1.Check(m.AttachRequest); err != nil {
		m.answer(nil, invalid(err))
		return
	}
	switch order := m.GetMessage().(type) {
	case *mcphubv1.AttachRequest_CancelMcpRequest:
		outcome, err := m.w.Cancel(order.CancelMcpRequest.GetRequestId(), order.CancelMcpRequest.GetReason())
		m.answer(&mcphubv1.Reply{CancelOutcome: mcphubv1.CancelOutcome(outcome)}, err)
	case *mcphubv1.AttachRequest_AnswerPrompt:
		m.w.BeginAnswer(promptAnswer(order.AnswerPrompt), func(err error) { m.answer(nil, err) })
	case *mcphubv1.AttachRequest_Call:
		m.call(order.Call)
	case *mcphubv1.AttachRequest_GiveUp:
		m.waits.giveUp(order.GiveUp.GetMessageId())
		m.answer(nil, nil)
	case *mcphubv1.AttachRequest_SetRoots:
		m.w.SetRoots(list(order.SetRoots.GetRoots(), root))
		m.answer(nil, nil)
	case *mcphubv1.AttachRequest_SetCapabilities:
		can := order.SetCapabilities
		m.w.SetCapabilities(list(can.GetPromptKinds(), promptKind), can.GetSamplingTools(),
			extensions(can.GetExtensionsJson()))
		m.answer(nil, nil)
	case *mcphubv1.AttachRequest_PromptsInView:
		m.answer(nil, nil) // meant for the host between the page and this hub; without one, a page gets an empty reply
	case *mcphubv1.AttachRequest_ChooseBundle:
		m.answer(nil, invalid(errOfRelays))
	case *mcphubv1.AttachRequest_Hello:
		m.answer(nil, invalid(errSecondHello))
	}
}

var (
	errSecondHello = errors.New("hello: comes first and only once; set_roots and set_capabilities change what it said")
	errOfRelays    = errors.New("choose_bundle: is for the host between a page and the hub; call ReadBundle")
)

// run runs an order on a goroutine of the hub. It recovers from a panic there, which would end the process.
func (m *message) run(on func(func(context.Context) (tell func())) error,
	order func(context.Context) (*mcphubv1.Reply, error)) {
	err := on(func(ctx context.Context) (tell func()) {
		defer func() {
			if p := recover(); p != nil {
				_ = panicked(m.s.log, p) // for its log record
				tell = func() { m.answer(nil, internalError) }
			}
		}()
		reply, err := order(ctx)
		return func() { m.answer(reply, err) }
	})
	if err != nil {
		m.answer(nil, err)
	}
}

// answer sends the reply. A nil reply means success without a response. If err is not nil, only that counts.
func (m *message) answer(reply *mcphubv1.Reply, err error) {
	if err != nil {
		e := hubErrorOf(err)
		if m.GetMessageId() == "" || e.Code == event.CodeInternal {
			m.s.log.InfoContext(context.Background(), "window message failed", "window_id", bound(clean(m.w.ID())),
				"code", string(e.Code), "reason", e.Reason)
		}
		reply = &mcphubv1.Reply{Error: m.s.convert.hubError(e), ErrorPlace: m.s.convert.errorPlace(e)}
	}
	if m.GetMessageId() == "" {
		return
	}
	if reply == nil {
		reply = &mcphubv1.Reply{}
	}
	reply.MessageId = m.GetMessageId()
	m.box.reply(reply)
}
