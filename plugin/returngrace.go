package plugin

import (
	"fmt"
	"time"

	"github.com/mcphub-go/mcphub/plugin/handshake"
)

// maxReturnGrace limits the wait for a host to return, since a hub to which nobody returns keeps its servers running.
const maxReturnGrace = 5 * time.Minute

// returnGrace returns how long the hub waits for a host to return, 0 for not at all. problem is a problem with the
// setting, for the log; the hub does not wait then.
func returnGrace(lookup func(string) (string, bool)) (grace time.Duration, problem string) {
	text, set := lookup(handshake.EnvReturnGrace)
	if !set || text == "" {
		return 0, ""
	}
	grace, err := time.ParseDuration(text)
	if err != nil || grace < 0 || grace > maxReturnGrace {
		return 0,
			fmt.Sprintf(
				"%s is %q, which is no duration from 0s to %v such as 20s: the hub does not wait for a host to come back",
				handshake.EnvReturnGrace, text, maxReturnGrace)
	}
	return grace, ""
}
