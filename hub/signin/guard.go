package signin

import (
	"net/http"
	"time"

	"github.com/mcphub-go/mcphub/hub/outbound"
)

const (
	requestLimit  = 30 * time.Second // one exchange, its body and redirects included
	responseLimit = 1 << 20          // bytes of one answer
)

// newGuard carries the requests for metadata, registrations and tokens: their addresses come from the MCP server.
func newGuard(host string, base http.RoundTripper) *outbound.Guard {
	return outbound.NewGuard(outbound.Options{Host: host, Purpose: "signing in to a server", Limit: requestLimit,
		MaxBytes: responseLimit, RoundTripper: base})
}
