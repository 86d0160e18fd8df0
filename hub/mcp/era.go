package mcp

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/mcphub-go/mcphub/hub/protocol"
)

// Era is the family of revisions that a server speaks. The zero value means that it is not known yet.
type Era int

const (
	// Legacy is 2024-11-05 to 2025-11-25: initialize, and requests in both directions.
	Legacy Era = iota + 1
	// Modern is 2026-07-28: server/discover, _meta on each request, and no requests from the server.
	Modern
)

// String returns the era's word in settings and logs: "legacy", "modern", or "unknown".
func (e Era) String() string {
	switch e {
	case Legacy:
		return "legacy"
	case Modern:
		return "modern"
	}
	return "unknown"
}

// The revisions that this client speaks.
const (
	Revision20241105 = protocol.Revision20241105
	Revision20250326 = protocol.Revision20250326
	Revision20250618 = protocol.Revision20250618
	Revision20251125 = protocol.Revision20251125
	Revision20260728 = protocol.Revision20260728
)

// Values of Options.Era.
const (
	EraAuto   = "auto"
	EraLegacy = "legacy"
	EraModern = "modern"
)

// The revisions from the oldest to the newest. They are dates, so they also compare as strings.
var (
	legacyRevisions = []string{Revision20241105, Revision20250326, Revision20250618, Revision20251125}
	modernRevisions = []string{Revision20260728}
)

// bestMutual returns the newest of ours that is also in theirs, or "" if there is none.
func bestMutual(ours, theirs []string) string {
	for _, r := range slices.Backward(ours) {
		if slices.Contains(theirs, r) {
			return r
		}
	}
	return ""
}

// Capabilities is what the client side can serve at this moment. A capability that needs a user is only declared while
// a user can be asked.
type Capabilities struct {
	Roots           bool
	Sampling        bool
	SamplingTools   bool // tool use within sampling; ignored without Sampling
	ElicitationForm bool
	ElicitationURL  bool
	// Extensions are the settings of each extension that the client supports, by identifier; a value that is no JSON
	// object is left out. The map must not be changed after it was passed on.
	Extensions map[string]json.RawMessage
}

// at returns the part of c that exists in a revision and may be used by a peer of that revision. Elicitation came with
// 2025-06-18, its URL mode and tools in sampling with 2025-11-25 (changelogs of these revisions).
func (c Capabilities) at(revision string) Capabilities {
	c.Extensions = withTasks(c.Extensions, revision)
	if !c.Sampling {
		c.SamplingTools = false
	}
	if revision < Revision20251125 {
		c.SamplingTools = false
		c.ElicitationURL = false
	}
	if revision < Revision20250618 {
		c.ElicitationForm = false
	}
	return c
}

// appendTo appends c as the ClientCapabilities object of a revision.
func (c Capabilities) appendTo(b []byte, revision string) []byte {
	c = c.at(revision)
	o := object{b: append(b, '{'), empty: true}
	if c.Roots {
		// 2026-07-28 has no notifications/roots/list_changed: a server asks for roots whenever it needs them.
		o.either("roots", revision >= Revision20260728, "{}", `{"listChanged":true}`)
	}
	if c.Sampling {
		o.either("sampling", c.SamplingTools, `{"tools":{}}`, "{}")
	}
	switch {
	case !c.ElicitationForm && !c.ElicitationURL:
	case revision < Revision20251125:
		o.raw("elicitation", []byte("{}"))
	case c.ElicitationForm:
		o.either("elicitation", c.ElicitationURL, `{"form":{},"url":{}}`, `{"form":{}}`)
	default:
		o.raw("elicitation", []byte(`{"url":{}}`))
	}
	if extensions := c.extensions(); extensions != nil {
		o.raw("extensions", extensions)
	}
	return o.end()
}

// extensions returns the member "extensions", or nil if there are none. The schemas of legacy revisions do not have it,
// but their sets of capabilities are open, and extensions such as MCP Apps (2026-01-26) are negotiated in initialize.
func (c Capabilities) extensions() []byte {
	var o *object
	for _, id := range slices.Sorted(maps.Keys(c.Extensions)) {
		if settings := c.Extensions[id]; isObject(settings) {
			if o == nil {
				o = newObject(128)
			}
			o.raw(id, oneLine(settings))
		}
	}
	if o == nil {
		return nil
	}
	return o.end()
}
