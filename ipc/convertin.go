package ipc

import (
	"context"
	"encoding/json"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// Conversion from the contract to the hub. The messages have been validated.

func callRequest(ctx context.Context, r *mcphubv1.CallToolRequest) hub.CallRequest {
	return hub.CallRequest{
		ID: r.GetRequestId(), Server: r.GetServer(), Tool: r.GetTool(), Arguments: r.GetArgumentsJson(),
		Meta:        r.GetMetaJson(),
		Preapproved: r.GetPreapproved(), TaskLabel: r.GetTaskLabel(), OwnerWindowID: r.GetOwnerWindowId(),
		PreferTask: r.GetPreferTask(), CallerName: r.GetCaller(), AppOf: r.GetAppRequestId(),
		Timeouts: clocks(r.GetTimeouts()), Trace: traceContext(ctx),
	}
}

func resourceRequest(ctx context.Context, r *mcphubv1.ReadResourceRequest) hub.CallRequest {
	return hub.CallRequest{
		ID: r.GetRequestId(), Server: r.GetServer(), URI: r.GetUri(), Meta: r.GetMetaJson(),
		Timeouts:  clocks(r.GetTimeouts()),
		TaskLabel: r.GetTaskLabel(), OwnerWindowID: r.GetOwnerWindowId(), Trace: traceContext(ctx),
		AppOf: r.GetAppRequestId(),
	}
}

func mcpPromptRequest(ctx context.Context, r *mcphubv1.GetMcpPromptRequest) hub.CallRequest {
	return hub.CallRequest{
		ID: r.GetRequestId(), Server: r.GetServer(), McpPrompt: r.GetName(), PromptArguments: r.GetArguments(),
		Meta:      r.GetMetaJson(),
		Timeouts:  clocks(r.GetTimeouts()),
		TaskLabel: r.GetTaskLabel(), OwnerWindowID: r.GetOwnerWindowId(), Trace: traceContext(ctx),
	}
}

func completion(r *mcphubv1.CompleteRequest) hub.Completion {
	return hub.Completion{
		Server: r.GetServer(), McpPrompt: r.GetMcpPrompt(), URITemplate: r.GetUriTemplate(), Argument: r.GetArgument(),
		Value: r.GetValue(), Context: r.GetContext(),
	}
}

func clocks(t *mcphubv1.Timeouts) hub.Timeouts {
	return hub.Timeouts{Idle: clock(t.GetIdle()), Total: clock(t.GetTotal()), Human: clock(t.GetHuman())}
}

// extensions parses a text that has been validated.
func extensions(text string) map[string]json.RawMessage {
	if text == "" {
		return nil
	}
	var of map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &of) != nil {
		return nil
	}
	return of
}

// clock converts a duration. nil means that the config decides, and zero that there is no limit.
func clock(d *durationpb.Duration) *time.Duration {
	if d == nil {
		return nil
	}
	v := d.AsDuration()
	return &v
}

func cancelScope(r *mcphubv1.CancelRequestsRequest) hub.CancelScope {
	return hub.CancelScope{Server: r.GetServer(), TaskLabel: r.GetTaskLabel(), All: r.GetAll()}
}

// configSources converts sources. It returns nil if there are none, which means the same sources as last time.
func configSources(sources []*mcphubv1.ConfigSource) []hub.ConfigSource {
	return list(sources, func(s *mcphubv1.ConfigSource) hub.ConfigSource {
		scope := s.GetScope()
		if scope == "" {
			scope = "workspace" // what a file may do without a question depends on its scope; this one may do the least
		}
		return hub.ConfigSource{Path: s.GetPath(), JSON: s.GetJson(), Scope: scope, Trusted: s.GetTrusted(),
			Dialect: s.GetDialect(), Folder: s.GetFolder(), MayBeMissing: s.GetMayBeMissing()}
	})
}

func helloOf(h *mcphubv1.Hello) hub.Hello {
	return hub.Hello{
		WindowID: h.GetWindowId(), Title: h.GetTitle(), Kinds: list(h.GetPromptKinds(), promptKind),
		SamplingTools: h.GetSamplingTools(), Roots: list(h.GetRoots(), root), Extensions: extensions(h.GetExtensionsJson()),
		MaxHistory: int(h.GetMaxHistory()), ActsFor: h.GetActsFor(), ComesBackTo: h.GetComesBackTo(),
	}
}

func promptKind(k mcphubv1.PromptKind) event.PromptKind { return event.PromptKind(k) }

func root(r *mcphubv1.Root) hub.Root { return hub.Root{URI: r.GetUri(), Name: r.GetName()} }

func promptAnswer(a *mcphubv1.PromptAnswer) event.PromptAnswer {
	answer := event.PromptAnswer{PromptID: a.GetPromptId(), MuteServer: a.GetMuteServer()}
	switch action := a.GetAction().(type) {
	case *mcphubv1.PromptAnswer_Accept:
		answer.Action = event.ActionAccept
		answer.Scope = approvalScope(action.Accept.GetScope())
		answer.Content = action.Accept.GetContentJson()
		answer.KeptByHost = action.Accept.GetKeptByHost()
		answer.Edited = action.Accept.GetRequestJson()
		answer.LaunchHash = action.Accept.GetLaunchHash()
	case *mcphubv1.PromptAnswer_Decline:
		answer.Action = event.ActionDecline
		answer.Reason = action.Decline.GetReason()
	case *mcphubv1.PromptAnswer_Dismiss:
		answer.Action = event.ActionDismiss
	}
	return answer
}

// approvalScope converts a scope. Nothing said means once.
func approvalScope(s mcphubv1.ApprovalScope) event.ApprovalScope {
	return event.ApprovalScope(max(s-1, 0))
}

// list converts each element; nil stays nil.
func list[A, B any](from []A, convert func(A) B) []B {
	if from == nil {
		return nil
	}
	to := make([]B, len(from))
	for i := range from {
		to[i] = convert(from[i])
	}
	return to
}
