package handshake

import "fmt"

// OldestHub is the oldest version of a hub that the hosts of this repository, including the one in TypeScript, work
// with. It rises when they begin to need something that an older hub does not have. They do without anything else that
// only newer hubs have.
const OldestHub = "0.1.0"

// Serves reports whether a hub of this version is new enough for a host that needs at least oldest. Anything after the
// three numbers is ignored. A version without three numbers is that of a build that somebody made for himself, and is
// new enough.
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
