package jsonrpc

import "time"

const (
	// restTick is how long a reader pauses at most, and so the longest delay of an answer during a storm. All readers wake
	// at the same moments: processes that wake together cost the machine one wake-up.
	restTick = 20 * time.Millisecond
	// A storm is restRow messages in a row that may be delivered late, within restRow times restGap, repeated for at least
	// restAfter. The few progress notifications of a tool before its answer are not a storm.
	restRow   = 8
	restGap   = 10 * time.Millisecond
	restAfter = 200 * time.Millisecond
	// restBytes is less than a pipe holds on any system. When as many bytes have come in one tick, the other side may be
	// blocked until the reader reads, and its next message would be more than a tick late.
	restBytes = 4 << 10
)

// rest pauses the reading goroutine during a storm of messages that may be delivered late: it then reads all that has
// come in a tick at once, instead of being woken for each message. Only the reading goroutine uses it.
type rest struct {
	drained bool // of the last message; see Message
	timer   *time.Timer

	row   int       // messages that may be late, since the last one that may not or that came slowly
	began time.Time // when the row began
	since time.Time // when the latest restRow messages of it began
	storm bool

	bytes int       // bytes that came since woke
	woke  time.Time // when it last paused, or last reset bytes
}

// note counts a message of size bytes; late says that it may be delivered late. Any other message ends the storm, so a
// connection with other traffic is read without pauses.
func (r *rest) note(late bool, size int, drained bool) {
	r.drained = drained
	if !late {
		r.row, r.storm = 0, false
		return
	}
	r.bytes += size
	if r.row++; r.row == 1 {
		r.began = time.Now()
		r.since = r.began
	} else if r.row%restRow == 0 {
		now := time.Now()
		if now.Sub(r.since) >= restRow*restGap {
			r.row, r.storm = 0, false
			return
		}
		r.since, r.storm = now, now.Sub(r.began) >= restAfter
	}
}

// due returns how long to pause now, or 0 for no pause.
func (r *rest) due() time.Duration {
	if !r.storm || !r.drained {
		return 0
	}
	now := time.Now()
	switch {
	case now.Sub(r.since) >= restRow*restGap: // the storm has ended
		r.row, r.storm = 0, false
		return 0
	case r.bytes >= restBytes:
		if now.Sub(r.woke) >= restTick {
			r.bytes, r.woke = 0, now
		}
		return 0
	}
	return restTick - time.Duration(now.UnixNano())%restTick
}

// take pauses for as long as due says, at most until the end of the connection.
func (r *rest) take(end <-chan struct{}) {
	d := r.due()
	if d == 0 {
		return
	}
	if r.timer == nil {
		r.timer = time.NewTimer(d)
	} else {
		r.timer.Reset(d)
	}
	select {
	case <-r.timer.C:
	case <-end:
		r.timer.Stop()
	}
	r.bytes, r.woke = 0, time.Now()
}
