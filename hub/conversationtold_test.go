package hub_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// follows is what everybody was told since a step.
func (s *stage) follows() []string {
	lines := s.reply
	s.reply = nil
	for _, id := range s.callIDs {
		if c := s.calls[id]; !s.said[id] && c.over() {
			s.said[id] = true
			lines = append(lines, "caller: "+id+" "+endOf(c))
		}
	}
	open := s.openOrders()
	for _, o := range s.orders {
		if !slices.Contains(open, o) && (o.said != "" || o.waited && o.what != "config") {
			lines = append(lines, o.what+": "+cmp.Or(o.said, "done"))
		}
		o.waited = true
	}
	s.orders = open
	for _, name := range slices.Sorted(maps.Keys(s.actors)) {
		for _, line := range s.actors[name].hears(s.answered) {
			if s.told == nil || line != "connected anew" { // how servers become says it
				lines = append(lines, name+": "+line)
			}
		}
	}
	texts := map[string]string{}
	for name, v := range s.views {
		texts[name] = s.seen(v)
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		alike := slices.DeleteFunc(slices.Sorted(maps.Keys(texts)), func(n string) bool { return texts[n] != texts[name] })
		if alike[0] == name {
			for line := range strings.Lines(texts[name]) {
				lines = append(lines, strings.Join(alike, ", ")+": "+strings.TrimSuffix(line, "\n"))
			}
		}
	}
	if s.told != nil {
		lines = append(lines, s.serversTold()...)
	}
	for i, line := range lines {
		lines[i] = s.inside(strings.ReplaceAll(line, "-"+strings.ToLower(s.hub.ID()[:6])+"-", "-"))
	}
	return lines
}

// answered reports whether what a server hears of a call is left out, as the call has a result and nothing is said of
// how requests go on.
func (s *stage) answered(id string) bool {
	if s.about == "" {
		return false
	}
	c := s.calls[id]
	return c != nil && c.over() && c.err == nil
}

// takeNote takes note of a question.
func (s *stage) takeNote(p event.PromptInfo) {
	if !slices.ContainsFunc(s.asked, func(one event.PromptInfo) bool { return one.ID == p.ID }) {
		s.asked = append(s.asked, p)
	}
}

// seen is what a window was told. What belongs to one request stays in order; which of two is told of first may depend
// on which of their goroutines runs first.
func (s *stage) seen(v *spectator) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	type line struct{ key, text string }
	var lines []line
	for _, e := range v.events[v.heard:] {
		if key, text := s.tell(e); text != "" {
			lines = append(lines, line{key, text})
		}
	}
	v.heard = len(v.events)
	slices.SortStableFunc(lines, func(a, b line) int { return strings.Compare(a.key, b.key) })
	var text strings.Builder
	for _, l := range lines {
		fmt.Fprintln(&text, l.text)
	}
	if v.closed != nil && !v.ended {
		v.ended = true
		fmt.Fprintf(&text, "ended: %s\n", v.closed.Reason)
	}
	return text.String()
}

// tell puts an event into words, and says of which request it is. Starts of sessions and states of servers are left
// out: they are shown elsewhere.
func (s *stage) tell(e event.Event) (of, text string) {
	switch b := e.Body.(type) {
	case *event.PromptOpened:
		s.takeNote(b.Prompt)
		return b.Prompt.RequestID, promptWords(&b.Prompt)
	case *event.PromptClosed:
		text := fmt.Sprintf("%s closes: %s by %s%s", b.PromptID, b.Cause, b.Origin, quoted(b.Reason))
		if name := s.windowOf(b.WindowID); name != "" {
			text += " of " + name
		}
		return s.prompt(b.PromptID).RequestID, text
	}
	if s.about != "" {
		return "", ""
	}
	switch b := e.Body.(type) {
	case *event.RequestStarted:
		r := b.Request
		if r.Direction == event.Incoming {
			text := fmt.Sprintf("%s begins: %s %s", r.ID, r.Method, strings.Trim(r.WireID, `"`))
			if r.ParentRequestID != "" {
				text += " of " + r.ParentRequestID
			}
			return r.ID, text
		}
		if r.Caller != "" {
			return r.ID, r.ID + " begins for " + r.Caller
		}
		return r.ID, "" // the step says it
	case *event.RequestProgressed:
		text := b.RequestID + " " + b.State.String()
		if p := b.Progress; p != nil {
			text += fmt.Sprintf(" %v", p.Progress)
			if p.Total != nil {
				text += fmt.Sprintf("/%v %s", *p.Total, p.Message)
			}
		}
		return unlessStart(b.RequestID, text+taskWords(b.Task))
	case *event.RequestCancelling:
		return b.RequestID, b.RequestID + " cancelling"
	case *event.RequestCancelled:
		text := fmt.Sprintf("%s cancelled by %s %q", b.RequestID, b.Cancellation.Origin, b.Cancellation.Reason)
		if b.Direction == event.Outgoing {
			if a := s.actors[b.Server]; b.Tool != "" && b.ServerNotified() && b.Task == nil && !a.has(b.RequestID, b.WireID) {
				text += ", which was " + b.WireID
			}
			text += fmt.Sprintf(", the cancel is %s%s", b.Sending.Delivery, quoted(b.Sending.Err))
		}
		if b.Err != nil {
			text += ", error " + b.Err.Reason
		}
		if b.Late != nil {
			text += ", " + lateWords(*b.Late)
		}
		return b.RequestID, text + mayGoOn(b.ServerMayContinue) + taskWords(b.Task) + timeWords(b.Timings)
	case *event.RequestFinished:
		text := b.RequestID + " " + b.State.String()
		switch {
		case b.Err != nil:
			text += " " + b.Err.Reason
		case b.McpError != nil:
			text += fmt.Sprintf(" %d", b.McpError.Code)
		}
		return unlessStart(b.RequestID, text+mayGoOn(b.ServerMayContinue)+taskWords(b.Task)+timeWords(b.Timings))
	case *event.RequestCancelDelivery:
		return b.RequestID, fmt.Sprintf("%s: the cancel is %s%s", b.RequestID, b.Sending.Delivery, quoted(b.Sending.Err))
	case *event.RequestAnsweredLate:
		return b.RequestID, b.RequestID + ": " + lateWords(b.Answer)
	case *event.ToolsChanged:
		return "~ tools", "the tools of " + b.Server + " have changed"
	case *event.ResourcesChanged:
		return "~ resources", "the resources of " + b.Server + " have changed"
	case *event.McpPromptsChanged:
		return "~ prompts", "the prompt templates of " + b.Server + " have changed"
	case *event.ResourceUpdated:
		return "~ updated", b.URI + " of " + b.Server + " has changed"
	case *event.LogMessage:
		if b.Logger == "mcphub" {
			return "~ log", "log: " + b.Data
		}
	}
	return "", ""
}

func (s *stage) windowOf(id string) string {
	for name, v := range s.views {
		if v.win.ID() == id && s.views[strings.TrimPrefix(name, "old-")] == v {
			return name
		}
	}
	return ""
}

// unlessStart leaves out what is told of the start of a session.
func unlessStart(id, text string) (string, string) {
	if strings.HasPrefix(id, "start-") {
		return id, ""
	}
	return id, text
}

func quoted(text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf(" %q", text)
}

func lateWords(a event.LateAnswer) string {
	text := "the server answered " + a.After.Round(10*time.Millisecond).String() + " later"
	if a.NoResult {
		text += ", without a result"
	}
	return text
}

func mayGoOn(may bool) string {
	if may {
		return ", may go on"
	}
	return ""
}

func taskWords(t *event.TaskInfo) string {
	if t == nil {
		return ""
	}
	return fmt.Sprintf(", task %s %s%s", t.ID, t.Status, quoted(t.Message))
}

// timeWords tells how long a request was open, if it took time.
func timeWords(t event.Timings) string {
	var parts []string
	for name, d := range map[string]time.Duration{"queued": t.Queued, "active": t.Active, "human": t.Human} {
		if d = d.Round(10 * time.Millisecond); d != 0 { // delays over HTTP have chance in them
			parts = append(parts, name+" "+d.String())
		}
	}
	slices.Sort(parts)
	return strings.TrimSuffix("; "+strings.Join(parts, " "), "; ")
}

// endOf tells what a caller got.
func endOf(c *pendingCall) string {
	if c.err != nil {
		return "got " + errorWords(c.err)
	}
	return "got " + resultWords(c.result)
}

func resultWords(r *hub.CallResult) string {
	text := string(r.Result)
	var result struct {
		Content []struct{ Text string }
	}
	switch {
	case r.Error != nil:
		text = strings.TrimSpace(fmt.Sprintf("error %d %s %s", r.Error.Code, r.Error.Message, r.Error.Data))
	case json.Unmarshal(r.Result, &result) == nil && len(result.Content) == 1:
		text = result.Content[0].Text
	}
	if r.IsError {
		text += ", an error"
	}
	if r.Rounds > 1 && r.Task == nil {
		text += fmt.Sprintf(", in %d rounds", r.Rounds)
	}
	return text + taskWords(r.Task) + timeWords(r.Timings)
}

// errorWords is an error with all that programs may read in it.
func errorWords(err error) string {
	e := event.AsError(err)
	text := fmt.Sprintf("%s: %s", e.Reason, e.Message)
	if e.Reason != string(e.Code) {
		text = fmt.Sprintf("%s %s", e.Code, text)
	}
	var meta []string
	for name, value := range e.Meta {
		if name != "server" && name != "request_id" && name != "tool" {
			meta = append(meta, fmt.Sprintf("%s=%q", name, value))
		}
	}
	slices.Sort(meta)
	return strings.TrimSuffix(text+" ["+strings.Join(meta, " ")+"]", " []")
}

// hears is what a server was sent since it was asked last, without what belongs to sessions, lists and polls, and
// without the calls that leaveOut names. What is about one request stays in order; of two, either may be written first,
// as each has a goroutine of its own.
func (a *actor) hears(leaveOut func(id string) bool) (lines []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	type line struct{ of, text string }
	var said []line
	tell := func(of, format string, args ...any) { said = append(said, line{of, fmt.Sprintf(format, args...)}) }
	flush := func() {
		slices.SortStableFunc(said, func(a, b line) int { return strings.Compare(a.of, b.of) })
		for _, l := range said {
			lines = append(lines, l.text)
		}
		said = nil
	}
	received := a.Received()
	for _, m := range received[a.heard:] {
		if m.Method == "initialize" || m.Method == "server/discover" {
			if a.conn != 0 && m.Conn != a.conn {
				flush()
				lines = append(lines, "connected anew")
			}
			a.conn = m.Conn
		}
		if a.declared != nil {
			if text := capabilitiesIn(m); text != "" && text != *a.declared {
				*a.declared = text
				tell("", "declared are %s", text)
			}
		}
		wire := fmt.Sprint(m.Conn, " ", string(m.ID))
		if m.IsRequest() {
			a.ids[wire] = m.Method
		}
		switch m.Method {
		case "initialize", "server/discover", "notifications/initialized", "tools/list", "tasks/get", "tasks/result",
			"ping", "subscriptions/listen":
		case "tools/call":
			id := callID(m.Params)
			a.ids[wire] = id
			if leaveOut(id) {
				break
			}
			text := "call " + id
			if answers := m.Param("inputResponses"); answers != nil {
				text += " again, with " + string(answers)
			}
			if m.Param("task") != nil {
				text += " as a task"
			}
			tell(id, "%s", text)
		case "notifications/cancelled":
			switch of := a.named(m.Conn, m.Param("requestId")); of {
			case "tasks/get", "tasks/result":
			default:
				tell(of, "cancel of %s, %s", of, m.Param("reason"))
			}
		case "":
			of := a.named(m.Conn, m.ID)
			tell(of, "answer to %s: %s", of, answerOf(m))
		default:
			text := m.Method
			for _, param := range []string{"taskId", "uri", "name", "arguments", "ref", "context", "inputResponses"} {
				text = strings.TrimSpace(text + " " + string(m.Param(param)))
			}
			if meta := hostsMeta.FindString(string(m.Param("_meta"))); meta != "" {
				text += " with " + meta
			}
			tell(m.Method, "%s", text)
		}
	}
	a.heard = len(received)
	flush()
	return lines
}

// hostsMeta is a member of _meta that only a host gives.
var hostsMeta = regexp.MustCompile(`"x/[^,}]*`)

// capabilitiesIn returns the client's capabilities that a message declares, "" for none.
func capabilitiesIn(m fakeserver.Message) string {
	if m.Method == "initialize" {
		return string(m.Param("capabilities"))
	}
	meta := fakeserver.Message{Params: m.Param("_meta")}
	return string(meta.Param("io.modelcontextprotocol/clientCapabilities"))
}

// has reports whether a wire id was of that call.
func (a *actor) has(id, wire string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for key, of := range a.ids {
		if _, this, _ := strings.Cut(key, " "); of == id && this == wire {
			return true
		}
	}
	return false
}

// named is a wire id as the scene has it.
func (a *actor) named(conn int, wire json.RawMessage) string {
	if id := a.ids[fmt.Sprint(conn, " ", string(wire))]; id != "" {
		return id
	}
	return strings.Trim(string(wire), `"`)
}
