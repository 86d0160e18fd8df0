package fakeserver

import "encoding/json"

// Protocol revisions that matter to the server; the legacy ones are those with an initialize handshake.
const (
	RevisionLatestLegacy = "2025-11-25"
	RevisionModern       = "2026-07-28"
)

var legacyRevisions = map[string]bool{
	"2024-11-05": true, "2025-03-26": true, "2025-06-18": true, RevisionLatestLegacy: true,
}

// probeMode is what the server does with server/discover.
type probeMode int

const (
	probeRefuse probeMode = iota // -32601, as a legacy server
	probeAnswer                  // a DiscoverResult, as a modern server
	probeSilent                  // nothing at all
	probeExit                    // both streams are closed, as by a server that exits
)

// config is fixed once New has returned.
type config struct {
	name         string
	version      string
	revision     string // answered to initialize; "" echoes a known offer
	legacy       bool   // initialize is answered
	probe        probeMode
	capabilities json.RawMessage
	instructions string
	pageSize     int // tools a page; 0 is no paging
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

// Option sets one thing of a [Server]. Without options the server is a legacy one: it echoes the offered revision if
// that is a legacy one (2025-11-25 otherwise) and refuses server/discover with -32601.
type Option func(*config)

// WithRevision makes initialize answer with this revision whatever was offered, known or not.
// Given after [WithModern] it makes a server of both eras.
func WithRevision(rev string) Option {
	return func(c *config) { c.revision, c.legacy = rev, true }
}

// WithModern makes the server speak 2026-07-28 alone: it answers server/discover, wants the protocol version and the
// client's capabilities in the _meta of each request (-32602 without), and refuses initialize, ping and
// logging/setLevel with -32601.
func WithModern() Option {
	return func(c *config) { c.probe, c.legacy = probeAnswer, false }
}

// WithBothEras makes the server answer server/discover and initialize.
func WithBothEras() Option {
	return func(c *config) { c.probe, c.legacy = probeAnswer, true }
}

// WithSilentProbe makes the server ignore server/discover: no answer ever comes.
func WithSilentProbe() Option {
	return func(c *config) { c.probe = probeSilent }
}

// WithExitOnProbe makes the server close both streams when server/discover comes, as a server does that exits on an
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

// WithPageSize makes tools/list answer n tools a page. Zero, the default, is one page.
func WithPageSize(n int) Option {
	return func(c *config) { c.pageSize = n }
}

// WithLenientOrder lets requests through that come before initialize; they are refused with -32600 otherwise.
func WithLenientOrder() Option {
	return func(c *config) { c.lenient = true }
}

// WithFirstID sets the id of the server's first own request on each connection; it counts up from there.
// The default is 0, as TypeScript servers have it.
func WithFirstID(n int64) Option {
	return func(c *config) { c.firstID = n }
}
