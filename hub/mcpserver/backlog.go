package mcpserver

import (
	"cmp"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// backlog counts what is held for all clients over HTTP together: the bytes that wait to be read, and those that are
// kept so that a stream can be resumed. Each wire has a bound of its own besides. One that holds less than smallBacklog
// does not count: the number of wires is bounded.
type backlog struct {
	waitingMost, keptMost int
	released              *bounds.Releases

	mu            sync.Mutex
	waiting, kept int
	of            map[*carrier]*held
}

// held is what one wire holds.
type held struct {
	waiting, kept int
	since         time.Time // when the client has last taken something, or when the first of it came
}

const (
	smallBacklog = 64 << 10
	// stalledAfter is how long a client takes nothing before it gives way to those that read.
	stalledAfter = time.Second
)

// errTooMuchWaits is the cause of the end of a session, or of a call of 2026-07-28, that has given way.
var errTooMuchWaits = errors.New("too much waits for clients that do not read, and most of it for this one")

func newBacklog(b Bounds, released *bounds.Releases) *backlog {
	return &backlog{waitingMost: b.QueueInAll, keptMost: b.EventBytesInAll, released: released,
		of: map[*carrier]*held{}}
}

// set records what the wire of a carrier holds now. over reports that too much waits; then the caller calls makeRoom
// when it holds no lock. full reports that too much is kept.
func (b *backlog) set(c *carrier, waiting, kept int) (over, full bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c.over {
		return false, false
	}
	h := b.of[c]
	if h == nil {
		if waiting+kept < smallBacklog {
			return false, b.kept > b.keptMost
		}
		h = &held{}
		b.of[c] = h
	}
	if h.waiting == 0 || waiting < h.waiting {
		h.since = time.Now()
	}
	b.change(h, waiting, kept)
	if waiting+kept < smallBacklog {
		b.change(h, 0, 0)
		delete(b.of, c)
	}
	return b.waiting > b.waitingMost, b.kept > b.keptMost
}

// change counts what a wire holds now. Called with mu held.
func (b *backlog) change(h *held, waiting, kept int) {
	b.released.Note(h.waiting + h.kept - waiting - kept)
	b.waiting += waiting - h.waiting
	b.kept += kept - h.kept
	h.waiting, h.kept = waiting, kept
}

// remove forgets a carrier that is over.
func (b *backlog) remove(c *carrier) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c.over = true
	if h := b.of[c]; h != nil {
		b.change(h, 0, 0)
		delete(b.of, c)
	}
}

// makeRoom has wires give way until what waits is within the bound. Called without any lock.
func (b *backlog) makeRoom() {
	for {
		c := b.surplus()
		if c == nil {
			return
		}
		c.apply(gaveWay{})
	}
}

// surplus takes the carrier that gives way off the count, and returns it; nil if there is room. It is one of the client
// for which most waits, and of these the one that has been read longest ago. Clients that read give way last.
func (b *backlog) surplus() *carrier {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting <= b.waitingMost {
		return nil
	}
	now := time.Now()
	type sum struct{ stalled, bytes int }
	sums := map[share]sum{}
	var some []*carrier
	for c, h := range b.of {
		if h.waiting == 0 {
			continue
		}
		s := sums[c.client]
		s.bytes += h.waiting
		s.stalled |= truth(now.Sub(h.since) >= stalledAfter)
		sums[c.client] = s
		some = append(some, c)
	}
	victim := slices.MaxFunc(some, func(x, y *carrier) int {
		a, c := sums[x.client], sums[y.client]
		return cmp.Or(a.stalled-c.stalled, cmp.Compare(a.bytes, c.bytes), b.of[y].since.Compare(b.of[x].since))
	})
	b.change(b.of[victim], 0, 0)
	delete(b.of, victim)
	victim.over = true
	return victim
}
