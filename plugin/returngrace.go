package plugin

import (
	"fmt"
	"time"

	"github.com/mcphub-go/mcphub/plugin/handshake"
)

// maxReturnGrace bounds the wait for a host: a hub that nobody comes back to holds servers, and whatever they hold.
const maxReturnGrace = 5 * time.Minute

// returnGrace is how long the hub waits for a host to come back, 0 when it does not. A problem is for the log; then it
// does not wait.
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
