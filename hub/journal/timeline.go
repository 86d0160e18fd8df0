package journal

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

// Bounds of the flight recorder.
const (
	maxTraces       = 512     // timelines of requests that are over
	maxTraceEntries = 128     // of one request: the first half and the latest half are kept
	maxTraceBytes   = 3 << 20 // beyond it the oldest timelines of requests that are over go
	maxTraceSteps   = 20      // entries for the progress of one request
	smallTrace      = 5       // entries that most calls stay within: queued, running, the request, its response, done
)

const (
	recordBytes   = 72
	timelineBytes = smallTrace*recordBytes + 400 // with what it shows of its request
)

// Recorder is the flight recorder: it keeps the timelines of requests. NewRecorder makes one.
type Recorder struct {
	began time.Time
	bytes atomic.Int64 // that the kept timelines, and those of open requests, hold; about

	ended queue[*Timeline] // of requests that are over, in the order of their ends; guarded by the hub's lock
}

const methodProgress = "notifications/progress"

// Timeline is what happened to one request. Its lock is a leaf: the engine tells of messages with locks of its own
// held, so nothing is called under it.
type Timeline struct {
	of *Recorder
	n  uint64             // of its request, for order; set when that begins
	at *event.RequestInfo // what the request was at its end, nil while it is open; guarded by the hub's lock

	mu       sync.Mutex // guards all below
	records  []record
	first    int32   // how many of the records at the front are the first ones, which stay; 0 until there is no more room
	next     int32   // the oldest of the others
	seq      uint32  // counts records
	steps    int32   // of progress, up to maxTraceSteps
	step     *record // the latest progress, when there was more than is kept one by one
	omitted  int
	traceID  string
	charged  int64 // what of Recorder.bytes it stands for
	gone     bool  // forgotten: the engine may tell of a late message all the same
	smallest [smallTrace]record
}

// record is one entry. A zero what stands for one that was taken back.
type record struct {
	at     time.Duration // since Recorder.began
	seq    uint32
	bytes  uint32
	method string
	id     string // of a message, or of a prompt
	// *event.Cancellation, *event.Error, *event.Sending; of an answer the int64 of its error, nil for none: in most
	// entries there is neither
	detail any
	what   recordKind

	state            uint8 // RequestState
	prompt           uint8 // PromptKind
	cause            uint8 // PromptCause
	outgoing, unread bool
	kind             jsonrpc.Kind
}

type recordKind uint8

const (
	recordState recordKind = iota + 1
	recordMessage
	recordCancel
	recordPrompt
	recordError
	recordDelivery
)

// NewRecorder makes a recorder that begins now.
func NewRecorder() *Recorder { return &Recorder{began: time.Now()} }

// Began is when rec was made.
func (rec *Recorder) Began() time.Time { return rec.began }

// NewTimeline makes the timeline of what may become a request.
func (rec *Recorder) NewTimeline() *Timeline {
	t := &Timeline{of: rec}
	t.records = t.smallest[:0]
	return t
}

// Begin makes t the timeline of a request, the n-th.
func (t *Timeline) Begin(n uint64) {
	t.n = n
	t.of.bytes.Add(timelineBytes)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.charged += timelineBytes
}

// End keeps t for later, and forgets the oldest. It is called with the hub's lock.
func (t *Timeline) End(info event.RequestInfo) {
	rec := t.of
	t.at = &info
	rec.ended.push(t)
	for len(rec.ended.items) > maxTraces || len(rec.ended.items) > 0 && rec.bytes.Load() > maxTraceBytes {
		rec.ended.pop().forget()
	}
}

// forget gives up what t holds: others may hold t for longer, to tell of messages that come late.
func (t *Timeline) forget() {
	t.at = nil
	t.mu.Lock()
	defer t.mu.Unlock()
	t.of.bytes.Add(-t.charged)
	t.charged, t.gone = 0, true
	t.records, t.step = nil, nil
	clear(t.smallest[:])
}

// add notes one thing that happened just now.
func (t *Timeline) add(r record) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.put(r)
}

// put: t.mu is held.
func (t *Timeline) put(r record) {
	if t.gone {
		return
	}
	t.stamp(&r)
	if t.first == 0 {
		if len(t.records) < cap(t.records) || t.grow() {
			t.records = append(t.records, r)
			return
		}
		t.first = int32(len(t.records) / 2)
		t.next = t.first
	}
	if t.records[t.next].what != 0 {
		t.omitted++
	}
	t.records[t.next] = r
	if t.next++; int(t.next) == len(t.records) {
		t.next = t.first
	}
}

func (t *Timeline) stamp(r *record) {
	t.seq++
	r.seq, r.at = t.seq, time.Since(t.of.began)
}

// grow makes room, unless t has all that it may have or all timelines together have. t.mu is held.
func (t *Timeline) grow() bool {
	size := min(4*cap(t.records), maxTraceEntries)
	more := int64(size) * recordBytes
	if cap(t.records) > smallTrace {
		more -= int64(cap(t.records)) * recordBytes
	}
	if size == cap(t.records) || t.of.bytes.Load()+more > bounds.TraceBytes {
		return false
	}
	t.of.bytes.Add(more)
	t.charged += more
	t.records = append(make([]record, 0, size), t.records...)
	return true
}

// Message notes a message. The first ones of progress are noted one by one, of the others the latest.
func (t *Timeline) Message(m jsonrpc.Observed) {
	id := m.ID.String()
	if len(id) > bounds.WireIDBytes {
		id = fmt.Sprintf(`"an id of %d bytes"`, len(id))
	}
	r := record{
		what: recordMessage, kind: m.Kind, method: m.Method, id: id, bytes: uint32(min(m.Bytes, 1<<32-1)),
		outgoing: m.Sender == jsonrpc.Outgoing, unread: m.Dropped,
	}
	if m.Code != 0 {
		r.detail = m.Code
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if m.Unwritten {
		t.takeBack(r)
		return
	}
	if m.Kind == jsonrpc.KindNotification && m.Method == methodProgress && !t.gone {
		t.steps = min(t.steps+1, maxTraceSteps)
		if t.steps == maxTraceSteps {
			if t.step == nil {
				t.step = new(record)
			} else {
				t.omitted++
			}
			t.stamp(&r)
			*t.step = r
			return
		}
	}
	t.put(r)
}

// takeBack undoes the latest record of a message that is not written yet after all. t.mu is held.
func (t *Timeline) takeBack(m record) {
	found := -1
	for i, r := range t.records {
		if r.what == recordMessage && r.outgoing && r.kind == m.kind && r.id == m.id && r.method == m.method &&
			(found < 0 || r.seq > t.records[found].seq) {
			found = i
		}
	}
	switch {
	case found < 0:
	case t.first == 0:
		t.records = slices.Delete(t.records, found, found+1)
	default:
		if t.records[found].seq == t.seq {
			t.next = int32(found) // its place is free again
		}
		t.records[found] = record{}
	}
}
