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

// timeout returns the cause with which a clock ends r. Its error names the setting to change.
func (r *request) timeout(idle bool, limit time.Duration) *event.CancelCause {
	what, setting, reason := "did not finish", "timeouts.total", event.ReasonTotalTimeout
	if idle {
		what, setting, reason = "gave no sign of life", "timeouts.idle", event.ReasonIdleTimeout
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
