package transport

import "testing"

// A zombie is not a member: in a container without an init nobody takes it away,
// and every stop would go through all its stages.
func TestZombiesAreNotMembers(t *testing.T) {
	tests := []struct {
		stat  string
		pgrp  int
		alive bool
	}{
		{"12 (server) S 1 77 77 0 -1", 77, true},
		{"12 (a) b) (Z 3) R 1 77 77 0 -1", 77, true},
		{"12 (stopped) T 1 77 77 0 -1", 77, true},
		{"12 (server) Z 1 77 77 0 -1", 77, false},
		{"12 (server) X 1 77 77 0 -1", 77, false},
		{"12 (cut off) S 1", 0, false},
		{"", 0, false},
	}
	for _, tt := range tests {
		if pgrp, alive := parseStat([]byte(tt.stat)); pgrp != tt.pgrp || alive != tt.alive {
			t.Errorf("%q: group %d, alive %v", tt.stat, pgrp, alive)
		}
	}
}
