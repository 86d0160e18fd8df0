package process

import "testing"

// A zombie is not a member of its group: in a container without an init nobody
// reaps it, and every stop would go through all its stages.
func TestZombiesAreNotMembers(t *testing.T) {
	const rest = " 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 8765 1000 42 18446744073709551615"
	tests := []struct {
		stat  string
		ok    bool
		pgrp  int
		alive bool
	}{
		{"12 (server) S 1 77 77" + rest, true, 77, true},
		{"12 (a) b) (Z 3) R 1 77 77" + rest, true, 77, true},
		{"12 (stopped) T 1 77 77" + rest, true, 77, true},
		{"12 (server) Z 1 77 77" + rest, true, 77, false},
		{"12 (server) X 1 77 77" + rest, true, 77, false},
		{"12 (cut off) S 1", false, 0, false},
		{"", false, 0, false},
	}
	for _, tt := range tests {
		s, ok := parseStat([]byte(tt.stat))
		if ok != tt.ok || ok && (s.pid != 12 || s.pgrp != tt.pgrp || s.living() != tt.alive || s.start != 8765 ||
			s.kernel) {
			t.Errorf("%q: %v, %+v", tt.stat, ok, s)
		}
	}
	if s, ok := parseStat([]byte("2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 2 0 0 1")); !ok || !s.kernel {
		t.Errorf("a thread of the kernel: %v, %+v", ok, s)
	}
}
