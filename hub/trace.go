package hub

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

const methodProgress = "notifications/progress"

// Traces gives the timelines of the latest requests, oldest first: those of all open ones, and of the latest that are
// over.
func (h *Hub) Traces(f event.TraceFilter) []event.TraceInfo {
	type found struct {
		*timeline
		info event.RequestInfo
	}
	var all []found
	want := func(id, server string) bool {
		return (f.RequestID == "" || f.RequestID == id) && (f.Server == "" || f.Server == server)
	}
	h.update(func() {
		for _, t := range h.record.ended {
			if want(t.at.ID, t.at.Server) {
				all = append(all, found{t, *t.at})
			}
		}
		for _, r := range h.requests {
			if want(r.id, r.server.name) {
				all = append(all, found{r.trace, tracedInfo(r)})
			}
		}
	})
	slices.SortFunc(all, func(a, b found) int { return cmp.Compare(a.n, b.n) })
	if f.Max > 0 && len(all) > f.Max {
		all = all[len(all)-f.Max:]
	}
	list := make([]event.TraceInfo, 0, len(all))
	for _, one := range all {
		info := event.TraceInfo{Request: one.info}
		info.Entries, info.Omitted, info.TraceID = one.read()
		info.Request.Cancellation = h.withoutSecrets(info.Request.Cancellation)
		for i := range info.Entries {
			info.Entries[i].Cancellation = h.withoutSecrets(info.Entries[i].Cancellation)
		}
		list = append(list, info)
	}
	return list
}

func (h *Hub) withoutSecrets(c *event.Cancellation) *event.Cancellation {
	if c == nil {
		return nil
	}
	clean := *c
	clean.Reason = h.redactor.Text(c.Reason)
	return &clean
}

// tracedInfo is what a timeline shows of its request: nothing of what it asks for and of what a server says. h.mu is
// held.
func tracedInfo(r *request) event.RequestInfo {
	i := r.info()
	i.Progress, i.Subject = nil, ""
	if i.Task != nil {
		i.Task = &event.TaskInfo{ID: i.Task.ID, Status: i.Task.Status}
	}
	return i
}

// newTrace makes the timeline of a request that a server may be sending; question makes it that of a request.
func (h *Hub) newTrace() any { return h.record.timeline() }

// tap hears of the messages of all requests. It is called with locks of the engine held.
func (h *Hub) tap(trace any, m jsonrpc.Observed) {
	if t, ok := trace.(*timeline); ok && t != nil {
		t.message(m)
	}
}

// tracedPrompt notes that a prompt has opened or closed: with the request that it belongs to and with the call that
// caused that. h.mu is held.
func (h *Hub) tracedPrompt(p *prompt, cause event.PromptCause) {
	for r := p.request; r != nil; r = r.parent {
		r.trace.add(record{what: recordPrompt, id: p.id, prompt: uint8(p.info.Kind), cause: uint8(cause)})
		r.spanPrompt(p.info.Kind, cause)
	}
}

// tracedEnd notes what r ended with besides its state. h.mu is held.
func (h *Hub) tracedEnd(r *request, e ending) {
	if e.state == event.StateCancelled && e.sending.Delivery > event.DeliveryNotNeeded {
		r.trace.add(record{what: recordDelivery, detail: &e.sending})
	}
	err := e.err
	if e.state == event.StateCancelled {
		if err = r.cause.Err; err == nil {
			err = &event.Error{Code: event.CodeCancelled, Reason: event.ReasonCancelled,
				Meta: map[string]string{"origin": r.cause.Origin.String()}}
		}
	}
	if err != nil {
		r.trace.add(record{what: recordError, detail: tracedError(err, e.mayContinue)})
	}
	r.trace.end(tracedInfo(r))
}

// tracedMeta are the parts of an error's metadata that name nothing but settings and numbers of the hub.
var tracedMeta = []string{"setting", "limit", "origin", "http_status", "server_may_continue", "capability", "server",
	"request_id"}

// tracedError is err with a text that quotes neither a server nor what it was asked for.
func tracedError(err *event.Error, mayContinue bool) *event.Error {
	kept := &event.Error{Code: err.Code, Reason: err.Reason, Message: strings.ToLower(strings.ReplaceAll(err.Reason, "_",
		" ")),
		Meta: map[string]string{}}
	for _, key := range tracedMeta {
		if v, ok := err.Meta[key]; ok {
			kept.Meta[key] = v
		}
	}
	if setting := kept.Meta["setting"]; setting != "" {
		kept.Message += ": " + setting
		if limit := kept.Meta["limit"]; limit != "" {
			kept.Message += " of " + limit
		}
	}
	if status := kept.Meta["http_status"]; status != "" {
		kept.Message += ": HTTP status " + status
	}
	if mayContinue {
		kept.Meta["server_may_continue"] = "true"
	}
	if kept.Meta["server_may_continue"] == "true" {
		kept.Message += "; the server may go on"
	}
	return kept
}
