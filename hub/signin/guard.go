package signin

import (
	"net/http"
	"time"

	"github.com/mcphub-go/mcphub/hub/outbound"
)

const (
	requestLimit  = 30 * time.Second // for one exchange, including its body and redirects
	responseLimit = 1 << 20          // the highest size of an answer, in bytes
)

// newGuard returns the guard for requests for metadata, registrations and tokens, whose addresses come from the MCP
// server.
func newGuard(host string, base http.RoundTripper) *outbound.Guard {
	return outbound.NewGuard(outbound.Options{Host: host, Purpose: "signing in to a server", Limit: requestLimit,
		MaxBytes: responseLimit, RoundTripper: base})
}
