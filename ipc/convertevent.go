package ipc

import (
	"sync"
	"sync/atomic"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// event converts the body of an event. The message has no time.
func (c converter) event(b event.Body) *mcphubv1.AttachResponse {
	m := &mcphubv1.AttachResponse{}
	switch b := b.(type) {
	case *event.ServerChanged:
		m.Event = &mcphubv1.AttachResponse_ServerChanged{ServerChanged: &mcphubv1.ServerChanged{Server: c.server(b.Server),
			Removed: b.Removed}}
	case *event.ToolsChanged:
		m.Event = &mcphubv1.AttachResponse_ToolsChanged{ToolsChanged: &mcphubv1.ToolsChanged{Server: c.text(b.Server)}}
	case *event.ResourcesChanged:
		m.Event = &mcphubv1.AttachResponse_ResourcesChanged{
			ResourcesChanged: &mcphubv1.ResourcesChanged{Server: c.text(b.Server)}}
	case *event.McpPromptsChanged:
		m.Event = &mcphubv1.AttachResponse_McpPromptsChanged{
			McpPromptsChanged: &mcphubv1.McpPromptsChanged{Server: c.text(b.Server)}}
	case *event.ResourceUpdated:
		m.Event = &mcphubv1.AttachResponse_ResourceUpdated{
			ResourceUpdated: &mcphubv1.ResourceUpdated{Server: c.text(b.Server), Uri: c.text(b.URI)}}
	case *event.RequestStarted:
		m.Event = &mcphubv1.AttachResponse_McpRequestStarted{
			McpRequestStarted: &mcphubv1.McpRequestStarted{Request: c.request(b.Request)}}
	case *event.RequestProgressed:
		m.Event = &mcphubv1.AttachResponse_McpRequestProgressed{McpRequestProgressed: &mcphubv1.McpRequestProgressed{
			RequestId: c.text(b.RequestID), Server: c.text(b.Server), State: mcphubv1.RequestState(b.State),
			Progress: c.progress(b.Progress), WireIdJson: c.text(b.WireID),
			Task: c.task(b.Task),
		}}
	case *event.RequestCancelling:
		m.Event = &mcphubv1.AttachResponse_McpRequestCancelling{McpRequestCancelling: &mcphubv1.McpRequestCancelling{
			RequestId: c.text(b.RequestID), Server: c.text(b.Server), Cancellation: c.cancellation(&b.Cancellation),
		}}
	case *event.RequestCancelled:
		m.Event = &mcphubv1.AttachResponse_McpRequestCancelled{McpRequestCancelled: c.requestCancelled(b)}
	case *event.RequestCancelDelivery:
		m.Event = &mcphubv1.AttachResponse_McpRequestCancelDelivery{
			McpRequestCancelDelivery: &mcphubv1.McpRequestCancelDelivery{
				RequestId: c.text(b.RequestID), Server: c.text(b.Server), Delivery: mcphubv1.CancelDelivery(b.Sending.Delivery),
				Error: c.text(b.Sending.Err),
			}}
	case *event.RequestAnsweredLate:
		m.Event = &mcphubv1.AttachResponse_McpRequestAnsweredLate{McpRequestAnsweredLate: &mcphubv1.McpRequestAnsweredLate{
			RequestId: c.text(b.RequestID), Server: c.text(b.Server), Answer: lateAnswer(&b.Answer)}}
	case *event.RequestFinished:
		m.Event = &mcphubv1.AttachResponse_McpRequestFinished{McpRequestFinished: c.requestFinished(b)}
	case *event.PromptOpened:
		m.Event = &mcphubv1.AttachResponse_PromptOpened{PromptOpened: &mcphubv1.PromptOpened{Prompt: c.prompt(b.Prompt)}}
	case *event.PromptClosed:
		m.Event = &mcphubv1.AttachResponse_PromptClosed{PromptClosed: &mcphubv1.PromptClosed{
			PromptId: c.text(b.PromptID), Cause: mcphubv1.PromptCause(b.Cause), Reason: c.text(b.Reason),
			WindowId: c.text(b.WindowID), Origin: mcphubv1.Origin(b.Origin),
		}}
	case *event.ConfigReloaded:
		m.Event = &mcphubv1.AttachResponse_ConfigReloaded{ConfigReloaded: &mcphubv1.ConfigReloaded{
			Problems: list(b.Problems, c.problem), Stopped: c.texts(b.Stopped), ChangedFile: c.text(b.ChangedFile),
		}}
	case *event.LogMessage:
		m.Event = &mcphubv1.AttachResponse_LogMessage{LogMessage: &mcphubv1.LogMessage{
			Server: c.text(b.Server), Level: c.text(b.Level), Logger: c.text(b.Logger), DataJson: c.text(b.Data),
		}}
	}
	return m
}

func (c converter) requestCancelled(b *event.RequestCancelled) *mcphubv1.McpRequestCancelled {
	return &mcphubv1.McpRequestCancelled{
		RequestId: c.text(b.RequestID), Server: c.text(b.Server), Direction: mcphubv1.RequestDirection(b.Direction),
		Method: c.text(b.Method), Tool: c.text(b.Tool),
		Cancellation: c.cancellation(&b.Cancellation), WireIdJson: c.text(b.WireID), ServerNotified: b.ServerNotified(),
		ServerMayContinue: b.ServerMayContinue, Timings: timings(b.Timings), Era: mcphubv1.Era(b.Era),
		Error: c.hubError(b.Err), Subject: c.text(b.Subject), Task: c.task(b.Task),
		Delivery: mcphubv1.CancelDelivery(b.Sending.Delivery), DeliveryError: c.text(b.Sending.Err),
		Caller: c.text(b.Caller), ArgumentsPreview: c.text(b.Preview), Title: c.text(b.Title),
		LateAnswer: lateAnswer(b.Late),
	}
}

func lateAnswer(a *event.LateAnswer) *mcphubv1.LateAnswer {
	if a == nil {
		return nil
	}
	return &mcphubv1.LateAnswer{After: durationpb.New(a.After), IsError: a.NoResult}
}

func (c converter) requestFinished(b *event.RequestFinished) *mcphubv1.McpRequestFinished {
	return &mcphubv1.McpRequestFinished{
		RequestId: c.text(b.RequestID), Server: c.text(b.Server), Direction: mcphubv1.RequestDirection(b.Direction),
		Method: c.text(b.Method), Tool: c.text(b.Tool),
		State: mcphubv1.RequestState(b.State), IsError: b.IsError, McpError: c.mcpError(b.McpError),
		HubError: c.hubError(b.Err), Timings: timings(b.Timings),
		ServerMayContinue: b.ServerMayContinue, Subject: c.text(b.Subject), Task: c.task(b.Task),
		ResultJson: c.text(b.Result), ResultSizeBytes: int64(b.ResultSize),
		Caller: c.text(b.Caller), ArgumentsPreview: c.text(b.Preview), Title: c.text(b.Title),
	}
}

// sharing lets all windows share the conversion of an event: the hub delivers the same body to one window after the
// other. The zero value with a converter is usable; it is safe for concurrent use.
type sharing struct {
	convert converter
	latest  atomic.Pointer[sharedEvent]

	once    sync.Once
	waiting *bounds.Budget // account of all windows; made once
}

// account returns a window's account for the bytes that wait to be sent to it. All windows share one total.
func (s *sharing) account() *bounds.Account {
	s.once.Do(func() {
		s.waiting = bounds.NewBudget("events that wait for windows", bounds.WindowsBytes, bounds.WindowBytes)
	})
	return s.waiting.Account("")
}

// of returns the shared form of an event. It does not convert the event, because it is called with the hub's lock held.
func (s *sharing) of(e event.Event) *sharedEvent {
	if latest := s.latest.Load(); latest != nil && latest.event.Body == e.Body && latest.event.Seq == e.Seq {
		return latest
	}
	shared := &sharedEvent{convert: s.convert, event: e}
	s.latest.Store(shared)
	return shared
}

// sharedEvent is an event that is converted once, by the first window that sends it.
type sharedEvent struct {
	convert converter
	event   event.Event
	once    sync.Once
	message *mcphubv1.AttachResponse // set once, not changed after that
}

// converted returns the message of the event. All windows share it: it must not be changed.
func (s *sharedEvent) converted() *mcphubv1.AttachResponse {
	s.once.Do(func() {
		s.message = s.convert.event(s.event.Body)
		s.message.Time = timestamp(s.event.Time)
	})
	return s.message
}
