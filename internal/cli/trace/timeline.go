package trace

import (
	"fmt"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/events"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// timelineText describes one timeline: a line for the request, one for each entry with its time since the first entry,
// and the total.
func timelineText(t *mcphubv1.Trace) []string {
	r := t.GetRequest()
	head := fmt.Sprintf("%s  %s", r.GetRequestId(), r.GetMethod())
	if r.GetTool() != "" {
		head += " " + console.ShortName(r.GetTool())
	}
	head += " on " + r.GetServer()
	if r.GetDirection() == mcphubv1.RequestDirection_REQUEST_DIRECTION_INCOMING {
		head = fmt.Sprintf("%s  %s of %s", r.GetRequestId(), r.GetMethod(), r.GetServer())
	}
	if r.GetParentRequestId() != "" {
		head += ", caused by " + r.GetParentRequestId()
	}
	head += ": " + console.Word(r.GetState(), "REQUEST_STATE_")
	lines := []string{head}
	if t.GetTraceId() != "" {
		lines = append(lines, "  trace "+t.GetTraceId())
	}
	entries := t.GetEntries()
	if len(entries) == 0 {
		return append(lines, "  nothing was noted")
	}
	first, gap := entries[0].GetTime().AsTime(), -1
	if t.GetOmittedEntries() > 0 {
		gap = widestGap(entries)
	}
	lines = append(lines, "  began "+first.Format(time.RFC3339Nano))
	offset := func(e *mcphubv1.TraceEntry) time.Duration { return e.GetTime().AsTime().Sub(first) }
	for i, e := range entries {
		if i == gap {
			lines = append(lines, fmt.Sprintf("%14s  (%d more are left out, about here)", "", t.GetOmittedEntries()))
		}
		lines = append(lines, fmt.Sprintf("%11.3f ms  %s", float64(offset(e))/float64(time.Millisecond), entryText(e)))
	}
	total := float64(offset(entries[len(entries)-1])) / float64(time.Millisecond)
	return append(lines, fmt.Sprintf("%11.3f ms  in all", total))
}

// widestGap returns the index of the entry before which the most time has passed. Entries that were left out were in
// the middle.
func widestGap(entries []*mcphubv1.TraceEntry) int {
	widest, at := time.Duration(-1), len(entries)/2
	for i := 1; i < len(entries); i++ {
		if d := entries[i].GetTime().AsTime().Sub(entries[i-1].GetTime().AsTime()); d > widest {
			widest, at = d, i
		}
	}
	return at
}

func entryText(e *mcphubv1.TraceEntry) string {
	switch e := e.GetEvent().(type) {
	case *mcphubv1.TraceEntry_State:
		return "   " + console.Word(e.State.GetState(), "REQUEST_STATE_")
	case *mcphubv1.TraceEntry_Message:
		return messageText(e.Message)
	case *mcphubv1.TraceEntry_Cancellation:
		text := "   cancelled by " + console.Word(e.Cancellation.GetOrigin(), "ORIGIN_")
		if reason := e.Cancellation.GetReason(); reason != "" {
			text += fmt.Sprintf(": %q", reason)
		}
		return text
	case *mcphubv1.TraceEntry_Delivery:
		return "   cancel " + events.SentText(e.Delivery.GetDelivery(), e.Delivery.GetError())
	case *mcphubv1.TraceEntry_Prompt:
		text := fmt.Sprintf("   %s %s ", e.Prompt.GetPromptId(), console.Word(e.Prompt.GetKind(), "PROMPT_KIND_"))
		if e.Prompt.GetCause() == mcphubv1.PromptCause_PROMPT_CAUSE_UNSPECIFIED {
			return text + "opened"
		}
		return text + "closed: " + console.Word(e.Prompt.GetCause(), "PROMPT_CAUSE_")
	case *mcphubv1.TraceEntry_HubError:
		return fmt.Sprintf("   error %s: %s", e.HubError.GetReason(), e.HubError.GetMessage())
	}
	return "   something that this version does not know"
}

func messageText(m *mcphubv1.TraceMessage) string {
	arrow := "<- "
	if m.GetDirection() == mcphubv1.RequestDirection_REQUEST_DIRECTION_OUTGOING {
		arrow = "-> "
	}
	parts := []string{m.GetType(), m.GetMethod()}
	if m.GetWireIdJson() != "" {
		parts = append(parts, "id "+m.GetWireIdJson())
	}
	if m.GetErrorCode() != 0 {
		parts = append(parts, fmt.Sprint("code ", m.GetErrorCode()))
	}
	if m.GetSizeBytes() != 0 {
		parts = append(parts, fmt.Sprintf("%d bytes", m.GetSizeBytes()))
	}
	switch outgoing := arrow == "-> "; {
	case m.GetDropped() && outgoing:
		parts = append(parts, "not written: it was withdrawn")
	case m.GetDropped():
		parts = append(parts, "dropped")
	}
	return arrow + strings.Join(parts, "  ")
}
