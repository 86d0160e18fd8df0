package allowance

import (
	"encoding/json"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// Logged passes a log notification on. It takes the lock.
func (a *Allowance) Logged(m mcp.LogMessage) {
	a.logged(&event.LogMessage{Level: bounds.Cut(m.Level, bounds.NameBytes),
		Logger: bounds.Cut(m.Logger, bounds.NameBytes), Data: shownData(m.Data)})
}

// Stderr shows a line of the server's stderr, which has no secrets in it any more, to the windows. It takes the lock.
func (a *Allowance) Stderr(line string) {
	text, err := json.Marshal(line)
	if err != nil {
		return // cannot be: every string marshals
	}
	a.logged(&event.LogMessage{Level: "stderr", Data: string(text), Own: true})
}

// logged tells the windows of what the server logged, without secrets.
func (a *Allowance) logged(m *event.LogMessage) {
	if !a.logs.Allow(time.Now()) {
		a.soon(&a.logsSoon, a.tellDropped) // no message may follow that would bring the count
		return
	}
	m.Server = a.server
	m.Level, m.Logger, m.Data = a.redactor.Text(m.Level), a.redactor.Text(m.Logger), a.redactor.JSON(m.Data)
	a.house.Update(func() {
		a.tellDropped()
		a.house.Emit(m)
	})
}

// droppedTold is how long after the first one at the latest the windows hear of what was dropped.
const droppedTold = time.Second

// soon calls tell after droppedTold, with the lock: once for all calls until then, and not after the end of the hub,
// which waits for it. pending tells that it is set.
func (a *Allowance) soon(pending *atomic.Bool, tell func()) {
	if !pending.CompareAndSwap(false, true) {
		return
	}
	later := func() {
		wait := time.NewTimer(droppedTold)
		defer wait.Stop()
		select {
		case <-wait.C:
			pending.Store(false)
			a.house.Update(tell)
		case <-a.life.Done():
		}
	}
	a.house.Update(func() {
		if !a.house.Closed() {
			a.house.Go(later)
		}
	})
}

// tellDropped tells the windows how many log messages were dropped since they were told last. The lock is held.
func (a *Allowance) tellDropped() {
	if dropped := a.logs.Dropped(); dropped > 0 {
		m := a.newNote("logMessagesDropped", map[string]string{
			"count": strconv.FormatInt(dropped, 10), "limitPerSecond": strconv.Itoa(bounds.LogRate),
		})
		m.Dropped = dropped
		a.house.Emit(m)
	}
}

// Note tells the windows something about the server that the hub did on its own, as a log message of the hub. It is
// called with the lock.
func (a *Allowance) Note(name string, more map[string]string) { a.house.Emit(a.newNote(name, more)) }

func (a *Allowance) newNote(name string, more map[string]string) *event.LogMessage {
	more["event"] = name
	data, err := json.Marshal(more)
	if err != nil {
		data = []byte("{}") // cannot be: strings marshal
	}
	return &event.LogMessage{Server: a.server, Level: "notice", Logger: "mcphub", Data: string(data), Own: true}
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
