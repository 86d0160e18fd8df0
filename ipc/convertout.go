package ipc

import (
	"context"
	"encoding/json"
	"time"
	"unicode/utf8"
	"unsafe"

	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/journal"
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

// Conversion of prompts from the hub to the contract.

func (c converter) prompt(p event.PromptInfo) *mcphubv1.Prompt {
	m := &mcphubv1.Prompt{
		PromptId: c.text(p.ID), Server: c.text(p.Server), RequestId: c.text(p.RequestID),
		ParentRequestId: c.text(p.ParentRequestID),
		OpenTime:        timestamp(p.Open), Deadline: timestamp(p.Deadline),
	}
	switch a, q, s := p.Approval, p.Question, p.SignIn; {
	case p.Kind == event.PromptToolApproval && a != nil:
		m.Question = &mcphubv1.Prompt_ToolApproval{ToolApproval: &mcphubv1.ToolApproval{
			Tool: c.text(a.Tool.Name), Title: c.text(a.Tool.Title), Description: c.text(a.Tool.Description),
			ArgumentsJson:  c.text(a.Arguments),
			DefinitionJson: c.text(a.Tool.Definition), DefinitionHash: c.text(a.DefinitionHash), DestructiveHint: a.Destructive,
			ReadOnlyHint:           a.ReadOnly,
			PreviousDefinitionJson: c.text(a.Previous), Changes: list(a.Changes, c.definitionChange),
		}}
	case p.Kind == event.PromptSampling && q != nil:
		m.Question = &mcphubv1.Prompt_Sampling{Sampling: &mcphubv1.Sampling{RequestJson: c.text(string(q.Payload))}}
	case p.Kind == event.PromptElicitationForm && q != nil:
		m.Question = &mcphubv1.Prompt_ElicitationForm{ElicitationForm: &mcphubv1.ElicitationForm{
			Message: c.text(q.Message), SchemaJson: c.text(string(q.Schema)), RequestJson: c.text(string(q.Payload)),
		}}
	case p.Kind == event.PromptElicitationURL && q != nil:
		m.Question = &mcphubv1.Prompt_ElicitationUrl{ElicitationUrl: &mcphubv1.ElicitationUrl{
			Message: c.text(q.Message), Url: c.text(q.URL), UrlHost: c.text(q.URLHost), Waiting: q.Waiting,
			RequestJson: c.text(string(q.Payload)),
		}}
	case p.Kind == event.PromptSignIn && s != nil:
		m.Question = &mcphubv1.Prompt_SignIn{SignIn: &mcphubv1.SignIn{
			Url: c.text(s.URL), UrlHost: c.text(s.URLHost), Waiting: s.Waiting, Issuer: c.text(s.Issuer),
			Resource: c.text(s.Resource), Scopes: c.texts(s.Scopes),
		}}
	case p.Kind == event.PromptServerLaunch && p.Launch != nil:
		m.Question = &mcphubv1.Prompt_ServerLaunch{ServerLaunch: c.launch(p.Launch)}
	case p.Kind == event.PromptConfigInput && p.Input != nil:
		m.Question = &mcphubv1.Prompt_ConfigInput{ConfigInput: c.configInput(p.Input)}
	}
	return m
}

func (c converter) definitionChange(d event.DefinitionChange) *mcphubv1.DefinitionChange {
	return &mcphubv1.DefinitionChange{Path: c.text(d.Path), BeforeJson: c.text(d.Before), AfterJson: c.text(d.After)}
}

func (c converter) launch(l *event.LaunchQuestion) *mcphubv1.ServerLaunch {
	var by *mcphubv1.ConfigWriter
	if l.WrittenBy != "" {
		by = &mcphubv1.ConfigWriter{Name: c.text(l.WrittenBy), WindowId: c.text(l.WrittenIn)}
	}
	return &mcphubv1.ServerLaunch{
		WrittenBy: by,
		Command:   c.text(l.Command), Args: c.texts(l.Args), Directory: c.text(l.Dir), EnvironmentNames: c.texts(l.EnvNames),
		EnvironmentReferences: c.texts(l.EnvRefs),
		EnvFile:               c.text(l.EnvFile), Url: c.text(l.URL), HeaderNames: c.texts(l.HeaderNames),
		AllowedTools: c.texts(l.AllowedTools), Files: c.texts(l.Files),
		ConfigFile: c.text(l.ConfigFile), ConfigLine: int32(l.ConfigLine), LaunchHash: c.text(l.Hash), Changed: l.Changed,
		Changes: list(l.Changes, c.definitionChange), InputReferences: c.texts(l.InputRefs),
		ResolvedCommand: c.text(l.Program), ResolvedTarget: c.text(l.ProgramTarget), Unresolved: c.text(l.Unresolved),
		ResolvedFrom: c.text(l.ProgramFrom), InheritedNames: c.texts(l.Inherited), EnvFileNames: c.texts(l.EnvFileNames),
		Environment: list(l.Env, func(v event.LaunchVariable) *mcphubv1.LaunchVariable {
			return &mcphubv1.LaunchVariable{Name: c.text(v.Name), Value: c.text(v.Value), Unset: v.Unset, LoadsCode: v.LoadsCode}
		}),
	}
}

func (c converter) configInput(q *event.InputQuestion) *mcphubv1.ConfigInput {
	return &mcphubv1.ConfigInput{
		InputId: c.text(q.InputID), Description: c.text(q.Description), Secret: q.Secret, DefaultValue: c.text(q.Default),
		Options: list(q.Options, func(o event.InputOption) *mcphubv1.ConfigInputOption {
			return &mcphubv1.ConfigInputOption{Value: c.text(o.Value), Label: c.text(o.Label)}
		}),
		ConfigFile: c.text(q.ConfigFile), ConfigLine: int32(q.ConfigLine),
	}
}

func (c converter) resource(r event.ResourceInfo) *mcphubv1.Resource {
	return &mcphubv1.Resource{
		Server: c.text(r.Server), Uri: c.text(r.URI), Name: c.text(r.Name), Title: c.text(r.Title),
		Description: c.text(r.Description),
		MimeType:    c.text(r.MIMEType), Size: r.Size, DefinitionJson: c.text(r.Definition),
	}
}

func (c converter) resourceTemplate(t event.ResourceTemplateInfo) *mcphubv1.ResourceTemplate {
	return &mcphubv1.ResourceTemplate{
		Server: c.text(t.Server), UriTemplate: c.text(t.URITemplate), Name: c.text(t.Name), Title: c.text(t.Title),
		Description: c.text(t.Description),
		MimeType:    c.text(t.MIMEType), DefinitionJson: c.text(t.Definition),
		Variables: c.texts(t.Variables), Problem: c.text(t.Problem),
	}
}

func (c converter) mcpPrompt(p event.McpPromptInfo) *mcphubv1.McpPrompt {
	return &mcphubv1.McpPrompt{
		Server: c.text(p.Server), Name: c.text(p.Name), Title: c.text(p.Title), Description: c.text(p.Description),
		Arguments: list(p.Arguments, func(a event.McpPromptArgument) *mcphubv1.McpPromptArgument {
			return &mcphubv1.McpPromptArgument{Name: c.text(a.Name), Title: c.text(a.Title), Description: c.text(a.Description),
				Required: a.Required}
		}),
		DefinitionJson: c.text(p.Definition),
	}
}

func (c converter) readResult(r *hub.CallResult) *mcphubv1.ReadResourceResponse {
	m := &mcphubv1.ReadResourceResponse{RequestId: c.text(r.RequestID), Rounds: int32(r.Rounds),
		Timings: timings(r.Timings)}
	if r.Error != nil {
		m.Outcome = &mcphubv1.ReadResourceResponse_Error{Error: c.mcpError(r.Error)}
	} else {
		m.Outcome = &mcphubv1.ReadResourceResponse_ResultJson{ResultJson: c.text(string(r.Result))}
	}
	return m
}

func (c converter) promptResult(r *hub.CallResult) *mcphubv1.GetMcpPromptResponse {
	m := &mcphubv1.GetMcpPromptResponse{RequestId: c.text(r.RequestID), Rounds: int32(r.Rounds),
		Timings: timings(r.Timings)}
	if r.Error != nil {
		m.Outcome = &mcphubv1.GetMcpPromptResponse_Error{Error: c.mcpError(r.Error)}
	} else {
		m.Outcome = &mcphubv1.GetMcpPromptResponse_ResultJson{ResultJson: c.text(string(r.Result))}
	}
	return m
}

func (c converter) completionResult(r *hub.CallResult) *mcphubv1.CompleteResponse {
	if r.Error != nil {
		return &mcphubv1.CompleteResponse{Outcome: &mcphubv1.CompleteResponse_Error{Error: c.mcpError(r.Error)}}
	}
	return &mcphubv1.CompleteResponse{Outcome: &mcphubv1.CompleteResponse_ResultJson{ResultJson: c.text(string(r.Result))}}
}

// Conversion of timelines and remembered answers from the hub to the contract.

func (c converter) trace(t event.TraceInfo) *mcphubv1.Trace {
	return &mcphubv1.Trace{Request: c.request(t.Request), Entries: list(t.Entries, c.traceEntry),
		OmittedEntries: int32(t.Omitted), TraceId: c.text(t.TraceID)}
}

func (c converter) traceEntry(e event.TraceEntry) *mcphubv1.TraceEntry {
	m := &mcphubv1.TraceEntry{Time: timestamp(e.Time)}
	switch {
	case e.State != 0:
		m.Event = &mcphubv1.TraceEntry_State{State: &mcphubv1.TraceState{State: mcphubv1.RequestState(e.State)}}
	case e.Message != nil:
		m.Event = &mcphubv1.TraceEntry_Message{Message: &mcphubv1.TraceMessage{
			Direction: mcphubv1.RequestDirection(e.Message.Direction), Type: c.text(e.Message.Type),
			Method: c.text(e.Message.Method), WireIdJson: c.text(e.Message.WireID),
			SizeBytes: int64(e.Message.Bytes), ErrorCode: e.Message.ErrorCode, Dropped: e.Message.Dropped,
		}}
	case e.Cancellation != nil:
		m.Event = &mcphubv1.TraceEntry_Cancellation{Cancellation: c.cancellation(e.Cancellation)}
	case e.Prompt != nil:
		m.Event = &mcphubv1.TraceEntry_Prompt{Prompt: &mcphubv1.TracePrompt{
			PromptId: c.text(e.Prompt.PromptID), Kind: mcphubv1.PromptKind(e.Prompt.Kind),
			Cause: mcphubv1.PromptCause(e.Prompt.Cause),
		}}
	case e.Sending != nil:
		m.Event = &mcphubv1.TraceEntry_Delivery{Delivery: &mcphubv1.TraceDelivery{
			Delivery: mcphubv1.CancelDelivery(e.Sending.Delivery), Error: c.text(e.Sending.Err),
		}}
	case e.Err != nil:
		m.Event = &mcphubv1.TraceEntry_HubError{HubError: c.hubError(e.Err)}
	}
	return m
}

func (c converter) remembered(r event.Remembered) *mcphubv1.Remembered {
	return &mcphubv1.Remembered{
		RememberedId: c.text(r.ID), Kind: mcphubv1.RememberedKind(r.Kind), Server: c.text(r.Server), Tool: c.text(r.Tool),
		InputId: c.text(r.InputID),
		Scope:   mcphubv1.ApprovalScope(r.Scope + 1), Folders: c.texts(r.Folders), WindowId: c.text(r.WindowID),
		Time: timestamp(r.Time), Hash: c.text(r.Hash),
	}
}

// traceBundle returns one JSON object for a bug report, with what the hub says about itself, and the timelines.
func (c converter) traceBundle(about map[string]any, traces []*mcphubv1.Trace) (string, error) {
	all := make([]json.RawMessage, 0, len(traces))
	for _, t := range traces {
		text, err := protojson.Marshal(t)
		if err != nil {
			return "", err
		}
		all = append(all, text)
	}
	bundle := map[string]any{"traces": all}
	for name, value := range about {
		bundle[name] = value
	}
	text, err := json.MarshalIndent(bundle, "", "  ")
	return c.text(string(text)), err
}

// maxTraceContext bounds each header of a caller's trace context, in bytes. W3C requires at least 512, and 8192 for
// baggage.
const maxTraceContext = 8192

// traceContext returns the W3C trace context in a call's metadata.
func traceContext(ctx context.Context) journal.SpanContext {
	of := func(name string) string {
		values := metadata.ValueFromIncomingContext(ctx, name) // does not copy the other headers
		if len(values) != 1 || len(values[0]) > maxTraceContext {
			return ""
		}
		return values[0]
	}
	return journal.SpanContext{Parent: of("traceparent"), State: of("tracestate"), Baggage: of("baggage")}
}
