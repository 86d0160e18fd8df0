package ipc

import (
	"testing"
	"testing/synctest"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// A reloaded page comes back before the hub has noticed the end of its old stream: that one ends, and the page gets a
// snapshot under the same window id. A call that the window owns goes on, and its prompts can be answered on the new
// stream.
func TestReloadedPageTakesItsStreamOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakeserver.New()
		server.Tool("sleep", func(c *fakeserver.CallContext) { c.Text("slept") })
		_, conn := realHub(t, server)
		hello := func() *mcphubv1.Hello {
			return &mcphubv1.Hello{WindowId: "page",
				PromptKinds: []mcphubv1.PromptKind{mcphubv1.PromptKind_PROMPT_KIND_TOOL_APPROVAL}, MaxHistory: 10}
		}
		first := openRaw(t, conn, hello())
		welcome, err := first.stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		first.snapshot()
		first.send(callOf("call", &mcphubv1.CallToolRequest{RequestId: "r", Server: "s", Tool: "sleep",
			OwnerWindowId: "page"}))
		var prompt string
		for prompt == "" {
			m, err := first.stream.Recv()
			if err != nil {
				t.Fatal(err)
			}
			prompt = m.GetPromptOpened().GetPrompt().GetPromptId()
		}

		again := hello()
		again.ComesBackTo = welcome.GetWelcome().GetHubId()
		second := openRaw(t, conn, again)
		m, err := second.stream.Recv()
		if err != nil || m.GetWelcome().GetWindowId() != "page" {
			t.Fatalf("welcome %v, %v", m, err)
		}
		snapshot := second.snapshot()
		if len(snapshot.GetRequests()) != 1 || snapshot.GetRequests()[0].GetRequestId() != "r" ||
			len(snapshot.GetPrompts()) != 1 || snapshot.GetPrompts()[0].GetPromptId() != prompt {
			t.Errorf("the snapshot has %v and %v", snapshot.GetRequests(), snapshot.GetPrompts())
		}
		for err = nil; err == nil; {
			_, err = first.stream.Recv()
		}
		if status.Code(err) != codes.FailedPrecondition || reasonOf(err) != event.ReasonWindowSuperseded {
			t.Errorf("the stream of before ended with %v", err)
		}
		synctest.Wait() // the old stream's handler has returned by now, and must not have detached the window

		second.send(
			&mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_AnswerPrompt{AnswerPrompt: &mcphubv1.PromptAnswer{
				PromptId: prompt, Action: &mcphubv1.PromptAnswer_Accept{Accept: &mcphubv1.AcceptPrompt{}},
			}}})
		for {
			m, err := second.stream.Recv()
			if err != nil {
				t.Fatal(err)
			}
			if end := m.GetMcpRequestFinished(); end.GetRequestId() == "r" {
				if end.GetState() != mcphubv1.RequestState_REQUEST_STATE_DONE || end.GetResultJson() == "" {
					t.Errorf("the call ended with %v", end)
				}
				break
			}
		}
		second.close()
	})
}
