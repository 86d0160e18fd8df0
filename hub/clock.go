package hub

import (
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/servers"
)

// Defaults of the clocks. They are generous: a person or a host can always cancel; a clock is there for what nobody
// watches.
const (
	DefaultConnectTimeout = 60 * time.Second // npx and uvx download on their first start
	DefaultIdleTimeout    = 5 * time.Minute
	DefaultTotalTimeout   = time.Hour
	DefaultHumanTimeout   = 30 * time.Minute
)

// clock holds the idle and total clocks of a call. Human time stops both (2025-11-25 lifecycle "Timeouts", SEP-2260: a
// nested prompt extends its call by human time). Guarded by Hub.mu.
type clock struct {
	idle, total time.Duration // limits, 0 = none
	human       time.Duration // limit of one prompt, 0 = none
	used        time.Duration // of total, up to since
	since       time.Time     // counting since then; zero = stopped
	sign        time.Time     // last sign of life
	timer       *time.Timer
}

// wind starts or stops r's clocks after a change of state or hold. h.mu is held.
func (h *Hub) wind(r *request, now time.Time) {
	c := &r.clock
	if c.idle == 0 && c.total == 0 {
		return
	}
	runs := r.holds == 0 && (r.state == event.StateQueued || r.state == event.StateConnecting ||
		r.state == event.StateRunning ||
		r.state == event.StateTaskWorking)
	switch {
	case runs && c.since.IsZero():
		c.since, c.sign = now, now
		h.arm(r, now)
	case runs: // from queued or connecting to running: the server has it from now on
		c.sign = now
		h.arm(r, now)
	case !c.since.IsZero():
		c.used += now.Sub(c.since)
		c.since = time.Time{}
		if c.timer != nil {
			c.timer.Stop()
		}
	}
}

// left tells how long until a clock runs out, and which. ok is false when none counts.
func (r *request) left(now time.Time) (d time.Duration, idle, ok bool) {
	c := &r.clock
	if c.total > 0 {
		d, ok = c.total-c.used-now.Sub(c.since), true
	}
	if c.idle > 0 && r.state == event.StateRunning {
		if i := c.idle - now.Sub(c.sign); !ok || i < d {
			d, idle, ok = i, true, true
		}
	}
	return d, idle, ok
}

func (h *Hub) arm(r *request, now time.Time) {
	d, _, ok := r.left(now)
	switch {
	case !ok:
	case r.clock.timer == nil:
		r.clock.timer = time.AfterFunc(d, func() { h.tick(r) })
	default:
		r.clock.timer.Reset(d)
	}
}

// tick looks whether a clock has really run out: signs of life do not move the timer, which is cheaper at thousands of
// progress events a second.
func (h *Hub) tick(r *request) {
	defer h.lock().unlock()
	if h.requests[r.id] != r || r.clock.since.IsZero() {
		return
	}
	now := time.Now()
	d, idle, ok := r.left(now)
	if !ok {
		return
	}
	if d > 0 {
		r.clock.timer.Reset(d)
		return
	}
	if r.expire != nil {
		r.expire()
		return
	}
	h.cancel(r, r.timeout(idle))
}

// timeout is the cause of a clock that ran out. Its error names the setting to change.
func (r *request) timeout(idle bool) *event.CancelCause {
	limit, what, setting, reason := r.clock.total, "did not finish", "timeouts.total", event.ReasonTotalTimeout
	if idle {
		limit, what, setting, reason = r.clock.idle, "gave no sign of life", "timeouts.idle", event.ReasonIdleTimeout
	}
	key, where := servers.SettingOf(r.server.Conf(), setting)
	err := event.Fail(event.CodeDeadlineExceeded, reason, []string{"server", r.server.name, "request_id", r.id,
		"setting", setting,
		"limit", limit.String()},
		"%s of server %q %s within %s; raise %s of the server%s or of the call", r.what(), r.server.name, what, limit, key,
		where)
	return &event.CancelCause{Origin: event.OriginTimeout, Reason: setting + " of " + limit.String() + " exceeded",
		Err: err}
}

// hold stops (by +1) or releases (by -1) r's clocks while a person is asked. h.mu is held.
func (h *Hub) hold(r *request, by int) {
	now := time.Now()
	r.account(now)
	r.holds += by
	h.wind(r, now)
	if r.uncancellable && r.holds > 0 { // a start that waits for a person leaves room for another one
		h.table.StartNextEager()
	}
}
