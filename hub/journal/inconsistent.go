package journal

import (
	"fmt"
	"unsafe"
)

// Held returns about how many bytes the timelines hold.
func (rec *Recorder) Held() int64 { return rec.bytes.Load() }

// Kept returns how many timelines of requests that are over are kept.
func (rec *Recorder) Kept() int { return len(rec.ended.items) }

// Inconsistent returns what is inconsistent in the recorder, or "". open are the timelines of the requests that are not
// over. It is called with the hub's lock.
func (rec *Recorder) Inconsistent(open []*Timeline) string {
	if unsafe.Sizeof(record{}) != recordBytes {
		return fmt.Sprintf("a record has %d bytes, counted as %d", unsafe.Sizeof(record{}), recordBytes)
	}
	held := int64(0)
	var locked []*Timeline
	defer func() {
		for _, t := range locked {
			t.mu.Unlock()
		}
	}()
	look := func(t *Timeline, isOpen bool) string {
		t.mu.Lock() // until all have been counted: a message may make a timeline grow at any moment
		locked = append(locked, t)
		held += t.charged
		switch {
		case t.gone, t.charged == 0:
			return fmt.Sprintf("timeline %d is kept and was forgotten", t.n)
		case isOpen != (t.at == nil):
			return fmt.Sprintf("timeline %d: open %v, and yet %+v", t.n, isOpen, t.at)
		case len(t.records) > maxTraceEntries:
			return fmt.Sprintf("timeline %d has %d entries", t.n, len(t.records))
		}
		return ""
	}
	for _, t := range open {
		if bad := look(t, true); bad != "" {
			return bad
		}
	}
	for _, t := range rec.ended.items {
		if bad := look(t, false); bad != "" {
			return bad
		}
	}
	if len(rec.ended.items) > maxTraces {
		return fmt.Sprintf("%d timelines are kept", len(rec.ended.items))
	}
	if got := rec.bytes.Load(); got != held {
		return fmt.Sprintf("timelines hold %d bytes, counted as %d", held, got)
	}
	return ""
}
