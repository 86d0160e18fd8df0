package ipc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

func callMessage(messageID, requestID, tool string) *mcphubv1.AttachRequest {
	return callOf(messageID, &mcphubv1.CallToolRequest{RequestId: requestID, Server: "s", Tool: tool})
}

// orderMessages returns calls of methods that take time, by the name of the method.
func orderMessages() map[string]*mcphubv1.AttachRequest {
	orders := map[string]*mcphubv1.AttachRequest{}
	for _, r := range []proto.Message{
		&mcphubv1.CallToolRequest{RequestId: "r", Server: "s", Tool: "t"},
		&mcphubv1.ListToolsRequest{},
		&mcphubv1.ReadRequestRequest{RequestId: "r", Part: 1},
		&mcphubv1.ReadResourceRequest{Server: "s", Uri: "u"},
		&mcphubv1.ListResourcesRequest{Server: "s"},
		&mcphubv1.ListResourceTemplatesRequest{Server: "s"},
		&mcphubv1.ListMcpPromptsRequest{Server: "s"},
		&mcphubv1.GetMcpPromptRequest{Server: "s", Name: "p"},
		&mcphubv1.CompleteRequest{Server: "s", Argument: "a", Reference: &mcphubv1.CompleteRequest_McpPrompt{McpPrompt: "p"}},
		&mcphubv1.SubscribeResourceRequest{Server: "s", Uri: "u"},
		&mcphubv1.UnsubscribeResourceRequest{Server: "s", Uri: "u"},
		&mcphubv1.StartServerRequest{Server: "s"},
		&mcphubv1.StopServerRequest{Server: "s", Reason: "why"},
		&mcphubv1.RestartServerRequest{Server: "s", Reason: "why"},
		&mcphubv1.SetServerEnabledRequest{Server: "s"},
		&mcphubv1.SignInRequest{Server: "s"},
		&mcphubv1.SignOutRequest{Server: "s"},
	} {
		m := callOf("", r)
		orders[m.GetCall().GetMethod()[strings.LastIndex(m.GetCall().GetMethod(), "/")+1:]] = m
	}
	return orders
}

// rawWindow is a window whose messages the test itself sends and receives.
type rawWindow struct {
	t      *testing.T
	stream grpc.BidiStreamingClient[mcphubv1.AttachRequest, mcphubv1.AttachResponse]
	snap   context.CancelCauseFunc // breaks the stream
}

func openRaw(t *testing.T, conn grpc.ClientConnInterface, hello *mcphubv1.Hello) rawWindow {
	t.Helper()
	ctx, snap := context.WithCancelCause(t.Context())
	t.Cleanup(func() { snap(nil) })
	stream, err := mcphubv1.NewEditorServiceClient(conn).Attach(ctx)
	if err != nil {
		t.Fatal(err)
	}
	w := rawWindow{t, stream, snap}
	w.send(&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_Hello{Hello: hello}})
	return w
}

func (w rawWindow) send(messages ...*mcphubv1.AttachRequest) {
	w.t.Helper()
	for _, m := range messages {
		if err := w.stream.Send(m); err != nil {
			w.t.Fatal(err)
		}
	}
}

// replies returns the next n replies as text.
func (w rawWindow) replies(n int) (list []string) {
	w.t.Helper()
	for len(list) < n {
		m, err := w.stream.Recv()
		if err != nil {
			w.t.Fatalf("after %v: %v", list, err)
		}
		if r := m.GetReply(); r != nil {
			list = append(list, fmt.Sprintf("%s %d %s", r.GetMessageId(), r.GetCancelOutcome(), r.GetError().GetReason()))
		}
	}
	return list
}

// reply returns the next reply, which must be that to a message.
func (w rawWindow) reply(messageID string) *mcphubv1.Reply {
	w.t.Helper()
	for {
		m, err := w.stream.Recv()
		if err != nil {
			w.t.Fatal(err)
		}
		if r := m.GetReply(); r != nil {
			if r.GetMessageId() != messageID {
				w.t.Errorf("a reply to %q, not to %q", r.GetMessageId(), messageID)
			}
			return r
		}
	}
}

// snapshot returns the first snapshot.
func (w rawWindow) snapshot() *mcphubv1.Snapshot {
	w.t.Helper()
	for {
		m, err := w.stream.Recv()
		if err != nil {
			w.t.Fatal(err)
		}
		if m.GetSnapshot() != nil {
			return m.GetSnapshot()
		}
	}
}

// close ends the window for good and waits for the end of the stream.
func (w rawWindow) close() {
	w.t.Helper()
	w.send(&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_CloseWindow{CloseWindow: &mcphubv1.CloseWindow{}}})
	for {
		if _, err := w.stream.Recv(); err != nil {
			if !errors.Is(err, io.EOF) {
				w.t.Error(err)
			}
			return
		}
	}
}

// Each order reaches the hub, the user's own ones through the window; the reply has the answer, or the error.
func TestOrdersOfAWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &fakeHub{call: func(_ context.Context, c hub.CallRequest) (*hub.CallResult, error) {
			return &hub.CallResult{RequestID: c.ID}, nil
		}}
		w := fakeeditor.Open(t.Context(), serve(t, h, Options{}), fakeeditor.Options{TB: t})
		for name, m := range orderMessages() {
			r := w.Ask(m)
			tools := responseOf[*mcphubv1.ListToolsResponse](r).GetTools()
			if r.GetError() != nil || (name == "ListTools") != (len(tools) == 1) {
				t.Errorf("%s: %v", name, r)
			}
		}
		all := &mcphubv1.CancelRequestsRequest{Scope: &mcphubv1.CancelRequestsRequest_Server{Server: "s"}}
		if r := w.Ask(callOf("", all)); len(responseOf[*mcphubv1.CancelRequestsResponse](r).GetRequestIds()) != 2 {
			t.Errorf("CancelRequests: %v", r)
		}
		if r := w.Ask(
			callOf("", &mcphubv1.GetTraceRequest{})); r.GetError() != nil ||
			responseOf[*mcphubv1.GetTraceResponse](r) == nil {
			t.Errorf("GetTrace: %v", r)
		}
		if r := w.Ask(&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_CancelMcpRequest{
			CancelMcpRequest: &mcphubv1.CancelMcpRequest{RequestId: "r", Reason: "why"},
		}}); r.GetCancelOutcome() != mcphubv1.CancelOutcome_CANCEL_OUTCOME_CANCELLING {
			t.Errorf("cancel_mcp_request: %v", r)
		}
		did := map[string]bool{}
		for _, a := range h.window(0).actions {
			did[a] = true
		}
		for _, want := range []string{"stop s why", "restart s why", "switch s", "sign out of s", "cancel r why"} {
			if !did[want] {
				t.Errorf("the window was not asked to %q: %v", want, h.window(0).actions)
			}
		}
		h.mu.Lock()
		h.failure, h.call = &event.Error{Code: event.CodeNotFound, Reason: event.ReasonServerNotFound, Message: "no"},
			func(context.Context, hub.CallRequest) (*hub.CallResult, error) {
				return nil, &event.Error{Code: event.CodeNotFound, Reason: event.ReasonServerNotFound, Message: "no"}
			}
		h.mu.Unlock()
		for name, m := range orderMessages() {
			if r := w.Ask(m); r.GetError().GetReason() != event.ReasonServerNotFound || r.GetResponse() != nil {
				t.Errorf("%s that fails: %v", name, r)
			}
		}
		h.mu.Lock()
		h.full = true
		h.mu.Unlock()
		for name, m := range orderMessages() {
			if r := w.Ask(m); r.GetError().GetReason() != event.ReasonQueueFull {
				t.Errorf("%s of a window with too much under way: %v", name, r)
			}
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A panic in an order is one failed order: neither the process nor the window ends.
func TestPanicInAnOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &panickingHub{fakeHub: &fakeHub{}}
		w := fakeeditor.Open(t.Context(), serve(t, h, Options{}), fakeeditor.Options{TB: t})
		if r := w.Ask(orderMessages()["StartServer"]); r.GetError().GetReason() != reasonInternal {
			t.Errorf("got %v", r)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
}

type panickingHub struct{ *fakeHub }

func (panickingHub) StartServer(context.Context, string) (event.ServerInfo, error) { panic("no") }

// Replies of quick messages come in their order, and none waits for a long one; that of a long one comes when it is
// over.
func TestRepliesOfLongOrdersComeAtTheirEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakeserver.New()
		release := make(chan struct{})
		server.Tool("wait", func(c *fakeserver.CallContext) {
			<-release
			c.Text("done")
		})
		_, conn := realHub(t, server)
		w := openRaw(t, conn, &mcphubv1.Hello{})
		w.send(cancelMessage("1", "x"), callMessage("long", "r", "wait"), cancelMessage("2", "y"))
		// no window can show an approval, so the call fails at once
		if diff := cmp.Diff([]string{"1 3 ", "2 3 "}, without(w.replies(3), "long 0 NO_APPROVER")); diff != "" {
			t.Errorf("quick replies (-want +got):\n%s", diff)
		}
		w.close()

		editor := openRaw(t, conn,
			&mcphubv1.Hello{PromptKinds: []mcphubv1.PromptKind{mcphubv1.PromptKind_PROMPT_KIND_TOOL_APPROVAL}})
		approver := fakeeditor.Open(t.Context(), conn, fakeeditor.Options{TB: t})
		editor.send(callMessage("long", "r", "wait"))
		approver.Accept(approver.WaitPrompt(mcphubv1.PromptKind_PROMPT_KIND_TOOL_APPROVAL).GetPromptId(), "")
		synctest.Wait()
		editor.send(cancelMessage("1", "x"), cancelMessage("2", "y"), cancelMessage("3", "z"))
		if diff := cmp.Diff([]string{"1 3 ", "2 3 ", "3 3 "}, editor.replies(3)); diff != "" {
			t.Errorf("while the call runs (-want +got):\n%s", diff)
		}
		close(release)
		if diff := cmp.Diff([]string{"long 0 "}, editor.replies(1)); diff != "" {
			t.Errorf("at its end (-want +got):\n%s", diff)
		}
		editor.close()
		if err := approver.Close(); err != nil {
			t.Error(err)
		}
	})
}

func without(list []string, one string) (rest []string) {
	for _, s := range list {
		if s != one {
			rest = append(rest, s)
		}
	}
	return rest
}

// A call and its cancel, back to back in the stream: the cancel always finds the call, and the call never reaches the
// server.
func TestCallAndCancelBackToBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakeserver.New()
		server.Tool("sleep", func(c *fakeserver.CallContext) { _ = c.Hang() })
		_, conn := realHub(t, server)
		w := openRaw(t, conn,
			&mcphubv1.Hello{PromptKinds: []mcphubv1.PromptKind{mcphubv1.PromptKind_PROMPT_KIND_TOOL_APPROVAL}})
		for i := range 20 {
			id := fmt.Sprintf("r%d", i)
			w.send(callMessage("call", id, "sleep"), cancelMessage("cancel", id))
			got := map[string]bool{}
			for _, r := range w.replies(2) {
				got[r] = true
			}
			if !got["cancel 1 "] || !got["call 0 CANCELLED"] {
				t.Fatalf("round %d: %v", i, got)
			}
		}
		if n := server.Count(fakeserver.Method("tools/call")); n != 0 {
			t.Errorf("%d calls reached the server", n)
		}
		w.close()
	})
}

// A call goes on when its stream ends, whichever way; its reply is dropped, and every other window, also one that comes
// later, is told of the result.
func TestCallOutlivesItsStream(t *testing.T) {
	const result = `{"content":[ {"type":"text","text":"\u00e9"} ],"n":1.0}`
	for _, broken := range []bool{false, true} {
		t.Run(fmt.Sprintf("broken %v", broken), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := fakeserver.New()
				release := make(chan struct{})
				server.Tool("wait", func(c *fakeserver.CallContext) {
					<-release
					c.Result(result)
				})
				_, conn := realHub(t, server)
				bystander := fakeeditor.Open(t.Context(), conn, fakeeditor.Options{TB: t})
				one := fakeeditor.Open(t.Context(), conn, fakeeditor.Options{TB: t})
				two := fakeeditor.Open(t.Context(), conn, fakeeditor.Options{TB: t})
				raw := openRaw(t, conn, &mcphubv1.Hello{})
				raw.send(callMessage("long", "r", "wait"))
				one.Accept(one.WaitPrompt(mcphubv1.PromptKind_PROMPT_KIND_TOOL_APPROVAL).GetPromptId(), "")
				two.WaitRequest("r", mcphubv1.RequestState_REQUEST_STATE_RUNNING)
				if broken {
					raw.snap(errors.New("the page was reloaded"))
					bystander.Break()
				} else {
					raw.close()
					if err := bystander.Close(); err != nil {
						t.Error(err)
					}
				}
				synctest.Wait()
				close(release)
				for _, w := range []*fakeeditor.Window{one, two} {
					end := w.WaitTerminal("r").GetMcpRequestFinished()
					if end.GetResultJson() != result || end.GetResultSizeBytes() != int64(len(result)) {
						t.Errorf("%v was told %v", w, end)
					}
				}
				late := openRaw(t, conn, &mcphubv1.Hello{MaxHistory: 1})
				history := late.snapshot().GetHistory()
				if len(history) != 1 || history[0].GetFinished().GetResultJson() != result || history[0].GetEndTime() == nil {
					t.Errorf("the history is %v", history)
				}
				late.close()
				if broken {
					again := fakeeditor.Open(t.Context(), conn, fakeeditor.Options{TB: t, Back: bystander})
					if got := again.WaitTerminal("r").GetMcpRequestFinished().GetResultJson(); got != result {
						t.Errorf("back again, it was told %q", got)
					}
					if err := again.Close(); err != nil {
						t.Error(err)
					}
				}
				for _, w := range []*fakeeditor.Window{one, two} {
					if err := w.Close(); err != nil {
						t.Error(err)
					}
				}
			})
		})
	}
}

// The hub closes with as much under way as a window may have: every call ends, and nothing is left behind.
func TestHubClosesUnderFullWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakeserver.New()
		server.Tool("sleep", func(c *fakeserver.CallContext) { _ = c.Hang() })
		h, conn := realHub(t, server)
		w := fakeeditor.Open(t.Context(), conn, fakeeditor.Options{TB: t})
		raw := openRaw(t, conn, &mcphubv1.Hello{})
		for i := range 257 {
			raw.send(callMessage(fmt.Sprintf("m%d", i), fmt.Sprintf("r%d", i), "sleep"))
		}
		if got := raw.replies(1); got[0] != "m256 0 QUEUE_FULL" {
			t.Errorf("got %v", got)
		}
		synctest.Wait()
		if n := len(h.Requests("")); n < 256 {
			t.Errorf("%d requests are open", n)
		}
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
		_ = w.Wait()
		for i := range 256 {
			if by := w.WaitTerminal(fmt.Sprintf("r%d",
				i)).GetMcpRequestCancelled().GetCancellation().GetOrigin(); by != mcphubv1.Origin_ORIGIN_SHUTDOWN {
				t.Errorf("call %d was cancelled by %v", i, by)
			}
		}
	})
}

// What a window must not send is refused with a message that says why.
func TestPreapprovedAndEditedAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakeserver.New()
		server.Tool("ask", func(c *fakeserver.CallContext) {
			q := c.Request("sampling/createMessage", `{"messages":[],"maxTokens":1}`)
			if _, ok := <-q.Response(); ok {
				c.Text("done")
			}
		})
		_, conn := realHub(t, server)
		w := fakeeditor.Open(t.Context(), conn, fakeeditor.Options{TB: t})
		m := &mcphubv1.CallToolRequest{RequestId: "r", Server: "s", Tool: "ask", Preapproved: true}
		if e := w.Ask(callOf("", m)).GetError(); e.GetCode() != "INVALID_ARGUMENT" || e.GetMessage() == "" {
			t.Errorf("preapproved: %v", e)
		}
		done := call(t, conn, &mcphubv1.CallToolRequest{RequestId: "r", Tool: "ask", Preapproved: true})
		id := w.WaitPrompt(mcphubv1.PromptKind_PROMPT_KIND_SAMPLING).GetPromptId()
		edited := &mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_AnswerPrompt{AnswerPrompt: &mcphubv1.PromptAnswer{
			PromptId: id, Action: &mcphubv1.PromptAnswer_Accept{Accept: &mcphubv1.AcceptPrompt{RequestJson: `{"messages":[]}`}},
		}}}
		if e := w.Ask(edited).GetError(); e.GetCode() != "INVALID_ARGUMENT" || e.GetReason() != event.ReasonInvalidContent {
			t.Errorf("edited: %v", e)
		}
		if r := w.Accept(id, `{"role":"assistant","content":{"type":"text","text":"ho"},"model":"m"}`); r.GetError() != nil {
			t.Errorf("the prompt has not stayed open: %v", r)
		}
		if got := <-done; got.err != nil {
			t.Error(got.err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A window switches a server off and on again on one stream: in the end it is on, and a call that follows on the stream
// is not refused. Finding B13.
func TestOrdersOfOneWindowTakeEffectInTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, conn := realHub(t, fakeserver.New())
		w := openRaw(t, conn, &mcphubv1.Hello{})
		order := func(id string, on bool) *mcphubv1.AttachRequest {
			return callOf(id, &mcphubv1.SetServerEnabledRequest{Server: "s", Enabled: on})
		}
		wrong, refused := 0, 0
		for i := range 500 {
			w.send(order("off", false), order("on", true), callMessage("call", fmt.Sprint("r", i), "none"))
			for _, r := range w.replies(3) {
				if strings.Contains(r, event.ReasonServerDisabled) {
					refused++
				}
			}
			if list, _ := h.Servers(); list[0].State == event.ServerDisabled {
				wrong++
			}
		}
		if wrong+refused > 0 {
			t.Errorf("the server was off in the end %d times; %d calls were refused", wrong, refused)
		}
		w.close()
	})
}
