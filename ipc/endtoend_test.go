package ipc

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// realHub serves a real hub with one scriptable MCP server named "s". A test that uses gateways calls it outside a
// synctest bubble, all others inside one.
func realHub(t *testing.T, server *fakeserver.Server) (*hub.Hub, *grpc.ClientConn) {
	t.Helper()
	return realHubIn(t, "", server)
}

// realHubIn is realHub with a place for the hub's own files.
func realHubIn(t *testing.T, stateDir string, server *fakeserver.Server) (*hub.Hub, *grpc.ClientConn) {
	t.Helper()
	var mu sync.Mutex // guards processes
	var processes []*fakeserver.Process
	h := hub.New(hub.Options{Version: "test", StateDir: stateDir, Open: func(config.Server, func(string)) mcp.Opener {
		return func(context.Context) (*mcp.Link, error) {
			p := server.Start(context.Background())
			mu.Lock()
			processes = append(processes, p)
			mu.Unlock()
			conn := jsonrpc.NewLineConn(p.Stdout, p.Stdin, jsonrpc.LineConnOptions{Close: p.End})
			return &mcp.Link{Conn: conn, Kill: func(string) { p.Kill() }}, nil
		}
	}})
	s := grpc.NewServer(ServerOptions(Options{})...)
	Register(s, h, Options{})
	conn := fakeeditor.Serve(t, s, nil)
	t.Cleanup(func() { // before the connection closes
		if err := h.Close(context.Background()); err != nil {
			t.Errorf("closing the hub: %v", err)
		}
		for _, p := range processes {
			_ = p.Wait()
		}
	})
	_, err := mcphubv1.NewMcpServerServiceClient(conn).ReloadConfig(t.Context(), &mcphubv1.ReloadConfigRequest{
		Sources: []*mcphubv1.ConfigSource{{Scope: "host", Path: "test.json", Json: `{"mcpServers":{"s":{"command":"s"}}}`}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return h, conn
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

func TestEndToEndApprovedCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const result = `{"content":[ {"type":"text","text":"\u00e9"} ],"n":1.0}`
		server := fakeserver.New()
		server.Tool("echo", func(c *fakeserver.CallContext) {
			c.Progress(1, 2, "half")
			c.Result(result)
		})
		_, conn := realHub(t, server)
		one := fakeeditor.Open(t.Context(), conn, fakeeditor.Options{TB: t})
		two := fakeeditor.Open(t.Context(), conn, fakeeditor.Options{TB: t})
		done := call(t, conn, &mcphubv1.CallToolRequest{RequestId: "r", Tool: "echo", ArgumentsJson: `{"a": 1.0}`})
		kind := mcphubv1.PromptKind_PROMPT_KIND_TOOL_APPROVAL
		prompt, other := one.WaitPrompt(kind), two.WaitPrompt(kind)
		if prompt.GetPromptId() != other.GetPromptId() || prompt.GetToolApproval().GetArgumentsJson() != `{"a": 1.0}` {
			t.Errorf("the windows were asked %v and %v", prompt, other)
		}
		if reply := one.Accept(prompt.GetPromptId(), ""); reply.GetError() != nil {
			t.Fatalf("accept: %v", reply)
		}
		if reply := two.Accept(prompt.GetPromptId(), ""); reply.GetError().GetReason() != event.ReasonPromptClosed {
			t.Errorf("the second answer got %v, want PROMPT_CLOSED", reply)
		}
		if end := two.WaitClosed(prompt.GetPromptId()); end.GetWindowId() != one.ID() ||
			end.GetCause() != mcphubv1.PromptCause_PROMPT_CAUSE_ANSWERED {
			t.Errorf("the other window was told %v", end)
		}
		got := <-done
		if got.err != nil || got.response.GetResultJson() != result {
			t.Errorf("got %v, %v", got.response, got.err)
		}
		for _, w := range []*fakeeditor.Window{one, two} {
			if end := w.WaitTerminal("r").GetMcpRequestFinished(); end.GetState() != mcphubv1.RequestState_REQUEST_STATE_DONE {
				t.Errorf("%v was told %v", w, end)
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestEndToEndCancelByWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakeserver.New()
		heard := make(chan string, 1)
		server.Tool("sleep", func(c *fakeserver.CallContext) { heard <- <-c.Cancelled() })
		_, conn := realHub(t, server)
		w := fakeeditor.Open(t.Context(), conn, fakeeditor.Options{TB: t})
		done := call(t, conn, &mcphubv1.CallToolRequest{RequestId: "r", Tool: "sleep", Preapproved: true})
		w.WaitRequest("r", mcphubv1.RequestState_REQUEST_STATE_RUNNING)
		synctest.Wait()
		reply := w.CancelRequest("r", "too slow")
		if reply.GetCancelOutcome() != mcphubv1.CancelOutcome_CANCEL_OUTCOME_CANCELLING {
			t.Errorf("reply %v, want CANCELLING", reply)
		}
		if got := <-done; status.Code(got.err) != codes.Canceled || reasonOf(got.err) != event.ReasonCancelled {
			t.Errorf("the caller got %v, want CANCELLED", got.err)
		}
		if reason := <-heard; reason != "too slow" {
			t.Errorf("the server heard %q", reason)
		}
		end := w.WaitTerminal("r").GetMcpRequestCancelled()
		if c := end.GetCancellation(); c.GetOrigin() != mcphubv1.Origin_ORIGIN_USER || c.GetReason() != "too slow" ||
			!end.GetServerNotified() {
			t.Errorf("the window was told %v", end)
		}
		if again := w.CancelRequest("r",
			"again"); again.GetCancelOutcome() != mcphubv1.CancelOutcome_CANCEL_OUTCOME_ALREADY_FINISHED {
			t.Errorf("a second cancel: %v", again)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestEndToEndServerWithdrawsQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakeserver.New()
		withdraw := make(chan struct{})
		var id json.RawMessage
		server.Tool("ask", func(c *fakeserver.CallContext) {
			q := c.Request("elicitation/create",
				`{"message":"Your name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}`)
			id = q.ID
			<-withdraw
			q.Cancel("no longer needed")
			c.Text("done")
		})
		_, conn := realHub(t, server)
		windows := []*fakeeditor.Window{fakeeditor.Open(t.Context(), conn, fakeeditor.Options{TB: t}),
			fakeeditor.Open(t.Context(), conn, fakeeditor.Options{TB: t})}
		done := call(t, conn, &mcphubv1.CallToolRequest{RequestId: "r", Tool: "ask", Preapproved: true})
		var prompts []*mcphubv1.Prompt
		for _, w := range windows {
			prompts = append(prompts, w.WaitPrompt(mcphubv1.PromptKind_PROMPT_KIND_ELICITATION_FORM))
		}
		close(withdraw)
		if got := <-done; got.err != nil {
			t.Errorf("the call failed: %v", got.err)
		}
		for i, w := range windows {
			end := w.WaitClosed(prompts[i].GetPromptId())
			if end.GetCause() != mcphubv1.PromptCause_PROMPT_CAUSE_WITHDRAWN || end.GetReason() != "no longer needed" ||
				end.GetOrigin() != mcphubv1.Origin_ORIGIN_SERVER {
				t.Errorf("%v was told %v", w, end)
			}
			if cancelled := w.WaitTerminal(
				prompts[i].GetRequestId()).GetMcpRequestCancelled(); cancelled.GetDirection() !=
				mcphubv1.RequestDirection_REQUEST_DIRECTION_INCOMING {
				t.Errorf("%v: the server's request ended with %v", w, cancelled)
			}
		}
		synctest.Wait()
		if n := server.Count(fakeserver.ResponseTo(id)); n != 0 {
			t.Errorf("%d responses to a withdrawn question", n)
		}
		for _, w := range windows {
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestEndToEndDrainAndClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakeserver.New()
		server.Tool("sleep", func(c *fakeserver.CallContext) { _ = c.Hang() })
		h, conn := realHub(t, server)
		w := fakeeditor.Open(t.Context(), conn, fakeeditor.Options{TB: t})
		done := call(t, conn, &mcphubv1.CallToolRequest{RequestId: "r", Tool: "sleep", Preapproved: true})
		w.WaitRequest("r", mcphubv1.RequestState_REQUEST_STATE_RUNNING)
		synctest.Wait()
		client := mcphubv1.NewMcpHubServiceClient(conn)
		drained, err := client.Drain(t.Context(), &mcphubv1.DrainRequest{Reason: "the editor closes"})
		if err != nil || drained.GetCancelledRequests() != 1 || drained.GetStoppedServers() != 1 {
			t.Errorf("drained %v, %v", drained, err)
		}
		if got := <-done; status.Code(got.err) != codes.Canceled {
			t.Errorf("the open call got %v", got.err)
		}
		if got := <-call(t, conn, &mcphubv1.CallToolRequest{Tool: "sleep"}); status.Code(got.err) != codes.Unavailable ||
			reasonOf(got.err) != event.ReasonDraining {
			t.Errorf("a new call got %v, want UNAVAILABLE DRAINING", got.err)
		}
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := w.Wait(); status.Code(err) != codes.Unavailable || reasonOf(err) != event.ReasonDraining {
			t.Errorf("the window ended with %v, want UNAVAILABLE DRAINING", err)
		}
		if origin := w.WaitTerminal(
			"r").GetMcpRequestCancelled().GetCancellation().GetOrigin(); origin != mcphubv1.Origin_ORIGIN_SHUTDOWN {
			t.Errorf("the call was cancelled by %v", origin)
		}
	})
}
