package hub

import (
	"encoding/json"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// What a server says without being asked is bounded here, before it comes to the hub's lock: what is too much is
// counted, and the count is told.

// Logged passes a log notification on.
func (c *connection) Logged(m mcp.LogMessage) {
	c.hub.logged(c.server, &event.LogMessage{Level: bounds.Cut(m.Level, bounds.NameBytes),
		Logger: bounds.Cut(m.Logger, bounds.NameBytes), Data: shownData(m.Data)})
}

// logged tells the windows of what a server logged, without secrets.
func (h *Hub) logged(s *server, m *event.LogMessage) {
	if !s.costs.logs.Allow(time.Now()) {
		h.soon(&s.costs.logsSoon, func() { h.tellDropped(s) }) // no message may follow that would bring the count
		return
	}
	m.Server = s.name
	m.Level, m.Logger, m.Data = h.redactor.Text(m.Level), h.redactor.Text(m.Logger), h.redactor.JSON(m.Data)
	defer h.lock().unlock()
	h.tellDropped(s)
	h.emit(m)
}

// stderrLine shows a line of a server's stderr, which has no secrets in it any more, to the windows.
func (h *Hub) stderrLine(s *server, line string) {
	text, err := json.Marshal(line)
	if err != nil {
		return // cannot be: every string marshals
	}
	h.logged(s, &event.LogMessage{Level: "stderr", Data: string(text)})
}

// droppedTold is how long after the first one at the latest the windows hear of what was dropped.
const droppedTold = time.Second

// soon calls tell after droppedTold, with the lock: once for all calls until then, and not after the end of the hub,
// which waits for it. pending tells that it is set.
func (h *Hub) soon(pending *atomic.Bool, tell func()) {
	if !pending.CompareAndSwap(false, true) {
		return
	}
	defer h.lock().unlock()
	if h.closed { // its goroutines are being waited for
		return
	}
	h.work.Go(func() {
		wait := time.NewTimer(droppedTold)
		defer wait.Stop()
		select {
		case <-wait.C:
			pending.Store(false)
			h.update(tell)
		case <-h.life.Done():
		}
	})
}

// tellDropped tells the windows how many log messages of s were dropped since they were told last. h.mu is held.
func (h *Hub) tellDropped(s *server) {
	if dropped := s.costs.logs.Dropped(); dropped > 0 {
		m := newNote(s, "logMessagesDropped", map[string]string{
			"count": strconv.FormatInt(dropped, 10), "limitPerSecond": strconv.Itoa(bounds.LogRate),
		})
		m.Dropped = dropped
		h.emit(m)
	}
}

// note tells the windows something about a server that the hub did on its own, as a log message of the hub. h.mu is
// held.
func (h *Hub) note(s *server, event string, more map[string]string) { h.emit(newNote(s, event, more)) }

func newNote(s *server, name string, more map[string]string) *event.LogMessage {
	more["event"] = name
	data, err := json.Marshal(more)
	if err != nil {
		data = []byte("{}") // cannot be: strings marshal
	}
	return &event.LogMessage{Server: s.name, Level: "notice", Logger: "mcphub", Data: string(data)}
}

// shownData is the data of a log message as it came, or the beginning of its text.
func shownData(data json.RawMessage) string {
	if len(data) <= bounds.LogTextBytes {
		return string(data)
	}
	// a string in a string: what is escaped grows
	text, err := json.Marshal(bounds.Cut(string(data), bounds.LogTextBytes/4))
	if err != nil {
		return `""` // cannot be: strings marshal
	}
	return string(text)
}

// noticeKind is what a notice of a change is about.
type noticeKind uint32

const (
	noticeTools noticeKind = 1 << iota
	noticeResources
	noticePrompts
	noticeUpdate // of one resource
)

// mayNotice tells whether a notice of a change may pass. One that may not is told later: the windows look again then,
// once for all that did not pass.
func (c *connection) mayNotice(kind noticeKind) bool {
	h, s := c.hub, c.server
	if s.costs.notices.Allow(time.Now()) {
		return true
	}
	s.costs.unsaid.Or(uint32(kind))
	h.soon(&s.costs.noticesSoon, func() { h.tellUnsaid(s) })
	return false
}

// tellUnsaid tells the windows what has changed by notices that did not pass. Of resources that were updated only the
// number is known. h.mu is held.
func (h *Hub) tellUnsaid(s *server) {
	kinds, n := noticeKind(s.costs.unsaid.Swap(0)), s.costs.notices.Dropped()
	if kinds == 0 || h.server(s.name) != s {
		return
	}
	h.log.Warn("notices of changes are dropped: the server sends too many", "server", s.name, "count", n,
		"limit_per_second", bounds.NoticeRate)
	if kinds&noticeTools != 0 {
		h.emit(&event.ToolsChanged{Server: s.name})
	}
	if kinds&noticeResources != 0 {
		h.emit(&event.ResourcesChanged{Server: s.name})
	}
	if kinds&noticePrompts != 0 {
		h.emit(&event.McpPromptsChanged{Server: s.name})
	}
	if kinds&noticeUpdate != 0 {
		h.note(s, "noticesDropped", map[string]string{
			"count": strconv.FormatInt(n, 10), "limitPerSecond": strconv.Itoa(bounds.NoticeRate),
		})
	}
}

// questionBytes is about what an open question holds.
func questionBytes(q *mcp.Question) int {
	return event.Overhead + len(q.Payload) + len(q.Message) + len(q.Schema) + len(q.URL) + len(q.ElicitationID)
}

// admitQuestion takes the bytes of a question, or says why nobody is asked: with an answer, or with an error for the
// server. release gives the bytes back.
func (c *connection) admitQuestion(q *mcp.Question) (release func(), refused *mcp.Answer, err error) {
	h, s := c.hub, c.server
	if !s.costs.asks.Allow(time.Now()) {
		return nil, nil, c.tooMuch("questionsTooFast", "the server asks more than "+strconv.Itoa(bounds.QuestionRate)+
			" questions a second")
	}
	var as event.Action
	var why string
	h.update(func() { as, why = s.quiet.refuse(time.Now()) })
	if why != "" {
		h.log.Debug("a question of a server was refused without asking", "server", s.name, "kind", kindOf(q.Kind).String(),
			"why", why)
		if as == event.ActionDecline {
			return nil, &mcp.Answer{Action: mcp.Decline}, nil
		}
		return nil, &mcp.Answer{Action: mcp.Dismiss}, nil
	}
	n := questionBytes(q)
	if err := s.costs.questions.Take(n); err != nil {
		return nil, nil, c.tooMuch("questionTooLarge", err.Error())
	}
	return func() { s.costs.questions.Give(n) }, nil, nil
}

// tooMuch tells of a question that goes over a bound, and is the error for its server.
func (c *connection) tooMuch(event, text string) error {
	c.tellBound(event, text)
	return &mcp.BoundError{Code: jsonrpc.CodeTooManyRequests, Text: text}
}

// tellBound tells people that a server went over a bound, and which.
func (c *connection) tellBound(event, text string) {
	h, s := c.hub, c.server
	if !s.costs.complaints.Allow(time.Now()) {
		return
	}
	h.log.Warn("a question of a server was refused: it goes over a bound", "server", s.name, "bound", text)
	defer h.lock().unlock()
	h.note(s, event, map[string]string{"text": text})
}

// shownError is a JSON-RPC error as the windows are told of it.
func shownError(e *event.McpError) *event.McpError {
	if e == nil || len(e.Message) <= bounds.ErrorTextBytes && len(e.Data) <= bounds.ErrorDataBytes {
		return e
	}
	cut := *e
	cut.Message = bounds.Cut(e.Message, bounds.ErrorTextBytes)
	if len(e.Data) > bounds.ErrorDataBytes {
		cut.Data = "" // a part of it would be no JSON
	}
	return &cut
}
