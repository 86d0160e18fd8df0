package mcp

import (
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
