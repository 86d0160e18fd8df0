package fakeserver

import "encoding/json"

// Protocol revisions. The legacy ones are those with an initialize handshake.
const (
	RevisionLatestLegacy = "2025-11-25"
	RevisionModern       = "2026-07-28"
)

var legacyRevisions = map[string]bool{
	"2024-11-05": true, "2025-03-26": true, "2025-06-18": true, RevisionLatestLegacy: true,
}

// probeMode is how the server answers server/discover.
type probeMode int

const (
	probeRefuse probeMode = iota // -32601, like a legacy server
	probeAnswer                  // a DiscoverResult, like a modern server
	probeSilent                  // no answer
	probeExit                    // both streams are closed, as by a server that exits
)

// config is fixed after New.
type config struct {
	name         string
	version      string
	revision     string // in the answer to initialize; "" echoes a known offer
	legacy       bool   // initialize is answered
	probe        probeMode
	capabilities json.RawMessage
	instructions string
	pageSize     int // number of tools on a page; 0 means no paging
	lenient      bool
	firstID      int64
}

func defaultConfig() config {
	return config{
		name:         "fakeserver",
		version:      "1.0.0",
		legacy:       true,
		capabilities: json.RawMessage(`{"tools":{"listChanged":true},"logging":{}}`),
	}
}

// Option sets one property of a [Server]. Without options the server is a legacy one: it echoes the offered revision if
// that is a legacy revision (else it answers 2025-11-25) and refuses server/discover with -32601.
type Option func(*config)

// WithRevision makes initialize answer with this revision for any offer. After [WithModern] it makes a server of both
// eras.
func WithRevision(rev string) Option {
	return func(c *config) { c.revision, c.legacy = rev, true }
}

// WithModern makes the server speak only 2026-07-28: it answers server/discover, requires the protocol version and the
// client's capabilities in the _meta of each request (else -32602), and refuses initialize, ping and logging/setLevel
// with -32601.
func WithModern() Option {
	return func(c *config) { c.probe, c.legacy = probeAnswer, false }
}

// WithBothEras makes the server answer server/discover and initialize.
func WithBothEras() Option {
	return func(c *config) { c.probe, c.legacy = probeAnswer, true }
}

// WithSilentProbe makes the server ignore server/discover: it never answers it.
func WithSilentProbe() Option {
	return func(c *config) { c.probe = probeSilent }
}

// WithExitOnProbe makes the server close both streams when server/discover comes, like a server that exits on an
// unknown first message. The same Server may be served again over new streams and then answers initialize.
func WithExitOnProbe() Option {
	return func(c *config) { c.probe = probeExit }
}

// WithCapabilities sets the JSON text of the declared capabilities. The default declares tools (listChanged) and
// logging.
func WithCapabilities(raw string) Option {
	return func(c *config) { c.capabilities = json.RawMessage(raw) }
}

// WithInstructions sets the text of the field instructions.
func WithInstructions(text string) Option {
	return func(c *config) { c.instructions = text }
}

// WithName sets the server's self-reported name and version.
func WithName(name, version string) Option {
	return func(c *config) { c.name, c.version = name, version }
}

// WithPageSize makes tools/list answer with n tools on a page. Zero, the default, means one page.
func WithPageSize(n int) Option {
	return func(c *config) { c.pageSize = n }
}

// WithLenientOrder admits requests that come before initialize. Otherwise they are refused with -32600.
func WithLenientOrder() Option {
	return func(c *config) { c.lenient = true }
}

// WithFirstID sets the id of the server's first own request on each connection; it counts up from there. The default is
// 0, as with TypeScript servers.
func WithFirstID(n int64) Option {
	return func(c *config) { c.firstID = n }
}
