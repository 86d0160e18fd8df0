package ipc

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"

	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// A window whose stream is cut after any message, and that comes back a step later, has missed nothing: it knows how
// each request ended, the outcome of the cancel that was on its way, and what is still open.
func TestStreamCutAtEachMessage(t *testing.T) {
	const most = 60                           // more than the script brings
	cut := 1                                  // after the snapshot at the earliest: before it, a window knows nothing
	for n := 2; n == cut+1 && n < most; n++ { // until the script ends before the cut
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if cutAfter(t, n) {
					cut = n
				}
			})
		})
	}
	if cut < 20 {
		t.Errorf("the stream was cut at %d messages", cut)
	}
}

// cutAfter runs a script beside two windows. The stream of one is cut after n messages. It returns false if there were
// fewer.
func cutAfter(t *testing.T, n int) (cut bool) {
	server := fakeserver.New()
	withdraw := make(chan struct{})
	server.Tool("done", func(c *fakeserver.CallContext) {
		c.Progress(1, 0, "")
		c.Text("done")
	})
	server.Tool("asks", func(c *fakeserver.CallContext) {
		<-c.Request("elicitation/create", question).Response()
		c.Text("asked")
	})
	server.Tool("withdraws", func(c *fakeserver.CallContext) {
		q := c.Request("elicitation/create", question)
		<-withdraw
		q.Cancel("not needed")
		c.Text("withdrawn")
	})
	server.Tool("sleeps", func(c *fakeserver.CallContext) { _ = c.Hang() })
	_, conn := realHub(t, server)
	witness := fakeeditor.Open(t.Context(), conn, fakeeditor.Options{TB: t})
	w := fakeeditor.Open(t.Context(), conn, fakeeditor.Options{TB: t, ID: "w", BreakAfter: n})
	calls := []string{"done", "asks", "withdraws", "sleeps"}
	var over []<-chan called
	var resume func()
	step := func(of string) func() {
		return func() {
			over = append(over, call(t, conn, &mcphubv1.CallToolRequest{RequestId: of, Tool: of, Preapproved: true}))
		}
	}
	for _, do := range []func(){
		step("done"),
		step("asks"),
		func() {
			witness.Dismiss(witness.WaitPrompt(mcphubv1.PromptKind_PROMPT_KIND_ELICITATION_FORM).GetPromptId())
		},
		step("withdraws"),
		func() { close(withdraw) },
		step("sleeps"),
		func() {
			resume = server.PauseReading()
			for _, id := range []string{"fills", "fills too"} { // one is on its way, and one waits before the cancel
				call(t, conn, &mcphubv1.CallToolRequest{RequestId: id, Tool: "sleeps", Preapproved: true})
				synctest.Wait()
			}
			witness.CancelRequest("sleeps", "enough")
			time.Sleep(time.Second) // the request ends without the outcome of its cancel
		},
		func() { resume() },
		func() {},
	} {
		gone := w.Ended()
		do()
		synctest.Wait()
		if gone && !cut {
			cut = true
			w = fakeeditor.Open(t.Context(), conn, fakeeditor.Options{TB: t, Back: w})
		}
	}
	for _, o := range over {
		<-o
	}
	if diff := cmp.Diff(shown(witness, calls), shown(w, calls)); diff != "" {
		t.Errorf("(-never cut +cut):\n%s", diff)
	}
	return cut
}

type called struct {
	response *mcphubv1.CallToolResponse
	err      error
}

// call calls a tool in the background.
func call(t *testing.T, conn grpc.ClientConnInterface, r *mcphubv1.CallToolRequest) <-chan called {
	done := make(chan called, 1)
	r.Server = "s"
	go func() {
		resp, err := mcphubv1.NewMcpHubServiceClient(conn).CallTool(t.Context(), r)
		done <- called{resp, err}
	}()
	return done
}

const question = `{"message":"Your name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}`

// shown returns how a window shows calls that are over, and how much is open.
func shown(w *fakeeditor.Window, calls []string) (list []string) {
	for _, id := range calls {
		end := w.WaitTerminal(id)
		f, c := end.GetMcpRequestFinished(), end.GetMcpRequestCancelled()
		delivery := c.GetDelivery()
		for _, e := range w.Events() {
			if d := e.GetMcpRequestCancelDelivery(); d.GetRequestId() == id {
				delivery = d.GetDelivery()
			}
		}
		list = append(list, fmt.Sprintf("%s: %v, %d bytes, cancelled by %q %v", id, f.GetState(), f.GetResultSizeBytes(),
			c.GetCancellation().GetReason(), delivery))
	}
	return append(list, fmt.Sprintf("%d requests, %d prompts", len(w.Requests()), len(w.Prompts())))
}
