package journal

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestQueue compares a queue with a slice, and looks for what it keeps of items that have gone.
func TestQueue(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var q queue[*int]
	var want []*int
	most := 0
	for i := range 100_000 {
		if len(want) > 0 && rng.IntN(100) < 30+len(want)/2 {
			if q.pop() != want[0] {
				t.Fatal("another item came out")
			}
			want = want[1:]
		} else {
			n := i
			q.push(&n)
			want = append(want, &n)
		}
		most = max(most, len(want))
		if !slices.Equal(q.items, want) {
			t.Fatalf("after %d steps it is not what was put in", i)
		}
	}
	held := 0
	for _, item := range q.room[:cap(q.room)] {
		if item != nil {
			held++
		}
	}
	if held != len(want) || cap(q.room) > 4*most {
		t.Errorf("%d of %d items are held, in room for %d", held, len(want), cap(q.room))
	}
	if n := testing.AllocsPerRun(1000, func() {
		q.push(nil)
		q.pop()
	}); n > 0 {
		t.Errorf("%.2f allocations for an item", n)
	}
}
