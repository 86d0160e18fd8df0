package ipc

import (
	"context"
	"errors"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/sources"
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
	if err := m.Check(); err != nil {
		m.answer(nil, invalid(err))
		return
	}
	switch order := m.GetMessage().(type) {
	case *mcphubv1.AttachRequest_CancelMcpRequest:
		outcome, err := m.w.Cancel(order.CancelMcpRequest.GetRequestId(), order.CancelMcpRequest.GetReason())
		m.answer(&mcphubv1.Reply{CancelOutcome: outcomes.proto(outcome)}, err)
	case *mcphubv1.AttachRequest_AnswerPrompt:
		m.w.BeginAnswer(promptAnswer(order.AnswerPrompt), func(err error) { m.answer(nil, err) })
	case *mcphubv1.AttachRequest_MuteServer:
		_, err := m.s.muteServer(order.MuteServer)
		m.answer(nil, err)
	case *mcphubv1.AttachRequest_SetRoots:
		m.w.SetRoots(list(order.SetRoots.GetRoots(), root))
		m.answer(nil, nil)
	case *mcphubv1.AttachRequest_SetCapabilities:
		can := order.SetCapabilities
		m.w.SetCapabilities(list(can.GetPromptKinds(), promptKinds.hub), can.GetSamplingTools(),
			extensions(can.GetExtensionsJson()))
		m.answer(nil, nil)
	case *mcphubv1.AttachRequest_CancelRequests:
		outcomes := m.s.cancelRequests(order.CancelRequests, event.OriginUser)
		m.answer(&mcphubv1.Reply{Response: &mcphubv1.Reply_CancelRequests{CancelRequests: outcomes}}, nil)
	case *mcphubv1.AttachRequest_GetTrace:
		traces, err := m.s.traces(order.GetTrace)
		m.answer(&mcphubv1.Reply{Response: &mcphubv1.Reply_GetTrace{GetTrace: traces}}, err)
	case *mcphubv1.AttachRequest_PromptsInView:
		m.answer(nil, nil) // meant for the host between the page and this hub; without one, a page gets an empty reply
	case *mcphubv1.AttachRequest_ChooseBundle:
		m.answer(nil, invalid(errOfRelays))
	case *mcphubv1.AttachRequest_GiveUp:
		m.waits.giveUp(order.GiveUp.GetMessageId())
		m.answer(nil, nil)
	case *mcphubv1.AttachRequest_Hello:
		m.answer(nil, invalid(errSecondHello))
	default:
		m.begin()
	}
}

var errOfHosts = errors.New(
	"call_tool: model_name, view and caller are for hosts, whose CallTool gives them the result")

var errSecondHello = errors.New("hello: comes first and only once; set_roots and set_capabilities change what it said")

// begin begins an operation that takes time, on a goroutine of the hub. Operations that only this stream needs (a list,
// and the wait for a start or a sign-in) end with it. All others are carried out even if the stream ends: half a
// restart is worse than none. An order that changes a server has taken effect when begin returns. So the orders of one
// window take effect in their order, and a call that follows them finds the server as they have left it.
func (m *message) begin() {
	s, toEnd, attached := m.s, m.w.Go, m.w.GoAttached
	switch order := m.GetMessage().(type) {
	case *mcphubv1.AttachRequest_CallTool:
		// Not with the context of the stream: the trace context in its metadata belongs to the stream, and is not the parent
		// of each call.
		call := callRequest(context.Background(), order.CallTool)
		if o := order.CallTool; o.GetModelName() != "" || o.GetView() != nil || o.GetCaller() != "" {
			m.answer(nil, invalid(errOfHosts))
			return
		}
		if err := m.w.CallTool(call, func(_ *hub.CallResult, err error) { m.answer(nil, err) }); err != nil {
			m.answer(nil, err)
		}
	case *mcphubv1.AttachRequest_ReadResource:
		read := resourceRequest(context.Background(), order.ReadResource) // see CallTool
		if err := m.w.ReadResource(read, func(_ *hub.CallResult, err error) { m.answer(nil, err) }); err != nil {
			m.answer(nil, err)
		}
	case *mcphubv1.AttachRequest_GetMcpPrompt:
		fill := mcpPromptRequest(context.Background(), order.GetMcpPrompt) // see CallTool
		if err := m.w.GetMcpPrompt(fill, func(_ *hub.CallResult, err error) { m.answer(nil, err) }); err != nil {
			m.answer(nil, err)
		}
	case *mcphubv1.AttachRequest_ReadRequest:
		m.run(attached, func(context.Context) (*mcphubv1.Reply, error) {
			piece, err := s.readRequest(order.ReadRequest)
			return &mcphubv1.Reply{Response: &mcphubv1.Reply_ReadRequest{ReadRequest: piece}}, err
		})
	case *mcphubv1.AttachRequest_ListTools:
		m.run(attached, func(ctx context.Context) (*mcphubv1.Reply, error) {
			tools, err := s.listTools(ctx, order.ListTools)
			return &mcphubv1.Reply{Response: &mcphubv1.Reply_ListTools{ListTools: tools}}, err
		})
	case *mcphubv1.AttachRequest_StartServer:
		m.run(m.w.OrderAttached, withoutResponse(order.StartServer, s.startServer))
	case *mcphubv1.AttachRequest_SignIn:
		m.run(attached, withoutResponse(order.SignIn, s.signIn))
	case *mcphubv1.AttachRequest_StopServer:
		m.run(m.w.Order, withoutResponse(order.StopServer, by(m.w, s.stopServer)))
	case *mcphubv1.AttachRequest_RestartServer:
		m.run(m.w.Order, withoutResponse(order.RestartServer, by(m.w, s.restartServer)))
	case *mcphubv1.AttachRequest_SetServerEnabled:
		m.run(m.w.Order, withoutResponse(order.SetServerEnabled, by(m.w, s.setServerEnabled)))
	case *mcphubv1.AttachRequest_SignOut:
		m.run(toEnd, withoutResponse(order.SignOut, by(m.w, s.signOut)))
	case *mcphubv1.AttachRequest_AddServer:
		m.run(toEnd, written(m, order.AddServer, s.addServer))
	case *mcphubv1.AttachRequest_UpdateServer:
		m.run(toEnd, written(m, order.UpdateServer, s.updateServer))
	case *mcphubv1.AttachRequest_RemoveServer:
		m.run(toEnd, written(m, order.RemoveServer, s.removeServer))
	case *mcphubv1.AttachRequest_UndoConfigWrite:
		m.run(toEnd, written(m, order.UndoConfigWrite, s.undoConfigWrite))
	case *mcphubv1.AttachRequest_ListConfigFiles:
		m.run(attached, func(ctx context.Context) (*mcphubv1.Reply, error) {
			files, err := s.listConfigFiles(ctx, order.ListConfigFiles)
			return &mcphubv1.Reply{Response: &mcphubv1.Reply_ListConfigFiles{ListConfigFiles: files}}, err
		})
	case *mcphubv1.AttachRequest_ReadConfigText:
		m.run(attached, func(ctx context.Context) (*mcphubv1.Reply, error) {
			read, err := s.readConfigText(ctx, order.ReadConfigText)
			return &mcphubv1.Reply{Response: &mcphubv1.Reply_ReadConfigText{ReadConfigText: read}}, err
		})
	case *mcphubv1.AttachRequest_GetServerEntry:
		m.run(attached, func(ctx context.Context) (*mcphubv1.Reply, error) {
			entry, err := s.getServerEntry(ctx, order.GetServerEntry)
			return &mcphubv1.Reply{Response: &mcphubv1.Reply_GetServerEntry{GetServerEntry: entry}}, err
		})
	default:
		m.find()
	}
}

// written returns order as a function that answers with the result of writing a config file.
func written[Q any](m *message, r Q,
	order func(context.Context, string, Q) (sources.Written, error)) func(context.Context) (*mcphubv1.Reply, error) {
	return func(ctx context.Context) (*mcphubv1.Reply, error) {
		w, err := order(ctx, m.w.ID(), r)
		return &mcphubv1.Reply{Response: &mcphubv1.Reply_ConfigWrite{ConfigWrite: m.s.convert.write(w)}}, err
	}
}

// by returns order with who as the one who gives it.
func by[Q, R any](who steering, order func(context.Context, steering, Q) (R, error)) func(context.Context,
	Q) (R, error) {
	return func(ctx context.Context, r Q) (R, error) { return order(ctx, who, r) }
}

// withoutResponse returns order as a function that answers only whether it succeeded. The windows get its result by
// events.
func withoutResponse[Q, R any](r Q,
	order func(context.Context, Q) (R, error)) func(context.Context) (*mcphubv1.Reply, error) {
	return func(ctx context.Context) (*mcphubv1.Reply, error) {
		_, err := order(ctx, r)
		return nil, err
	}
}

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
