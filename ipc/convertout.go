package ipc

import (
	"time"
	"unicode/utf8"
	"unsafe"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// converter converts the hub's types to those of the contract. It converts all text, because a protobuf string must be
// valid UTF-8, and much of the text comes from servers. The constants of package event have the numbers of those of the
// contract (a scope is one less, as none means once), so that they need no tables.
type converter struct{ onReplaced func() }

// text returns s with each run of invalid bytes replaced by U+FFFD. It calls onReplaced if it has replaced any.
func (c converter) text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	if c.onReplaced != nil {
		c.onReplaced()
	}
	return clean(s)
}

func (c converter) texts(s []string) []string { return list(s, c.text) }

func (c converter) server(s event.ServerInfo) *mcphubv1.Server {
	return &mcphubv1.Server{
		Name: c.text(s.Name), State: mcphubv1.ServerState(s.State), Era: mcphubv1.Era(s.Era),
		ProtocolRevision: c.text(s.Revision),
		Title:            c.text(s.Title), Version: c.text(s.Version), Instructions: c.text(s.Instructions),
		CapabilitiesJson: c.text(s.Capabilities),
		ProcessId:        int32(s.PID), LastError: c.text(s.LastError), Stderr: c.texts(s.Stderr),
		ConfigFile: c.text(s.ConfigFile), ConfigLine: int32(s.ConfigLine), Problems: list(s.Problems, c.problem),
		ReadyTime: timestamp(s.Ready), Command: c.text(s.Command),
		Transport: mcphubv1.ServerTransport(s.Transport), Url: c.text(s.URL), SignIn: mcphubv1.SignInState(s.SignIn),
		ConfigDialect: c.text(s.Dialect), ConfigScope: c.text(s.Scope), ConfigName: c.text(s.ConfigName),
		Shadows: list(s.Shadows, c.configOrigin), WaitingForConsent: list(s.Waiting, c.configOrigin),
		Start: mcphubv1.ServerStart(s.Start), Failures: int32(s.Failures), NextStartTime: timestamp(s.NextStart),
		LastExit:      c.text(s.LastExit),
		LaunchConsent: mcphubv1.LaunchConsent(s.LaunchConsent), Place: int32(s.Place),
		QuestionsMuted: s.Muted, Incarnation: s.Incarnation,
		Counters: &mcphubv1.ConnectionCounters{
			LateResponses: s.Counters.LateResponses, UnknownResponses: s.Counters.UnknownResponses,
			BadLines:       s.Counters.BadLines,
			UnknownCancels: s.Counters.UnknownCancels, MalformedCancels: s.Counters.MalformedCancels,
			SuppressedResponses: s.Counters.SuppressedResponses, DroppedNotifications: s.Counters.DroppedNotifications,
		},
	}
}

func (c converter) configOrigin(o event.ConfigOrigin) *mcphubv1.ConfigOrigin {
	return &mcphubv1.ConfigOrigin{File: c.text(o.File), Line: int32(o.Line), Dialect: c.text(o.Dialect),
		Scope: c.text(o.Scope)}
}

func (c converter) problem(p event.ConfigProblem) *mcphubv1.ConfigProblem {
	return &mcphubv1.ConfigProblem{
		File: c.text(p.File), Line: int32(p.Line), Column: int32(p.Column), Server: c.text(p.Server), Key: c.text(p.Key),
		Message: c.text(p.Message), Fatal: p.Fatal,
	}
}

func (c converter) tool(t event.ToolInfo) *mcphubv1.Tool {
	return &mcphubv1.Tool{
		Server: c.text(t.Server), Name: c.text(t.Name), Title: c.text(t.Title), Description: c.text(t.Description),
		DefinitionJson: c.text(t.Definition), DefinitionHash: c.text(t.Hash), Policy: mcphubv1.ApprovalPolicy(t.Policy),
		Cached: t.Cached, UiResourceUri: c.text(t.UIResource), HiddenFromModels: t.HiddenFromModels,
		HiddenFromApps: t.HiddenFromApps,
	}
}

func (c converter) request(r event.RequestInfo) *mcphubv1.Request {
	return &mcphubv1.Request{
		RequestId: c.text(r.ID), Server: c.text(r.Server), Direction: mcphubv1.RequestDirection(r.Direction),
		Method: c.text(r.Method), Tool: c.text(r.Tool),
		State: mcphubv1.RequestState(r.State), ParentRequestId: c.text(r.ParentRequestID), TaskLabel: c.text(r.TaskLabel),
		StartTime:  timestamp(r.Start),
		WireIdJson: c.text(r.WireID), Progress: c.progress(r.Progress), OpenPromptIds: c.texts(r.OpenPromptIDs),
		Cancellation: c.cancellation(r.Cancellation),
		Subject:      c.text(r.Subject), Task: c.task(r.Task), Caller: c.text(r.Caller),
		ArgumentsPreview: c.text(r.Preview), Title: c.text(r.Title),
	}
}

func (c converter) task(t *event.TaskInfo) *mcphubv1.Task {
	if t == nil {
		return nil
	}
	return &mcphubv1.Task{TaskId: c.text(t.ID), Status: c.text(t.Status), Message: c.text(t.Message)}
}

func (c converter) progress(p *event.Progress) *mcphubv1.Progress {
	if p == nil {
		return nil
	}
	return &mcphubv1.Progress{Progress: p.Progress, Total: p.Total, Message: c.text(p.Message)}
}

func (c converter) cancellation(x *event.Cancellation) *mcphubv1.Cancellation {
	if x == nil {
		return nil
	}
	return &mcphubv1.Cancellation{Origin: mcphubv1.Origin(x.Origin), Reason: c.text(x.Reason), Time: timestamp(x.Time)}
}

func (c converter) callResult(r *hub.CallResult) *mcphubv1.CallToolResponse {
	m := &mcphubv1.CallToolResponse{
		RequestId: c.text(r.RequestID), IsError: r.IsError, Rounds: int32(r.Rounds), Timings: timings(r.Timings),
		OutputViolations: c.texts(r.OutputViolations), Task: c.task(r.Task),
	}
	if r.Error != nil {
		m.Outcome = &mcphubv1.CallToolResponse_Error{Error: c.mcpError(r.Error)}
	} else {
		m.Outcome = &mcphubv1.CallToolResponse_ResultJson{ResultJson: c.text(sameText(r.Result))}
	}
	return m
}

// sameText returns a result as a string without copying it: it may have 64 MiB, and nobody changes a result that the
// hub has returned.
func sameText(result []byte) string { return unsafe.String(unsafe.SliceData(result), len(result)) }

func (c converter) mcpError(e *event.McpError) *mcphubv1.McpError {
	if e == nil {
		return nil
	}
	return &mcphubv1.McpError{Code: e.Code, Message: c.text(e.Message), DataJson: c.text(e.Data)}
}

// hubError converts an error to a message with the same content as the status of statusOf.
func (c converter) hubError(e *event.Error) *mcphubv1.HubError {
	if e == nil {
		return nil
	}
	return &mcphubv1.HubError{Code: string(e.Code), Reason: c.text(e.Reason), Message: c.text(e.Message)}
}

func timings(t event.Timings) *mcphubv1.Timings {
	return &mcphubv1.Timings{Queued: durationpb.New(t.Queued), Active: durationpb.New(t.Active),
		Human: durationpb.New(t.Human)}
}

// timestamp returns nil for the zero time.
func timestamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

func (c converter) snapshot(s *event.Snapshot) *mcphubv1.Snapshot {
	return &mcphubv1.Snapshot{
		Servers: list(s.Servers, c.server), Requests: list(s.Requests, c.request), Prompts: list(s.Prompts, c.prompt),
		LaterPromptIds: s.LaterPrompts,
		Problems:       list(s.Problems, c.problem),
		History:        list(s.History, c.endedRequest),
		Subscriptions: list(s.Subscriptions, func(of event.Subscription) *mcphubv1.SubscribeResourceRequest {
			return &mcphubv1.SubscribeResourceRequest{Server: c.text(of.Server), Uri: c.text(of.URI)}
		}),
	}
}

func (c converter) endedRequest(e event.Ended) *mcphubv1.EndedRequest {
	m := &mcphubv1.EndedRequest{EndTime: timestamp(e.Time)}
	switch b := e.Body.(type) {
	case *event.RequestCancelled:
		m.End = &mcphubv1.EndedRequest_Cancelled{Cancelled: c.requestCancelled(b)}
	case *event.RequestFinished:
		m.End = &mcphubv1.EndedRequest_Finished{Finished: c.requestFinished(b)}
	}
	return m
}
