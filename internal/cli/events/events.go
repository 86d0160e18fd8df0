// Package events describes the events of a window for a person, in one or a few short lines each.
//
// What must not live here: what is done about an event.
package events

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/questions"
	"github.com/mcphub-go/mcphub/internal/cli/source"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// Teller describes the events of a window for a person, in one or a few short lines each. It belongs to one goroutine.
type Teller struct {
	// own is the id of the request that is not named in the lines, because the command makes only this one; "" if there is
	// none. serves is the name of its server, until the request has ended.
	own, Serves string
	// held is why that server did not start. It is printed at the end of the request, unless the error of the request
	// contains it.
	Held   string
	states map[string]mcphubv1.ServerState
	noted  map[string]string // the last error that was printed while the server connects, by server
	tasks  map[string]string // the last text about the task of an open request
	quiet  map[string]bool   // open requests that are described by other events
}

// NewTeller returns a teller for a command whose own request has this id, "" if it makes none.
func NewTeller(own string) *Teller {
	return &Teller{
		own: own, states: map[string]mcphubv1.ServerState{}, noted: map[string]string{},
		tasks: map[string]string{}, quiet: map[string]bool{},
	}
}

// Lines returns the lines that describe an event. Many events need none.
func (t *Teller) Lines(event *mcphubv1.AttachResponse) []string {
	switch e := event.GetEvent().(type) {
	case *mcphubv1.AttachResponse_Reply:
		if err := e.Reply.GetError(); err != nil {
			return console.Lines("refused: %s (%s)", err.GetMessage(), err.GetReason())
		}
		switch e.Reply.GetCancelOutcome() {
		case mcphubv1.CancelOutcome_CANCEL_OUTCOME_ALREADY_FINISHED:
			return console.Lines("nothing to cancel: it had ended already")
		case mcphubv1.CancelOutcome_CANCEL_OUTCOME_UNKNOWN:
			return console.Lines("nothing to cancel: no such request")
		}
	case *mcphubv1.AttachResponse_ServerChanged:
		return t.server(e.ServerChanged)
	case *mcphubv1.AttachResponse_ConfigReloaded:
		return reloadedLines(e.ConfigReloaded)
	case *mcphubv1.AttachResponse_ToolsChanged:
		return t.listChanged("tools", e.ToolsChanged.GetServer())
	case *mcphubv1.AttachResponse_ResourcesChanged:
		return t.listChanged("resources", e.ResourcesChanged.GetServer())
	case *mcphubv1.AttachResponse_McpPromptsChanged:
		return t.listChanged("prompt templates", e.McpPromptsChanged.GetServer())
	case *mcphubv1.AttachResponse_ResourceUpdated:
		return console.Lines("%s: the resource %s changed", e.ResourceUpdated.GetServer(), e.ResourceUpdated.GetUri())
	case *mcphubv1.AttachResponse_McpRequestStarted:
		return t.started(e.McpRequestStarted.GetRequest())
	case *mcphubv1.AttachResponse_McpRequestProgressed:
		return t.progressed(e.McpRequestProgressed)
	case *mcphubv1.AttachResponse_McpRequestCancelling:
		c := e.McpRequestCancelling
		if t.quiet[c.GetRequestId()] {
			return nil
		}
		return console.Lines("%scancelling: %s", t.label(c.GetRequestId()), console.OrDash(c.GetCancellation().GetReason()))
	case *mcphubv1.AttachResponse_McpRequestCancelled:
		t.forget(e.McpRequestCancelled.GetRequestId())
		if toldOtherwise(e.McpRequestCancelled.GetMethod()) {
			return nil
		}
		return console.Lines("%s%s", t.label(e.McpRequestCancelled.GetRequestId()), cancelledText(e.McpRequestCancelled))
	case *mcphubv1.AttachResponse_McpRequestCancelDelivery:
		d := e.McpRequestCancelDelivery
		return console.Lines("%sthe cancel: %s", t.label(d.GetRequestId()), SentText(d.GetDelivery(), d.GetError()))
	case *mcphubv1.AttachResponse_McpRequestAnsweredLate:
		a := e.McpRequestAnsweredLate
		return console.Lines("%s%s", t.label(a.GetRequestId()), lateText(a.GetAnswer()))
	case *mcphubv1.AttachResponse_McpRequestFinished:
		t.forget(e.McpRequestFinished.GetRequestId())
		if e.McpRequestFinished.GetRequestId() == t.own {
			t.Serves = ""
		}
		if f := e.McpRequestFinished; toldOtherwise(f.GetMethod()) ||
			f.GetRequestId() == t.own && (f.GetHubError() != nil || f.GetMcpError() != nil) {
			return nil // the last line of the command says why its own request failed
		}
		return console.Lines("%s%s", t.label(e.McpRequestFinished.GetRequestId()), finishedText(e.McpRequestFinished))
	case *mcphubv1.AttachResponse_PromptOpened:
		return questions.Lines(e.PromptOpened.GetPrompt())
	case *mcphubv1.AttachResponse_PromptClosed:
		p := e.PromptClosed
		text := fmt.Sprintf("question %s closed: %s", p.GetPromptId(), console.Word(p.GetCause(), "PROMPT_CAUSE_"))
		if p.GetReason() != "" {
			text += ", " + p.GetReason()
		}
		return console.Lines("%s", text)
	case *mcphubv1.AttachResponse_LogMessage:
		l := e.LogMessage
		// A note of the hub that has a text says all in it.
		if text := jsontext.Get([]byte(l.GetDataJson()), "text"); l.GetLogger() == "mcphub" && jsontext.IsString(text) {
			return console.Lines("%s %s: %s", l.GetServer(), l.GetLevel(), console.Cut(jsontext.String(text), 800))
		}
		return console.Lines("%s %s: %s", l.GetServer(), l.GetLevel(), console.Cut(console.JSONText(l.GetDataJson()), 400))
	case *mcphubv1.AttachResponse_Dropped:
		var parts []string
		if n := e.Dropped.GetLogMessages(); n > 0 {
			parts = append(parts, fmt.Sprintf("%d log messages", n))
		}
		if n := e.Dropped.GetNotices(); n > 0 {
			parts = append(parts, fmt.Sprintf("%d notices of changes", n))
		}
		return console.Lines("%s were dropped", strings.Join(parts, " and "))
	}
	return nil
}

// listChanged describes the change of a list. It returns no lines if the command makes a request: then nobody needs
// them, and many servers send such notices at each start.
func (t *Teller) listChanged(what, server string) []string {
	if t.own != "" {
		return nil
	}
	return console.Lines("%s: its %s changed", server, what)
}

// forget removes what was kept about a request that has ended.
func (t *Teller) forget(requestID string) {
	delete(t.tasks, requestID)
	delete(t.quiet, requestID)
}

// label returns the name of a request as the beginning of a line.
func (t *Teller) label(requestID string) string {
	if requestID == t.own {
		return ""
	}
	return requestID + ": "
}

func (t *Teller) server(e *mcphubv1.ServerChanged) []string {
	s := e.GetServer()
	if e.GetRemoved() {
		delete(t.states, s.GetName())
		return console.Lines("%s: removed", s.GetName())
	}
	connecting := s.GetState() == mcphubv1.ServerState_SERVER_STATE_CONNECTING
	if t.states[s.GetName()] == s.GetState() {
		if connecting && s.GetLastError() != "" && t.noted[s.GetName()] != s.GetLastError() {
			t.noted[s.GetName()] = s.GetLastError()
			return console.Lines("%s: still connecting: %s", s.GetName(), s.GetLastError())
		}
		return nil
	}
	t.states[s.GetName()] = s.GetState()
	switch s.GetState() {
	case mcphubv1.ServerState_SERVER_STATE_READY:
		return console.Lines("%s: ready, %s %s, revision %s, %s", s.GetName(), console.OrDash(s.GetTitle()), s.GetVersion(),
			s.GetProtocolRevision(), Whereabouts(s))
	case mcphubv1.ServerState_SERVER_STATE_FAILED, mcphubv1.ServerState_SERVER_STATE_BROKEN,
		mcphubv1.ServerState_SERVER_STATE_GIVEN_UP:
		if s.GetName() == t.Serves && s.GetLastError() != "" {
			t.Held = s.GetLastError()
			break
		}
		return console.Lines("%s: %s: %s", s.GetName(), console.Word(s.GetState(), "SERVER_STATE_"),
			console.OrDash(s.GetLastError()))
	}
	return console.Lines("%s: %s", s.GetName(), console.Word(s.GetState(), "SERVER_STATE_"))
}

// reloadedLines describes a reload that a changed file has caused. For other reloads it returns nil, since the host has
// asked for them.
func reloadedLines(e *mcphubv1.ConfigReloaded) []string {
	if e.GetChangedFile() == "" {
		return nil
	}
	text := "config: " + e.GetChangedFile() + " changed"
	if len(e.GetStopped()) > 0 {
		text += ", and with it " + strings.Join(e.GetStopped(), ", ")
	}
	lines := console.Lines("%s", text)
	for _, p := range e.GetProblems() {
		lines = append(lines, "  "+source.ProblemLineOf(p))
	}
	return lines
}

// Whereabouts returns where a server is.
func Whereabouts(s *mcphubv1.Server) string {
	if s.GetUrl() != "" {
		return transportName(s.GetTransport()) + " at " + s.GetUrl()
	}
	return fmt.Sprintf("process %d", s.GetProcessId())
}

func transportName(t mcphubv1.ServerTransport) string {
	switch t {
	case mcphubv1.ServerTransport_SERVER_TRANSPORT_HTTP:
		return "Streamable HTTP"
	case mcphubv1.ServerTransport_SERVER_TRANSPORT_SSE:
		return "HTTP with SSE"
	}
	return console.Word(t, "SERVER_TRANSPORT_")
}

func (t *Teller) started(r *mcphubv1.Request) []string {
	switch {
	case toldOtherwise(r.GetMethod()):
		t.quiet[r.GetRequestId()] = true
		return nil
	case r.GetDirection() == mcphubv1.RequestDirection_REQUEST_DIRECTION_INCOMING:
		return console.Lines("%s%s asks: %s", t.label(r.GetRequestId()), r.GetServer(), r.GetMethod())
	case r.GetRequestId() == t.own:
		return console.Lines("request %s: %s on %s", r.GetRequestId(), requestAbout(r), r.GetServer())
	}
	return console.Lines("%s%s on %s", t.label(r.GetRequestId()), requestAbout(r), r.GetServer())
}

// requestAbout returns the target of a request: the name of a tool, or for other requests the method and the subject.
func requestAbout(r *mcphubv1.Request) string {
	switch {
	case r.GetTool() != "":
		return console.ShortName(r.GetTool())
	case r.GetSubject() != "":
		return r.GetMethod() + " " + r.GetSubject()
	}
	return r.GetMethod()
}

// toldOtherwise reports whether requests with this method are described by other events: the start of a session by the
// states of the server, and a sign-in, a launch and a value for the config by their questions.
func toldOtherwise(method string) bool {
	switch method {
	case "initialize", "server/discover", "authorization", "launch", "input":
		return true
	}
	return false
}

// progressed describes progress and news about the server's task. It does not describe a mere change of state: its
// cause was described, and this event may come later. An event holds everything that is known about a task, so only
// what is new is returned.
func (t *Teller) progressed(p *mcphubv1.McpRequestProgressed) []string {
	var lines []string
	if p.GetTask() != nil {
		if text := TaskText(p.GetTask()); t.tasks[p.GetRequestId()] != text {
			t.tasks[p.GetRequestId()] = text
			lines = console.Lines("%s%s", t.label(p.GetRequestId()), text)
		}
	}
	if p.GetProgress() != nil {
		lines = append(lines, console.Lines("%s%s", t.label(p.GetRequestId()), console.ProgressText(p.GetProgress()))...)
	}
	return lines
}

// TaskText describes the task of a server.
func TaskText(t *mcphubv1.Task) string {
	s := fmt.Sprintf("task %s: %s", t.GetTaskId(), console.OrDash(strings.ReplaceAll(t.GetStatus(), "_", " ")))
	if t.GetMessage() != "" {
		s += ", " + t.GetMessage()
	}
	return s
}

func cancelledText(e *mcphubv1.McpRequestCancelled) string {
	who := console.Word(e.GetCancellation().GetOrigin(), "ORIGIN_")
	s := fmt.Sprintf("cancelled by %s", who)
	if who == "timeout" {
		s = "timed out"
	}
	if reason := e.GetCancellation().GetReason(); reason != "" {
		s += ": " + reason
	}
	if sent := cancelSentText(e); sent != "" {
		s += "; " + sent
	}
	if late := e.GetLateAnswer(); late != nil {
		s += "; " + lateText(late)
	}
	return s
}

// lateText describes an answer that came after its request was cancelled.
func lateText(a *mcphubv1.LateAnswer) string {
	if a.GetIsError() {
		return "the server answered " + short(a.GetAfter()) + " later, with an error"
	}
	return "the server answered " + short(a.GetAfter()) + " later; its result was dropped"
}

func finishedText(e *mcphubv1.McpRequestFinished) string {
	switch {
	case e.GetHubError() != nil:
		return "failed: " + e.GetHubError().GetMessage()
	case e.GetMcpError() != nil:
		return fmt.Sprintf("failed: the server answered error %d: %s", e.GetMcpError().GetCode(),
			e.GetMcpError().GetMessage())
	case e.GetIsError():
		return "done, but the tool says that it failed" + tookText(e.GetTimings())
	}
	return "done" + tookText(e.GetTimings())
}

// tookText says how long the server took, and separately how long people took, which is not the server's fault.
func tookText(t *mcphubv1.Timings) string {
	s := ""
	if t.GetActive() != nil {
		s = ", " + short(t.GetActive()) + " at the server"
	}
	if t.GetHuman().AsDuration() > 0 {
		s += ", " + short(t.GetHuman()) + " with you"
	}
	return s
}

func short(d *durationpb.Duration) string { return console.Duration(d.AsDuration()) }

// ColourOf returns the colour for an event: green for success, red for a failure, yellow for a cancel, and dim for log
// messages.
func ColourOf(event *mcphubv1.AttachResponse) string {
	switch e := event.GetEvent().(type) {
	case *mcphubv1.AttachResponse_McpRequestFinished:
		if f := e.McpRequestFinished; f.GetHubError() != nil || f.GetMcpError() != nil || f.GetIsError() {
			return console.Red
		}
		return console.Green
	case *mcphubv1.AttachResponse_McpRequestCancelling, *mcphubv1.AttachResponse_McpRequestCancelled,
		*mcphubv1.AttachResponse_McpRequestCancelDelivery, *mcphubv1.AttachResponse_McpRequestAnsweredLate:
		return console.Yellow
	case *mcphubv1.AttachResponse_PromptOpened:
		return console.Bold
	case *mcphubv1.AttachResponse_LogMessage:
		return console.Dim
	case *mcphubv1.AttachResponse_ServerChanged:
		switch e.ServerChanged.GetServer().GetState() {
		case mcphubv1.ServerState_SERVER_STATE_FAILED, mcphubv1.ServerState_SERVER_STATE_BROKEN,
			mcphubv1.ServerState_SERVER_STATE_GIVEN_UP:
			return console.Red
		}
		return console.Dim
	}
	return ""
}

// SentText returns what is known about the delivery of a cancel to the server, "" if there is nothing to say. No text
// says that the server has stopped.
func SentText(delivery mcphubv1.CancelDelivery, failure string) string {
	switch delivery {
	case mcphubv1.CancelDelivery_CANCEL_DELIVERY_DELIVERED:
		return "sent to the server"
	case mcphubv1.CancelDelivery_CANCEL_DELIVERY_PENDING:
		return "being sent to the server"
	case mcphubv1.CancelDelivery_CANCEL_DELIVERY_FAILED:
		return "could not be sent to the server: " + console.OrDash(failure)
	case mcphubv1.CancelDelivery_CANCEL_DELIVERY_NOT_NEEDED:
		return "not needed: nothing was open at the server"
	}
	return ""
}

// cancelSentText is SentText for the end of a request. It also says whether the server may go on.
func cancelSentText(e *mcphubv1.McpRequestCancelled) string {
	delivery := e.GetDelivery()
	switch {
	case e.GetDirection() == mcphubv1.RequestDirection_REQUEST_DIRECTION_INCOMING:
		return ""
	case delivery == mcphubv1.CancelDelivery_CANCEL_DELIVERY_NOT_NEEDED && e.GetWireIdJson() == "":
		return "nothing had been sent"
	case delivery == mcphubv1.CancelDelivery_CANCEL_DELIVERY_NOT_NEEDED:
		return "nothing was open at the server"
	case delivery == mcphubv1.CancelDelivery_CANCEL_DELIVERY_UNSPECIFIED && e.GetServerNotified():
		delivery = mcphubv1.CancelDelivery_CANCEL_DELIVERY_DELIVERED
	}
	text := SentText(delivery, e.GetDeliveryError())
	switch {
	case !e.GetServerMayContinue():
	case delivery == mcphubv1.CancelDelivery_CANCEL_DELIVERY_FAILED:
		text += "; it may still work on it"
	case text == "":
		text = "the server may still work on it"
	default:
		text += ", which may still work on it"
	}
	return text
}
