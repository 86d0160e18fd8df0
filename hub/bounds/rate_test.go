package bounds

import (
	"testing"
	"time"
)

func TestRateLetsABurstPassAndThenItsShare(t *testing.T) {
	r := NewRate(100, 50)
	now := time.Unix(1, 0)
	passed := 0
	for range 1000 {
		if r.Allow(now) {
			passed++
		}
	}
	if passed != 50 || r.Dropped() != 950 || r.Dropped() != 0 {
		t.Errorf("%d of 1000 passed at once", passed)
	}
	passed = 0
	for range 10_000 { // ten seconds of a thousand a second
		now = now.Add(time.Millisecond)
		if r.Allow(now) {
			passed++
		}
	}
	if passed != 1000 {
		t.Errorf("%d passed in ten seconds", passed)
	}
	now = now.Add(time.Hour)
	for range 50 {
		if !r.Allow(now) {
			t.Fatal("no burst after a rest")
		}
	}
	if r.Allow(now) {
		t.Error("more than a burst after a long rest")
	}
	r.Credit(2)
	for i, want := range []bool{true, true, false} {
		if r.Allow(now) != want {
			t.Errorf("number %d after a credit of two passes: %v", i+1, !want)
		}
	}
}
