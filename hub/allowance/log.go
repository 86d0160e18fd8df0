package allowance

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// Logged sends a log notification to the windows, unless the server sends too many. It takes the lock.
func (a *Allowance) Logged(m mcp.LogMessage) {
	a.logged(&event.LogMessage{Level: bounds.Cut(m.Level, bounds.NameBytes),
		Logger: bounds.Cut(m.Logger, bounds.NameBytes), Data: shownData(m.Data)})
}

// Stderr sends a line of the server's stderr, from which secrets have been removed, to the windows. It takes the lock.
func (a *Allowance) Stderr(line string) {
	text, err := json.Marshal(line)
	if err != nil {
		return // cannot happen: every string marshals
	}
	a.logged(&event.LogMessage{Level: "stderr", Data: string(text), Own: true})
}

// logged sends a log message of the server to the windows, without secrets. It takes the lock.
func (a *Allowance) logged(m *event.LogMessage) {
	if !a.logs.Allow(time.Now()) {
		a.soon() // perhaps no message follows that would bring the count
		return
	}
	m.Server = a.server
	m.Level, m.Logger, m.Data = a.redactor.Text(m.Level), a.redactor.Text(m.Logger), a.redactor.JSON(m.Data)
	a.house.Update(func() {
		a.tellDropped()
		a.house.Emit(m)
	})
}

// droppedTold is how long after the first dropped message or notice the windows hear of them at the latest.
const droppedTold = time.Second

// soon tells the windows after droppedTold what was dropped, once for all calls of soon until then.
func (a *Allowance) soon() {
	if !a.pending.CompareAndSwap(false, true) {
		return
	}
	time.AfterFunc(droppedTold, func() {
		a.pending.Store(false)
		a.house.Update(func() {
			if !a.gone && !a.house.Closed() {
				a.tellDropped()
				a.tellUnsaid()
			}
		})
	})
}

// tellDropped tells the windows how many log messages were dropped since the last time. It is called with the lock.
func (a *Allowance) tellDropped() {
	if dropped := a.logs.Dropped(); dropped > 0 {
		m := a.newNote("logMessagesDropped", map[string]string{
			"count": strconv.FormatInt(dropped, 10), "limitPerSecond": strconv.Itoa(bounds.LogRate),
		})
		m.Dropped = dropped
		a.house.Emit(m)
	}
}

// Note sends the windows a log message of the hub about something that the hub did on its own with the server. The
// message is a JSON object of more, to which Note adds name as "event". It is called with the lock.
func (a *Allowance) Note(name string, more map[string]string) { a.house.Emit(a.newNote(name, more)) }

func (a *Allowance) newNote(name string, more map[string]string) *event.LogMessage {
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
