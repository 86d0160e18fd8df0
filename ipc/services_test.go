package ipc

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

func TestGetInfo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got, err := mcphubv1.NewMcpHubServiceClient(serve(t, &fakeHub{}, Options{})).GetInfo(t.Context(),
			&mcphubv1.GetInfoRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if got.GetVersion() != "1.2.3" || got.GetHubId() != "hub-1" || int(got.GetProcessId()) != os.Getpid() {
			t.Errorf("got %v", got)
		}
		revisions := slices.Clone(got.GetProtocolRevisions())
		if len(revisions) != 5 || revisions[0] != mcp.Revision20260728 ||
			!slices.IsSortedFunc(revisions, func(a, b string) int {
				return strings.Compare(b, a)
			}) {
			t.Errorf("revisions %v, want five, newest first", revisions)
		}
		for _, f := range []string{"prompts", "history", "preapproved"} {
			if !slices.Contains(got.GetFeatures(), f) {
				t.Errorf("features %v lack %s", got.GetFeatures(), f)
			}
		}
	})
}

func TestHubServiceAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &fakeHub{call: func(_ context.Context, c hub.CallRequest) (*hub.CallResult, error) {
			return &hub.CallResult{RequestID: c.ID, Error: &event.McpError{Code: -32000, Message: "no", Data: "[1]"}, Rounds: 2},
				nil
		}}
		client := mcphubv1.NewMcpHubServiceClient(serve(t, h, Options{}))
		call, err := client.CallTool(t.Context(), &mcphubv1.CallToolRequest{RequestId: "r", Server: "s", Tool: "t"})
		want(t, err, call, &mcphubv1.CallToolResponse{
			RequestId: "r", Rounds: 2, Timings: timings(event.Timings{}),
			Outcome: &mcphubv1.CallToolResponse_Error{Error: &mcphubv1.McpError{Code: -32000, Message: "no", DataJson: "[1]"}},
		})
		one, err := client.CancelRequest(t.Context(), &mcphubv1.CancelRequestRequest{RequestId: "open"})
		want(t, err, one, &mcphubv1.CancelRequestResponse{Outcome: mcphubv1.CancelOutcome_CANCEL_OUTCOME_CANCELLING})
		one, err = client.CancelRequest(t.Context(), &mcphubv1.CancelRequestRequest{RequestId: "else"})
		want(t, err, one, &mcphubv1.CancelRequestResponse{Outcome: mcphubv1.CancelOutcome_CANCEL_OUTCOME_UNKNOWN})
		for _, scope := range []*mcphubv1.CancelRequestsRequest{
			{Scope: &mcphubv1.CancelRequestsRequest_Server{Server: "s"}},
			{Scope: &mcphubv1.CancelRequestsRequest_TaskLabel{TaskLabel: "l"}},
			{Scope: &mcphubv1.CancelRequestsRequest_All{All: true}},
		} {
			many, err := client.CancelRequests(t.Context(), scope)
			want(t, err, many, &mcphubv1.CancelRequestsResponse{RequestIds: []string{"a", "b"}})
		}
		if diff := cmp.Diff([]hub.CancelScope{{Server: "s"}, {TaskLabel: "l"}, {All: true}}, h.scopes); diff != "" {
			t.Errorf("scopes (-want +got):\n%s", diff)
		}
		requests, err := client.ListRequests(t.Context(), &mcphubv1.ListRequestsRequest{Server: "s"})
		want(t, err, requests, &mcphubv1.ListRequestsResponse{Requests: []*mcphubv1.Request{{RequestId: "r1", Server: "s"}}})
		drained, err := client.Drain(t.Context(), &mcphubv1.DrainRequest{})
		want(t, err, drained, &mcphubv1.DrainResponse{CancelledRequests: 3, StoppedServers: 2})
	})
}

func TestServerServiceAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &fakeHub{}
		client := mcphubv1.NewMcpServerServiceClient(serve(t, h, Options{}))
		server := func(name string, state mcphubv1.ServerState) *mcphubv1.Server {
			return &mcphubv1.Server{Name: name, State: state, Counters: &mcphubv1.ConnectionCounters{}}
		}
		listed, err := client.ListServers(t.Context(), &mcphubv1.ListServersRequest{})
		want(t, err, listed, &mcphubv1.ListServersResponse{Servers: []*mcphubv1.Server{server("s", 0)},
			Problems: []*mcphubv1.ConfigProblem{{Message: "odd"}}})
		start, err := client.StartServer(t.Context(), &mcphubv1.StartServerRequest{Server: "x"})
		want(t, err, start, &mcphubv1.StartServerResponse{Server: server("x", mcphubv1.ServerState_SERVER_STATE_READY)})
		// finding C3
		start, err = client.StartServer(t.Context(), &mcphubv1.StartServerRequest{Server: "x", WorkspaceEntry: true})
		want(t, err, start, &mcphubv1.StartServerResponse{Server: server("x of the workspace",
			mcphubv1.ServerState_SERVER_STATE_READY)})
		stop, err := client.StopServer(t.Context(), &mcphubv1.StopServerRequest{Server: "x"})
		want(t, err, stop, &mcphubv1.StopServerResponse{Server: server("x", mcphubv1.ServerState_SERVER_STATE_STOPPED)})
		restart, err := client.RestartServer(t.Context(), &mcphubv1.RestartServerRequest{Server: "x"})
		want(t, err, restart, &mcphubv1.RestartServerResponse{Server: server("x", mcphubv1.ServerState_SERVER_STATE_READY)})
		off, err := client.SetServerEnabled(t.Context(), &mcphubv1.SetServerEnabledRequest{Server: "x"})
		want(t, err, off, &mcphubv1.SetServerEnabledResponse{Server: server("x", mcphubv1.ServerState_SERVER_STATE_DISABLED)})
		loaded, err := client.ReloadConfig(t.Context(), &mcphubv1.ReloadConfigRequest{})
		want(t, err, loaded, &mcphubv1.ReloadConfigResponse{Servers: []*mcphubv1.Server{server("s", 0)},
			Stopped: []string{"gone"}})
		if len(h.sources) != 1 || h.sources[0] != nil {
			t.Errorf("sources %v, want nil: the same as last time", h.sources)
		}
		tools, err := client.ListTools(t.Context(), &mcphubv1.ListToolsRequest{})
		trouble := func(name string) *mcphubv1.ServerTrouble {
			return &mcphubv1.ServerTrouble{Server: name, Error: &mcphubv1.HubError{Code: "UNAVAILABLE", Reason: "SERVER_FAILED",
				Message: "no " + name}}
		}
		want(t, err, tools, &mcphubv1.ListToolsResponse{Tools: []*mcphubv1.Tool{{Server: "s", Name: "t"}},
			Troubles: []*mcphubv1.ServerTrouble{trouble("a"), trouble("z")}})
		level, err := client.SetLogLevel(t.Context(), &mcphubv1.SetLogLevelRequest{Server: "s", Level: "debug"})
		want(t, err, level, &mcphubv1.SetLogLevelResponse{})
	})
}

func want[M any](t *testing.T, err error, got, want M) {
	t.Helper()
	if err != nil {
		t.Error(err)
	} else if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Errorf("%T (-want +got):\n%s", got, diff)
	}
}
