package hub

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// Logged sends a log notification to the windows, unless the server sends too many. It takes the lock.
func (a *allowance) Logged(m mcp.LogMessage) {
	a.logged(&event.LogMessage{Level: bounds.Cut(m.Level, bounds.NameBytes),
		Logger: bounds.Cut(m.Logger, bounds.NameBytes), Data: shownData(m.Data)})
}

// stderr sends a line of the server's stderr, from which secrets have been removed, to the windows. It takes the lock.
func (a *allowance) stderr(line string) {
	text, err := json.Marshal(line)
	if err != nil {
		return // cannot happen: every string marshals
	}
	a.logged(&event.LogMessage{Level: "stderr", Data: string(text), Own: true})
}

// logged sends a log message of the server to the windows, without secrets. It takes the lock.
func (a *allowance) logged(m *event.LogMessage) {
	if !a.logs.Allow(time.Now()) {
		a.soon() // perhaps no message follows that would bring the count
		return
	}
	m.Server = a.server
	m.Level, m.Logger, m.Data = a.hub.redactor.Text(m.Level), a.hub.redactor.Text(m.Logger), a.hub.redactor.JSON(m.Data)
	a.hub.update(func(st *state) {
		a.tellDropped()
		st.emit(m)
	})
}

// droppedTold is how long after the first dropped message or notice the windows hear of them at the latest.
const droppedTold = time.Second

// soon tells the windows after droppedTold what was dropped, once for all calls of soon until then.
func (a *allowance) soon() {
	if !a.pending.CompareAndSwap(false, true) {
		return
	}
	time.AfterFunc(droppedTold, func() {
		a.pending.Store(false)
		a.hub.update(func(st *state) {
			if !a.gone && !st.closed {
				a.tellDropped()
				a.tellUnsaid()
			}
		})
	})
}

// tellDropped tells the windows how many log messages were dropped since the last time. It is called with the lock.
func (a *allowance) tellDropped() {
	if dropped := a.logs.Dropped(); dropped > 0 {
		m := a.newNote("logMessagesDropped", map[string]string{
			"count": strconv.FormatInt(dropped, 10), "limitPerSecond": strconv.Itoa(bounds.LogRate),
		})
		m.Dropped = dropped
		a.hub.held().emit(m)
	}
}

// note sends the windows a log message of the hub about something that the hub did on its own with the server. The
// message is a JSON object of more, to which Note adds name as "event". It is called with the lock.
func (a *allowance) note(name string, more map[string]string) {
	a.hub.held().emit(a.newNote(name, more))
}

func (a *allowance) newNote(name string, more map[string]string) *event.LogMessage {
	more["event"] = name
	data, err := json.Marshal(more)
	if err != nil {
		data = []byte("{}") // cannot happen: strings marshal
	}
	return &event.LogMessage{Server: a.server, Level: "notice", Logger: "mcphub", Data: string(data), Own: true}
}

// shownData returns the data of a log message as it came, or the beginning of its text if it is too long.
func shownData(data json.RawMessage) string {
	if len(data) <= bounds.LogTextBytes {
		return string(data)
	}
	// the text becomes a JSON string, in which escapes make it longer
	text, err := json.Marshal(bounds.Cut(string(data), bounds.LogTextBytes/4))
	if err != nil {
		return `""` // cannot happen: strings marshal
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

// ToolsChanged handles the notice that the tools have changed. outdate is called with the lock, and forgets the known
// tools, whether the windows are told now or later. ToolsChanged takes the lock.
func (a *allowance) ToolsChanged(outdate func()) {
	tell := a.mayNotice(noticeTools)
	a.hub.update(func(st *state) {
		outdate()
		if tell {
			st.emit(&event.ToolsChanged{Server: a.server})
		}
	})
}

// ResourcesChanged tells the windows that the resources have changed. It takes the lock.
func (a *allowance) ResourcesChanged() {
	if a.mayNotice(noticeResources) {
		a.emit(&event.ResourcesChanged{Server: a.server})
	}
}

// PromptsChanged tells the windows that the prompt templates have changed. It takes the lock.
func (a *allowance) PromptsChanged() {
	if a.mayNotice(noticePrompts) {
		a.emit(&event.McpPromptsChanged{Server: a.server})
	}
}

// ResourceUpdated tells the windows that a resource has changed. The server chooses the URI: it may be one below the
// URI that was subscribed to. ResourceUpdated takes the lock.
func (a *allowance) ResourceUpdated(uri string) {
	switch {
	case !a.mayNotice(noticeUpdate):
	case len(uri) <= bounds.URIBytes:
		a.emit(&event.ResourceUpdated{Server: a.server, URI: uri})
	case a.complaints.Allow(time.Now()):
		a.hub.log.Warn("an update of a resource was dropped: its URI is too long", "server", a.server, "bytes", len(uri))
	}
}

func (a *allowance) emit(b event.Body) { a.hub.update(func(st *state) { st.emit(b) }) }

// mayNotice reports whether a notice of a change may pass now. If it may not, the windows are told later, once for all
// notices that were held back, and look again then.
func (a *allowance) mayNotice(kind noticeKind) bool {
	if a.notices.Allow(time.Now()) {
		return true
	}
	a.unsaid.Or(uint32(kind))
	a.soon()
	return false
}

// tellUnsaid tells the windows what has changed according to the notices that were held back. Of updated resources only
// the number is known. It is called with the lock.
func (a *allowance) tellUnsaid() {
	kinds, n := noticeKind(a.unsaid.Swap(0)), a.notices.Dropped()
	if kinds == 0 {
		return
	}
	a.hub.log.Warn("notices of changes are dropped: the server sends too many", "server", a.server, "count", n,
		"limit_per_second", bounds.NoticeRate)
	if kinds&noticeTools != 0 {
		a.hub.held().emit(&event.ToolsChanged{Server: a.server})
	}
	if kinds&noticeResources != 0 {
		a.hub.held().emit(&event.ResourcesChanged{Server: a.server})
	}
	if kinds&noticePrompts != 0 {
		a.hub.held().emit(&event.McpPromptsChanged{Server: a.server})
	}
	if kinds&noticeUpdate != 0 {
		a.note("noticesDropped", map[string]string{
			"count": strconv.FormatInt(n, 10), "limitPerSecond": strconv.Itoa(bounds.NoticeRate),
		})
	}
}
