package handshake

import "fmt"

// OldestHub is the oldest version of a hub that the hosts of this repository work with, the one in TypeScript included.
// It rises when they begin to need what an older hub has not; what a hub has beyond that, they do without.
const OldestHub = "0.1.0"

// Serves tells whether a hub of this version is new enough for a host that needs the oldest. What follows the three
// numbers does not count, and a version without them is one that somebody built for himself: it serves.
func Serves(version, oldest string) bool {
	var have, need [3]int
	if _, err := fmt.Sscanf(version, "%d.%d.%d", &have[0], &have[1], &have[2]); err != nil {
		return true
	}
	if _, err := fmt.Sscanf(oldest, "%d.%d.%d", &need[0], &need[1], &need[2]); err != nil {
		return true
	}
	for i := range need {
		if have[i] != need[i] {
			return have[i] > need[i]
		}
	}
	return true
}
