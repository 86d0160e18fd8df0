package outcome

import (
	"maps"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

// earlyFor is how long a cancel that came before its call is remembered.
const earlyFor = 30 * time.Second

// maxEarly limits how many such cancels are remembered, for a host that sends many by mistake.
const maxEarly = 4096

// EarlyCancels are the cancels that came before their calls. The zero value has none. It is guarded by the hub's lock.
type EarlyCancels struct{ byID map[string]earlyCancel }

type earlyCancel struct {
	cause  *event.CancelCause
	server string // "" = any server
	until  time.Time
}

// IDs returns the ids of the calls that would be cancelled if they came now.
func (c *EarlyCancels) IDs() (list []string) {
	for id, e := range c.byID {
		if !time.Now().After(e.until) {
			list = append(list, id)
		}
	}
	return list
}

// Remember records a cancel of the call id of a server, "" for any server. If there are too many, expired ones are
// dropped, and then the oldest.
func (c *EarlyCancels) Remember(id, server string, cause *event.CancelCause) {
	now := time.Now()
	if c.byID == nil {
		c.byID = map[string]earlyCancel{}
	}
	if len(c.byID) >= maxEarly {
		maps.DeleteFunc(c.byID, func(_ string, e earlyCancel) bool { return now.After(e.until) })
	}
	if len(c.byID) >= maxEarly {
		oldest := ""
		for k, e := range c.byID {
			if oldest == "" || e.until.Before(c.byID[oldest].until) {
				oldest = k
			}
		}
		delete(c.byID, oldest)
	}
	c.byID[id] = earlyCancel{cause: cause, server: server, until: now.Add(earlyFor)}
}

// Take removes and returns the cancel that came before the call id of a server, or nil if there is none.
func (c *EarlyCancels) Take(id, server string) *event.CancelCause {
	e, ok := c.byID[id]
	if !ok || e.server != "" && e.server != server {
		return nil
	}
	delete(c.byID, id)
	if time.Now().After(e.until) {
		return nil
	}
	return e.cause
}
