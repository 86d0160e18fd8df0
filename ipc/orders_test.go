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
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

func callMessage(messageID, requestID, tool string) *mcphubv1.AttachRequest {
	return callOf(messageID, &mcphubv1.CallToolRequest{RequestId: requestID, Server: "s", Tool: tool})
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

// Each unary method of the contract says what it is for a window, and those of hosts are refused to windows.
func TestEveryMethodHasAnOrdering(t *testing.T) {
	known := map[string]bool{}
	protoregistry.GlobalFiles.RangeFilesByPackage("mcphub.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			for j := range file.Services().Get(i).Methods().Len() {
				if m := file.Services().Get(i).Methods().Get(j); !m.IsStreamingClient() {
					known["/"+string(m.Parent().FullName())+"/"+string(m.Name())] = true
				}
			}
		}
		return true
	})
	for path := range known {
		if _, has := orderings[path]; !has {
			t.Errorf("%s has none", path)
		}
	}
	for path := range orderings {
		if !known[path] {
			t.Errorf("there is no method %s", path)
		}
	}
	if len(known) < 40 {
		t.Errorf("%d methods", len(known))
	}
}

// An error of the hub reaches hosts and windows from each method with code, reason and metadata; a request that lacks a
// field is refused before the hub sees it, and so is an order of a window with too much under way.
func TestErrorsOfEveryMethod(t *testing.T) {
	for method, request := range map[string]string{
		"CallTool":              `{"server":"s","tool":"t"}`,
		"CancelRequest":         `{"requestId":"r"}`,
		"ReadRequest":           `{"requestId":"r","part":"REQUEST_PART_RESULT"}`,
		"StartServer":           `{"server":"s"}`,
		"StopServer":            `{"server":"s"}`,
		"RestartServer":         `{"server":"s"}`,
		"SetServerEnabled":      `{"server":"s"}`,
		"MuteServer":            `{"server":"s"}`,
		"SignIn":                `{"server":"s"}`,
		"SignOut":               `{"server":"s"}`,
		"SetLogLevel":           `{"server":"s","level":"debug"}`,
		"ListResources":         `{"server":"s"}`,
		"ListResourceTemplates": `{"server":"s"}`,
		"ReadResource":          `{"server":"s","uri":"a:b"}`,
		"SubscribeResource":     `{"server":"s","uri":"a:b"}`,
		"UnsubscribeResource":   `{"server":"s","uri":"a:b"}`,
		"ListMcpPrompts":        `{"server":"s"}`,
		"GetMcpPrompt":          `{"server":"s","name":"p"}`,
		"Complete":              `{"server":"s","argument":"a","mcpPrompt":"p"}`,
		"ListTools":             "", // nothing has to be in it
	} {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &fakeHub{}
				s := &stage{t: t, fake: h, conn: serve(t, h, Options{})}
				w := fakeeditor.Open(t.Context(), s.conn, fakeeditor.Options{TB: t})
				path, empty, out := s.messages(method)
				full := proto.Clone(empty)
				if request != "" {
					s.must(protojson.Unmarshal([]byte(request), full))
				}
				h.failure = &event.Error{Code: event.CodeFailedPrecondition, Reason: event.ReasonSignInDeclined, Message: "no",
					Meta: map[string]string{"server_may_continue": "true"}}
				want := `FAILED_PRECONDITION SIGN_IN_DECLINED: no {"server_may_continue":"true"}`
				if err := s.conn.Invoke(t.Context(), path, full, out); statusWords(err) != want {
					t.Errorf("a host got %s", statusWords(err))
				}
				if r := w.Ask(callOf("", full)); r.GetError().GetReason() != event.ReasonSignInDeclined ||
					r.GetResponse() != nil {
					t.Errorf("a window got %v", r)
				}
				h.full = true
				reason := event.ReasonQueueFull
				if orderings[path] == atOnce {
					reason = event.ReasonSignInDeclined // it takes no room
				}
				if r := w.Ask(callOf("", full)); r.GetError().GetReason() != reason {
					t.Errorf("a window with too much under way got %v", r)
				}
				if request == "" {
					return
				}
				err := s.conn.Invoke(t.Context(), path, empty, out)
				if status.Code(err) != codes.InvalidArgument || reasonOf(err) != event.ReasonInvalidRequest {
					t.Errorf("without what it needs: %v", err)
				}
			})
		})
	}
}

// What cannot be spelled in JSON, or is huge, is refused, too.
func TestCallsThatAreRefused(t *testing.T) {
	for name, row := range map[string]struct {
		in   *anypb.Any
		text string
	}{
		"unknown message": {&anypb.Any{TypeUrl: "x/y.Z"}, "x/y.Z"},
		"a huge type":     {&anypb.Any{TypeUrl: "x/" + strings.Repeat("y", 8<<20)}, "call.request: is a"},
		"broken message": {&anypb.Any{TypeUrl: "type.googleapis.com/mcphub.v1.CallToolRequest", Value: []byte{0xff}},
			"call.request: is not a valid message"},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := fakeeditor.Open(t.Context(), serve(t, &fakeHub{}, Options{}), fakeeditor.Options{TB: t})
			e := w.Ask(&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_Call{Call: &mcphubv1.Call{
				Method: mcphubv1.McpHubService_CallTool_FullMethodName, Request: row.in}}}).GetError()
			if e.GetReason() != event.ReasonInvalidRequest || !strings.Contains(e.GetMessage(), row.text) ||
				len(e.GetMessage()) > 2048 {
				t.Errorf("%s: %v", name, e)
			}
		})
	}
}

// A window gets the first entries of a list, and learns how many there are; it can search.
func TestWindowsGetShortLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := serve(t, &fakeHub{entries: 2999}, Options{})
		w := fakeeditor.Open(t.Context(), conn, fakeeditor.Options{TB: t})
		for _, c := range []struct {
			query          string
			limit          int32
			given, matched int
		}{{"", 0, 1000, 3000}, {"", 5000, 1000, 3000}, {"299", 0, 12, 12}, {"", 2, 2, 3000}} {
			r := &mcphubv1.ListResourcesRequest{Server: "s", Query: c.query, Limit: c.limit}
			var l mcphubv1.ListResourcesResponse
			if err := w.Ask(callOf("", r)).GetResponse().UnmarshalTo(&l); err != nil || len(l.GetResources()) != c.given ||
				int(l.GetMatched()) != c.matched {
				t.Errorf("%+v: %d of %d, %v", c, len(l.GetResources()), l.GetMatched(), err)
			}
		}
		all, err := mcphubv1.NewMcpServerServiceClient(conn).ListResources(t.Context(),
			&mcphubv1.ListResourcesRequest{Server: "s"})
		if err != nil || len(all.GetResources()) != 3000 {
			t.Errorf("a host got %d, %v", len(all.GetResources()), err)
		}
	})
}

// panickingHub panics in an order.
type panickingHub struct{ *fakeHub }

func (panickingHub) StartServer(context.Context, string) (event.ServerInfo, error) { panic("no") }

// A panic in an order is one failed order: neither the process nor the window ends.
func TestPanicInAnOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := fakeeditor.Open(t.Context(), serve(t, panickingHub{&fakeHub{}}, Options{}), fakeeditor.Options{TB: t})
		if r := w.Ask(callOf("", &mcphubv1.StartServerRequest{Server: "s"})); r.GetError().GetReason() != reasonInternal {
			t.Errorf("got %v", r)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
}
