package hub

import (
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/servers"
)

// Defaults of the clocks. They are generous, since a person or a host can always cancel: the clocks are for requests
// that nobody watches.
const (
	DefaultConnectTimeout = 60 * time.Second // npx and uvx download on their first start
	DefaultIdleTimeout    = 5 * time.Minute
	DefaultTotalTimeout   = time.Hour
	DefaultHumanTimeout   = 30 * time.Minute
)

// wind starts or stops r's clocks after a change of state or hold. Human time stops both (2025-11-25 lifecycle
// "Timeouts", SEP-2260: a nested prompt extends its call by human time). The hub's lock is held.
func (r *request) wind(now time.Time) {
	switch r.state {
	case event.StateQueued, event.StateConnecting, event.StateRunning, event.StateTaskWorking:
		if r.holds == 0 { // also on the way from queued or connecting to running: from then on the server has the request
			r.clock.Run(now, r.state == event.StateRunning)
			return
		}
	}
	r.clock.Stop(now)
}

// tick ends r if one of its clocks has run out.
func (h *Hub) tick(r *request) {
	st := h.lock()
	defer st.unlock()
	if st.requests[r.id] != r {
		return
	}
	idle, over := r.clock.Over(time.Now(), r.state == event.StateRunning)
	switch {
	case !over:
	case r.expire != nil:
		r.expire()
	default:
		st.cancel(r, r.timeout(idle))
	}
}

// timeout returns the cause with which a clock ends r. Its error names the setting to change.
func (r *request) timeout(idle bool) *event.CancelCause {
	idleLimit, limit := r.clock.Limits()
	what, setting, reason := "did not finish", "timeouts.total", event.ReasonTotalTimeout
	if idle {
		limit, what, setting, reason = idleLimit, "gave no sign of life", "timeouts.idle", event.ReasonIdleTimeout
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

// hold stops (by +1) or releases (by -1) r's clocks while a person is asked.
func (st *state) hold(r *request, by int) {
	now := time.Now()
	r.account(now)
	r.holds += by
	r.wind(now)
	if r.uncancellable && r.holds > 0 { // a start that waits for a person makes room for another one
		st.table.StartNextEager()
	}
}
