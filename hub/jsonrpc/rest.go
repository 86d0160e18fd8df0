package jsonrpc

import "time"

const (
	// restTick is how long a reader rests at most, and so how much later an answer comes during a storm. All readers wake
	// at the same moments: processes that wake together cost the machine one wake-up.
	restTick = 20 * time.Millisecond
	// A storm is restRow messages in a row that may come late, within restRow times restGap, again and again for
	// restAfter. The steps that a tool tells of before its answer are none.
	restRow   = 8
	restGap   = 10 * time.Millisecond
	restAfter = 200 * time.Millisecond
	// restBytes is less than a pipe holds on any system: when as much has come in one tick, the other side may be waiting
	// for the reader, and what it wants to say next would come more than a tick late.
	restBytes = 4 << 10
)

// Drained is an optional extra of a Conn that knows whether it has read more than it has returned. With it a Peer rests
// during a storm.
type Drained interface {
	// Drained tells whether every byte that was read has been returned. It is called by the reading goroutine alone.
	Drained() bool
}

// rest lets the reading goroutine rest while nothing comes but a storm of what may come late: it reads what has come in
// a tick at once, instead of being woken for each message. It belongs to the reading goroutine.
type rest struct {
	conn  Drained // nil: it never rests
	timer *time.Timer

	row   int       // messages that may come late, since the last that may not, or that came slowly
	began time.Time // the begin of the row
	since time.Time // the begin of the latest restRow of it
	storm bool

	bytes int       // that came since woke
	woke  time.Time // when it last rested, or looked how much comes
}

// note counts a message; late says that it may come late. Whatever may not ends the storm: so a connection on which
// anything else happens is read without rests.
func (r *rest) note(late bool, size int) {
	if r.conn == nil {
		return
	}
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

// due tells for how long to rest now; 0 is not at all.
func (r *rest) due() time.Duration {
	if !r.storm || !r.conn.Drained() {
		return 0
	}
	now := time.Now()
	switch {
	case now.Sub(r.since) >= restRow*restGap: // it has ended
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

// take rests for as long as it is due, at most until the end of the connection.
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
