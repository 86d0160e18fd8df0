package jsonrpc

import "time"

const (
	// stormTick is how long a reader pauses at most, and so the longest delay of an answer during a storm. All readers
	// wake at the same moments: processes that wake together cost the machine one wake-up.
	stormTick = 20 * time.Millisecond
	// A storm is stormRow messages in a row that may be delivered late, within stormRow times stormGap, repeated for at
	// least stormAfter. The few progress notifications of a tool before its answer are not a storm.
	stormRow   = 8
	stormGap   = 10 * time.Millisecond
	stormAfter = 200 * time.Millisecond
	// stormBytes is less than a pipe holds on any system. When as many bytes have come in one tick, the other side may be
	// blocked until the reader reads, and its next message would be more than a tick late.
	stormBytes = 4 << 10
)

// storm pauses the reading goroutine during a storm of messages that may be delivered late: it then reads all that has
// come in a tick at once, instead of being woken for each message. Only the reading goroutine uses it.
type storm struct {
	drained bool // of the last message; see Message

	row   int       // messages that may be late, since the last one that may not or that came slowly
	began time.Time // when the row began
	since time.Time // when the latest stormRow messages of it began
	on    bool

	bytes int       // bytes that came since woke
	woke  time.Time // when it last paused, or last reset bytes
}

// note counts a message of size bytes; late says that it may be delivered late. Any other message ends the storm, so a
// connection with other traffic is read without pauses.
func (s *storm) note(late bool, size int, drained bool) {
	s.drained = drained
	if !late {
		s.row, s.on = 0, false
		return
	}
	s.bytes += size
	if s.row++; s.row == 1 {
		s.began = time.Now()
		s.since = s.began
	} else if s.row%stormRow == 0 {
		now := time.Now()
		if now.Sub(s.since) >= stormRow*stormGap {
			s.row, s.on = 0, false
			return
		}
		s.since, s.on = now, now.Sub(s.began) >= stormAfter
	}
}

// wait pauses, if a storm goes on, until the next tick or the end of the connection.
func (s *storm) wait(end <-chan struct{}) {
	if !s.on || !s.drained {
		return
	}
	now := time.Now()
	switch {
	case now.Sub(s.since) >= stormRow*stormGap:
		s.row, s.on = 0, false
		return
	case s.bytes >= stormBytes:
		if now.Sub(s.woke) >= stormTick {
			s.bytes, s.woke = 0, now
		}
		return
	}
	tick := time.NewTimer(stormTick - time.Duration(now.UnixNano())%stormTick)
	defer tick.Stop()
	select {
	case <-tick.C:
	case <-end:
	}
	s.bytes, s.woke = 0, time.Now()
}
