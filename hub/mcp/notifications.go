package mcp

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// Progress is one progress notification of a call. Progress never decreases, except with Back; Total is set if HasTotal
// is.
type Progress struct {
	Progress float64
	Total    float64
	HasTotal bool
	Message  string // since 2025-03-26; untrusted
	// Back reports that the progress was less than before, which it MUST NOT be (basic/utilities/progress, every
	// revision). Progress is then the earlier value, and the notification only shows that the server is alive.
	Back bool
	// Params are the params of the notification as they came, including this side's token.
	Params json.RawMessage
}

// classify says what may be dropped while the delivery is behind: old progress of a call, and log messages.
func classify(n *jsonrpc.Notification) (jsonrpc.Class, string) {
	switch n.Method {
	case protocol.MethodProgress:
		if v := member(n.Params, "progress"); len(v) > 0 && (v[0] == '-' || v[0] >= '0' && v[0] <= '9') {
			return jsonrpc.Coalesce, string(member(n.Params, "progressToken"))
		}
		return jsonrpc.Lossy, "" // malformed: it must not replace a well-formed one
	case protocol.MethodMessage:
		return jsonrpc.Lossy, ""
	}
	return jsonrpc.MustDeliver, ""
}

// handleNotification runs on the delivery goroutine: later messages wait until it returns.
func (s *Session) handleNotification(n *jsonrpc.Notification) {
	switch n.Method {
	case protocol.MethodProgress:
		s.progressed(n, false)
	case protocol.MethodMessage:
		s.logged(n.Params)
	case protocol.MethodToolsChanged:
		s.listChanged(aboutTools, n.Params)
	case protocol.MethodPromptsChanged:
		s.listChanged(aboutPrompts, n.Params)
	case protocol.MethodResourcesChanged:
		s.listChanged(aboutResources, n.Params)
	case protocol.MethodResourceUpdated:
		if uri := stringOf(member(n.Params, "uri")); uri != "" && s.forUs(n.Params) {
			s.tellUpdated(uri)
		}
	case protocol.MethodAcknowledged:
		s.listen.acknowledged(s, n.Params)
	case protocol.MethodElicitationComplete:
		s.elicitationCompleted(stringOf(member(n.Params, "elicitationId")))
	case protocol.MethodTaskStatus, protocol.MethodTasks:
		s.taskTold(n)
	}
}

func (s *Session) listChanged(about topic, params json.RawMessage) {
	if s.forUs(params) {
		s.tellChanged(about)
	}
}

// forUs reports whether a notification of a change belongs to the open listen stream. Legacy revisions have no streams,
// so there all of them do.
func (s *Session) forUs(params json.RawMessage) bool {
	return s.Era() != Modern || s.listen.carries(params)
}

// tellChanged drops what is cached of a topic, and then calls the handler, so that the handler gets new data.
func (s *Session) tellChanged(about topic) {
	s.cache.changed(about)
	switch about {
	case aboutTools:
		s.o.Handler.ToolsChanged()
	case aboutPrompts:
		s.o.Handler.PromptsChanged()
	case aboutResources:
		s.o.Handler.ResourcesChanged()
	}
}

func (s *Session) tellUpdated(uri string) {
	s.cache.updated(uri)
	s.o.Handler.ResourceUpdated(uri)
}

// progressDirect handles progress on the reading goroutine, in one pass over its text: there may be thousands in a
// second. It leaves malformed progress to classify.
func (s *Session) progressDirect(n *jsonrpc.Notification) bool {
	return n.Method == protocol.MethodProgress && s.progressed(n, true)
}

// progressed finds the call by the exact text of the token: 1 and "1" are two tokens. Progress of calls that are over
// and of unknown tokens is ignored. It returns false for malformed progress. tap says whether the tap has not seen it.
func (s *Session) progressed(n *jsonrpc.Notification, tap bool) bool {
	token, p, ok := readProgress(n.Params)
	if !ok {
		return false
	}
	s.mu.Lock()
	call := s.progress[string(token)]
	s.mu.Unlock()
	if call == nil {
		return true
	}
	if tap {
		s.tellTap(call.req, n)
	}
	if call.deliver(string(token), p) {
		s.backward.Add(1)
	}
	return true
}

// readProgress parses params with the same result as encoding/json, but much faster: there may be thousands in a
// second. ok is false if there is no progress, or if a member has a wrong type.
func readProgress(params json.RawMessage) (token json.RawMessage, p Progress, ok bool) {
	p.Params = params
	has, sound := false, true
	number := func(v json.RawMessage, to *float64) bool {
		if string(v) == "null" {
			return false
		}
		// ParseFloat also accepts hexadecimal, Inf, NaN and underscores, but valid JSON has none of these.
		f, err := strconv.ParseFloat(string(v), 64)
		*to = f
		sound = sound && err == nil
		return err == nil
	}
	eachMember(params, func(name []byte, v json.RawMessage) bool {
		switch string(name) {
		case "progressToken":
			token = v
		case "progress":
			has = number(v, &p.Progress)
		case "total":
			p.HasTotal = number(v, &p.Total)
		case "message":
			p.Message = stringOf(v)
			sound = sound && (len(v) > 0 && v[0] == '"' || string(v) == "null")
		}
		return sound
	})
	return token, p, has && sound
}

func (s *Session) logged(params json.RawMessage) {
	m := LogMessage{
		Level:  stringOf(member(params, "level")),
		Logger: stringOf(member(params, "logger")),
		Data:   member(params, "data"),
	}
	if m.Level == "" && m.Data == nil {
		return
	}
	s.o.Handler.Logged(m)
}

// completion is a question that waits until the server reports its elicitation as done.
type completion struct {
	id  string
	end context.CancelCauseFunc
}

// elicitationCompleted ends the questions about one URL. 2025-11-25 client/elicitation: unknown and completed ids MUST
// be ignored.
func (s *Session) elicitationCompleted(id string) {
	var taken []*completion
	s.mu.Lock()
	for c := range s.completions {
		if c.id == id {
			taken = append(taken, c)
			delete(s.completions, c)
		}
	}
	s.mu.Unlock()
	for _, c := range taken {
		c.end(&ElicitationCompleted{ElicitationID: id})
	}
	s.o.Handler.ElicitationCompleted(id)
}

// untilCompleted returns a context that ends with *ElicitationCompleted when the server reports the elicitation as
// done. The caller must call stop.
func (s *Session) untilCompleted(ctx context.Context, id string) (out context.Context, stop func()) {
	out, end := context.WithCancelCause(ctx)
	c := &completion{id: id, end: end}
	if id != "" {
		s.mu.Lock()
		s.completions[c] = struct{}{}
		s.mu.Unlock()
	}
	return out, func() {
		s.mu.Lock()
		delete(s.completions, c)
		s.mu.Unlock()
		end(errQuestionOver)
	}
}
