package ipc

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

type editorService struct {
	mcphubv1.UnimplementedEditorServiceServer
	*services
	methods methods
}

type attachStream = grpc.BidiStreamingServer[mcphubv1.AttachRequest, mcphubv1.AttachResponse]

// Attach carries out one window's stream from hello to its end. close_window ends the window for good. If the stream
// ends in any other way, the window has some time to come back.
func (s *editorService) Attach(stream attachStream) error {
	first, err := stream.Recv()
	if errors.Is(err, io.EOF) {
		return statusOf(errHelloExpected)
	}
	if err != nil {
		return broken(stream.Context(), err)
	}
	hello := first.GetHello()
	if hello == nil {
		return statusOf(errHelloExpected)
	}
	if err := mcphubv1.Check(first); err != nil {
		return statusOf(invalid(err))
	}
	box := newOutbox(&s.sharing, hello.GetMaxProgressRate())
	w, start, err := s.domain.Attach(helloOf(hello), box)
	if err != nil {
		return loggedStatus(stream.Context(), s.log, err)
	}
	defer w.Detach(false) // has no effect if it is detached
	defer box.abandon()
	box.begin(s.opening(first, w.ID(), start))
	return s.serve(stream, w, box)
}

var errHelloExpected = &event.Error{Code: event.CodeInvalidArgument, Reason: reasonHelloExpected,
	Message: "the first message of a window must be hello"}

// opening returns what a window is sent first.
func (s *editorService) opening(first *mcphubv1.AttachRequest, windowID string, start *hub.WindowStart) []entry {
	entries := []entry{
		{message: &mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_Welcome{Welcome: &mcphubv1.Welcome{
			HubId: s.domain.ID(), WindowId: s.convert.text(windowID), Version: s.convert.text(s.domain.Version()),
		}}}},
		{message: &mcphubv1.AttachResponse{Time: timestamp(start.Snapshot.Time),
			Event: &mcphubv1.AttachResponse_Snapshot{Snapshot: s.convert.snapshot(start.Snapshot)}}},
	}
	for _, e := range start.Events {
		entries = append(entries, entry{event: &sharedEvent{convert: s.convert, event: e}})
	}
	if first.GetMessageId() != "" {
		entries = append(entries, entry{message: &mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_Reply{
			Reply: &mcphubv1.Reply{MessageId: first.GetMessageId()},
		}}})
	}
	return entries
}

// received is one result of the stream's Recv.
type received struct {
	request *mcphubv1.AttachRequest
	err     error
}

// serve carries out the window's messages in order of arrival, on the goroutine of the handler. Its two other
// goroutines may still be in Recv and Send when it returns. gRPC ends both with the context of the stream, which ends
// with the handler.
func (s *editorService) serve(stream attachStream, w window, box *outbox) error {
	ctx := stream.Context()
	inbox := make(chan received)
	go receive(stream, inbox)
	sent := make(chan error, 1)
	go s.send(stream, box, sent)
	waits := &givable{}
	for {
		select {
		case in := <-inbox:
			switch {
			case in.request.GetCloseWindow() != nil, errors.Is(in.err, io.EOF):
				// A half-close alone says nothing: Node's HTTP/2 sends one whenever it resets a stream, and the reset may
				// follow late or, from a process that ends, never.
				w.Detach(in.err == nil)
				box.finish(nil)
				return ended(ctx, <-sent)
			case in.err != nil:
				return broken(ctx, in.err)
			default:
				(&message{s, w, box, waits, in.request}).carryOut()
			}
		case err := <-sent:
			return ended(ctx, err)
		case <-box.tooSlow:
			return statusOf(box.failure())
		case <-ctx.Done(): // receive may have returned without sending the error
			return broken(ctx, ctx.Err())
		}
	}
}

// receive sends the messages of the stream to inbox until the stream ends.
func receive(stream attachStream, inbox chan<- received) {
	for {
		r, err := stream.Recv()
		select {
		case inbox <- received{r, err}:
		case <-stream.Context().Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// send runs the outbox. It recovers from a panic, which on this goroutine would end the process.
func (s *editorService) send(stream attachStream, box *outbox, sent chan<- error) {
	defer func() {
		if p := recover(); p != nil {
			sent <- panicked(s.log, p)
		}
	}()
	sent <- box.run(stream.Send)
}

// ended returns the status of a stream whose outbox ended with err.
func ended(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*event.Error](err); ok {
		return statusOf(err)
	}
	return broken(ctx, err)
}

// broken returns the status of a stream that the other side has ended. A plain ctx.Err() would become UNKNOWN.
func broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return status.FromContextError(ctx.Err()).Err()
	}
	if _, ok := status.FromError(err); ok {
		return err
	}
	return statusOf(err)
}

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
