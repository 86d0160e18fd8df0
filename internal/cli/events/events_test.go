package events

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/questions"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// TestTeller: what a person is told of each event. Lines of the command's own request do not begin with its id, and
// text of servers is escaped.
func TestTeller(t *testing.T) {
	request := func(id, method, tool string, d mcphubv1.RequestDirection) *mcphubv1.AttachResponse {
		return &mcphubv1.AttachResponse{
			Event: &mcphubv1.AttachResponse_McpRequestStarted{McpRequestStarted: &mcphubv1.McpRequestStarted{
				Request: &mcphubv1.Request{RequestId: id, Server: "s", Method: method, Tool: tool, Direction: d},
			}}}
	}
	progressed := func(p *mcphubv1.Progress) *mcphubv1.AttachResponse {
		return &mcphubv1.AttachResponse{
			Event: &mcphubv1.AttachResponse_McpRequestProgressed{McpRequestProgressed: &mcphubv1.McpRequestProgressed{
				RequestId: "own", State: mcphubv1.RequestState_REQUEST_STATE_RUNNING, Progress: p,
			}}}
	}
	tasked := func(task *mcphubv1.Task, p *mcphubv1.Progress) *mcphubv1.AttachResponse {
		return &mcphubv1.AttachResponse{
			Event: &mcphubv1.AttachResponse_McpRequestProgressed{McpRequestProgressed: &mcphubv1.McpRequestProgressed{
				RequestId: "own", State: mcphubv1.RequestState_REQUEST_STATE_TASK_WORKING, Task: task, Progress: p,
			}}}
	}
	about := func(id, method, subject string) *mcphubv1.AttachResponse {
		return &mcphubv1.AttachResponse{
			Event: &mcphubv1.AttachResponse_McpRequestStarted{McpRequestStarted: &mcphubv1.McpRequestStarted{
				Request: &mcphubv1.Request{RequestId: id, Server: "s", Method: method, Subject: subject,
					Direction: mcphubv1.RequestDirection_REQUEST_DIRECTION_OUTGOING},
			}}}
	}
	opened := func(q *mcphubv1.SignIn) *mcphubv1.AttachResponse {
		return &mcphubv1.AttachResponse{
			Event: &mcphubv1.AttachResponse_PromptOpened{PromptOpened: &mcphubv1.PromptOpened{Prompt: &mcphubv1.Prompt{
				PromptId: "p", Server: "s", Question: &mcphubv1.Prompt_SignIn{SignIn: q},
			}}}}
	}
	ready := &mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_ServerChanged{ServerChanged: &mcphubv1.ServerChanged{
		Server: &mcphubv1.Server{Name: "s", State: mcphubv1.ServerState_SERVER_STATE_READY, Title: "T\x1b", Version: "1",
			ProtocolRevision: "2025-11-25", ProcessId: 7},
	}}}
	tests := []struct {
		name  string
		event *mcphubv1.AttachResponse
		want  []string
	}{
		{"own start", request("own", "tools/call", "echo", mcphubv1.RequestDirection_REQUEST_DIRECTION_OUTGOING),
			[]string{"request own: echo on s"}},
		{"question of a server", request("ask", "elicitation/create",
			"", mcphubv1.RequestDirection_REQUEST_DIRECTION_INCOMING), []string{"ask: s asks: elicitation/create"}},
		{"session start", request("start", "initialize", "", mcphubv1.RequestDirection_REQUEST_DIRECTION_OUTGOING), nil},
		{"state alone", progressed(nil), nil},
		{"progress", progressed(&mcphubv1.Progress{Progress: 2.5, Total: proto.Float64(10), Message: "half\nway"}),
			[]string{`2.5 of 10  half\nway`}},
		{"server ready", ready, []string{`s: ready, T\x1b 1, revision 2025-11-25, process 7`}},
		{"server ready still", ready, nil},
		{"server ready behind a URL",
			&mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_ServerChanged{ServerChanged: &mcphubv1.ServerChanged{
				Server: &mcphubv1.Server{Name: "far", State: mcphubv1.ServerState_SERVER_STATE_READY,
					Title: "F", Version: "2", ProtocolRevision: "2026-07-28",
					Transport: mcphubv1.ServerTransport_SERVER_TRANSPORT_HTTP, Url: "https://a.example/mcp"},
			}}}, []string{"far: ready, F 2, revision 2026-07-28, Streamable HTTP at https://a.example/mcp"}},
		{"resources changed", &mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_ResourcesChanged{
			ResourcesChanged: &mcphubv1.ResourcesChanged{Server: "s"}}}, nil},
		{"prompt templates changed", &mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_McpPromptsChanged{
			McpPromptsChanged: &mcphubv1.McpPromptsChanged{Server: "s"}}}, nil},
		{"resource updated", &mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_ResourceUpdated{
			ResourceUpdated: &mcphubv1.ResourceUpdated{Server: "s", Uri: "file:///a\nb"}}},
			[]string{`s: the resource file:///a\nb changed`}},
		{"a read", about("read", "resources/read", "file:///a"), []string{"read: resources/read file:///a on s"}},
		{"a sign-in is told by its questions", about("quiet", "authorization", "https://as.example"), nil},
		{"nor of its cancel",
			&mcphubv1.AttachResponse{
				Event: &mcphubv1.AttachResponse_McpRequestCancelling{McpRequestCancelling: &mcphubv1.McpRequestCancelling{
					RequestId: "quiet"}}}, nil},
		{"a launch is told by its question", about("launch", "launch", ""), nil},
		{"so is an input", about("input", "input", ""), nil},
		{"config reloaded by a file",
			&mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_ConfigReloaded{ConfigReloaded: &mcphubv1.ConfigReloaded{
				ChangedFile: "mcp.json", Stopped: []string{"a", "b"}, Problems: []*mcphubv1.ConfigProblem{{File: "mcp.json",
					Line:   3,
					Column: 1, Message: "odd"}},
			}}}, []string{"config: mcp.json changed, and with it a, b", "  mcp.json:3:1: warning: odd"}},
		{"config reloaded by the host",
			&mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_ConfigReloaded{ConfigReloaded: &mcphubv1.ConfigReloaded{}}},
			nil},
		{"given up",
			&mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_ServerChanged{ServerChanged: &mcphubv1.ServerChanged{
				Server: &mcphubv1.Server{Name: "gone", State: mcphubv1.ServerState_SERVER_STATE_GIVEN_UP,
					LastError: "exit status 3"},
			}}}, []string{"gone: given up: exit status 3"}},
		{"task", tasked(&mcphubv1.Task{TaskId: "t\x1b", Status: "input_required", Message: "which\none?"}, nil),
			[]string{`task t\x1b: input required, which\none?`}},
		{"the same of a task", tasked(&mcphubv1.Task{TaskId: "t\x1b", Status: "input_required", Message: "which\none?"}, nil),
			nil},
		{"task and progress", tasked(&mcphubv1.Task{TaskId: "t\x1b", Status: "working"}, &mcphubv1.Progress{Progress: 1}),
			[]string{`task t\x1b: working`, "1"}},
		{"sign-in", opened(&mcphubv1.SignIn{Url: "https://as.example/authorize?a=1&b=2", UrlHost: "as.example",
			Issuer: "https://as.example", Scopes: []string{"read", "write"}}),
			[]string{"question p: server s wants you to sign in at as.example (issuer https://as.example)", "  for: read write",
				"  Open this page in a browser:", "  https://as.example/authorize?a=1&b=2"}},
		{"sign-in that waits", opened(&mcphubv1.SignIn{UrlHost: "as.example", Waiting: true}),
			[]string{"question p: waiting until you have signed in at as.example"}},
		{"cancelled",
			&mcphubv1.AttachResponse{
				Event: &mcphubv1.AttachResponse_McpRequestCancelled{McpRequestCancelled: &mcphubv1.McpRequestCancelled{
					RequestId: "own", ServerNotified: true, ServerMayContinue: true,
					Delivery:     mcphubv1.CancelDelivery_CANCEL_DELIVERY_DELIVERED,
					Cancellation: &mcphubv1.Cancellation{Origin: mcphubv1.Origin_ORIGIN_USER, Reason: "enough"},
				}}}, []string{"cancelled by user: enough; sent to the server, which may still work on it"}},
		{"cancelled, and the reason is hostile",
			&mcphubv1.AttachResponse{
				Event: &mcphubv1.AttachResponse_McpRequestCancelled{McpRequestCancelled: &mcphubv1.McpRequestCancelled{
					RequestId: "own", Delivery: mcphubv1.CancelDelivery_CANCEL_DELIVERY_NOT_NEEDED,
					Cancellation: &mcphubv1.Cancellation{Origin: mcphubv1.Origin_ORIGIN_USER, Reason: "a\n\x1b[2J\u202e\u3000b"},
				}}}, []string{`cancelled by user: a\n\x1b[2J\u202e` + "\u3000b; nothing had been sent"}},
		{"cancel on its way",
			&mcphubv1.AttachResponse{
				Event: &mcphubv1.AttachResponse_McpRequestCancelled{McpRequestCancelled: &mcphubv1.McpRequestCancelled{
					RequestId: "own", ServerMayContinue: true, Delivery: mcphubv1.CancelDelivery_CANCEL_DELIVERY_PENDING,
					Cancellation: &mcphubv1.Cancellation{Origin: mcphubv1.Origin_ORIGIN_TIMEOUT},
				}}}, []string{"timed out; being sent to the server, which may still work on it"}},
		{"its outcome",
			&mcphubv1.AttachResponse{
				Event: &mcphubv1.AttachResponse_McpRequestCancelDelivery{
					McpRequestCancelDelivery: &mcphubv1.McpRequestCancelDelivery{
						RequestId: "own", Delivery: mcphubv1.CancelDelivery_CANCEL_DELIVERY_FAILED, Error: "no\x1b",
					}}}, []string{`the cancel: could not be sent to the server: no\x1b`}},
		{"the outcome of another",
			&mcphubv1.AttachResponse{
				Event: &mcphubv1.AttachResponse_McpRequestCancelDelivery{
					McpRequestCancelDelivery: &mcphubv1.McpRequestCancelDelivery{
						RequestId: "other", Delivery: mcphubv1.CancelDelivery_CANCEL_DELIVERY_DELIVERED,
					}}}, []string{"other: the cancel: sent to the server"}},
		{"answered late",
			&mcphubv1.AttachResponse{
				Event: &mcphubv1.AttachResponse_McpRequestAnsweredLate{McpRequestAnsweredLate: &mcphubv1.McpRequestAnsweredLate{
					RequestId: "own", Answer: &mcphubv1.LateAnswer{After: durationpb.New(3400 * time.Millisecond)},
				}}}, []string{"the server answered 3.4s later; its result was dropped"}},
		{"cancelled, and answered with an error before the end",
			&mcphubv1.AttachResponse{
				Event: &mcphubv1.AttachResponse_McpRequestCancelled{McpRequestCancelled: &mcphubv1.McpRequestCancelled{
					RequestId: "own", Delivery: mcphubv1.CancelDelivery_CANCEL_DELIVERY_DELIVERED,
					Cancellation: &mcphubv1.Cancellation{Origin: mcphubv1.Origin_ORIGIN_USER, Reason: "enough"},
					LateAnswer:   &mcphubv1.LateAnswer{After: durationpb.New(20 * time.Millisecond), IsError: true},
				}}}, []string{"cancelled by user: enough; sent to the server; the server answered 20ms later, with an error"}},
		{"finished",
			&mcphubv1.AttachResponse{
				Event: &mcphubv1.AttachResponse_McpRequestFinished{McpRequestFinished: &mcphubv1.McpRequestFinished{
					RequestId: "own", Timings: &mcphubv1.Timings{Active: durationpb.New(1500 * time.Millisecond),
						Human: durationpb.New(12340 * time.Millisecond)},
				}}}, []string{"done, 1.5s at the server, 12.3s with you"}},
		{"log", &mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_LogMessage{LogMessage: &mcphubv1.LogMessage{
			Server: "s", Level: "info", DataJson: `"caf\u00e9\/\u001b"`,
		}}}, []string{`s info: café/\x1b`}},
		{"a note of the hub", &mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_LogMessage{
			LogMessage: &mcphubv1.LogMessage{Server: "s", Level: "notice", Logger: "mcphub",
				DataJson: `{"event":"noMessage","text":"it wrote"}`},
		}}, []string{"s notice: it wrote"}},
		{"approval",
			&mcphubv1.AttachResponse{
				Event: &mcphubv1.AttachResponse_PromptOpened{PromptOpened: &mcphubv1.PromptOpened{Prompt: &mcphubv1.Prompt{
					PromptId: "p", Server: "s",
					Question: &mcphubv1.Prompt_ToolApproval{ToolApproval: &mcphubv1.ToolApproval{Tool: "rm",
						Description: "Removes.\nAll.", ArgumentsJson: `{"x":1}`}},
				}}}}, []string{"question p: may rm run on s?", "  Removes.", "  arguments:", "    x: 1"}},
	}
	tell := NewTeller("own")
	for _, test := range tests {
		if diff := cmp.Diff(test.want, tell.Lines(test.event)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// A long name of a tool is shown shortened, with its length. Finding C9.
func TestLongNamesAreShortened(t *testing.T) {
	name := strings.Repeat("x", 100_000)
	var out bytes.Buffer
	console.Table{Header: []string{"TOOL", "ABOUT"}, Rows: [][]string{{name, "about"}}}.Write(&out)
	said := strings.Join(questions.Lines(&mcphubv1.Prompt{Server: "s",
		Question: &mcphubv1.Prompt_ToolApproval{ToolApproval: &mcphubv1.ToolApproval{Tool: name}}}), "\n")
	for _, text := range []string{out.String(), said, requestAbout(&mcphubv1.Request{Tool: name})} {
		if len(text) > 1000 || !strings.Contains(text, "100000 characters") {
			t.Errorf("%d bytes: %.300s", len(text), text)
		}
	}
}

// What a window did not get is reported by kind, and only the kinds that were dropped.
func TestDroppedIsTold(t *testing.T) {
	for want, dropped := range map[string]*mcphubv1.Dropped{
		"40 log messages were dropped":                          {LogMessages: 40},
		"3 notices of changes were dropped":                     {Notices: 3},
		"40 log messages and 3 notices of changes were dropped": {LogMessages: 40, Notices: 3},
	} {
		got := NewTeller("").Lines(&mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_Dropped{Dropped: dropped}})
		if len(got) != 1 || got[0] != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
