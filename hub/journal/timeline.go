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
	maxTraceBytes   = 3 << 20 // beyond this the oldest timelines of requests that are over are forgotten
	maxTraceSteps   = 20      // entries for the progress of one request
	smallTrace      = 5       // entries that suffice for most calls: queued, running, the request, its response, done
)

const (
	recordBytes   = 72
	timelineBytes = smallTrace*recordBytes + 400 // with the RequestInfo of its request
)

// Recorder is the flight recorder: it keeps the timelines of requests. NewRecorder makes one.
type Recorder struct {
	began time.Time
	bytes atomic.Int64 // about how many bytes the kept timelines and those of open requests hold

	ended queue[*Timeline] // timelines of requests that are over, in the order of their ends; guarded by the hub's lock
}

const methodProgress = "notifications/progress"

// Timeline records what happened to one request. No other lock is taken while its lock is held: the engine reports
// messages with its own locks held.
type Timeline struct {
	of *Recorder
	n  uint64             // the position of its request among all requests; set by Begin
	at *event.RequestInfo // the request at its end, nil while it is open; guarded by the hub's lock

	mu       sync.Mutex // guards the fields below
	records  []record
	first    int32   // how many of the first records are never replaced; 0 as long as records can grow
	next     int32   // index of the oldest record that may be replaced
	seq      uint32  // number of records so far
	steps    int32   // number of progress records, up to maxTraceSteps
	step     *record // the latest progress, if there was more than is kept one by one
	omitted  int
	traceID  string
	charged  int64 // its share of Recorder.bytes
	gone     bool  // it was forgotten; the engine may still report a late message
	smallest [smallTrace]record
}

// record is one entry. what is zero if the entry was taken back.
type record struct {
	at     time.Duration // since Recorder.began
	seq    uint32
	bytes  uint32
	method string
	id     string // id of a message, or of a prompt
	// a *event.Cancellation, *event.Error or *event.Sending; for a response the int64 code of its error. It is nil in most
	// entries.
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

// NewRecorder returns a recorder that begins now.
func NewRecorder() *Recorder { return &Recorder{began: time.Now()} }

// Began returns when rec was made.
func (rec *Recorder) Began() time.Time { return rec.began }

// NewTimeline returns a timeline for what may become a request.
func (rec *Recorder) NewTimeline() *Timeline {
	t := &Timeline{of: rec}
	t.records = t.smallest[:0]
	return t
}

// Begin makes t the timeline of the n-th request.
func (t *Timeline) Begin(n uint64) {
	t.n = n
	t.of.bytes.Add(timelineBytes)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.charged += timelineBytes
}

// End keeps t after the end of its request, and forgets the oldest timelines if there are too many. It is called with
// the hub's lock.
func (t *Timeline) End(info event.RequestInfo) {
	rec := t.of
	t.at = &info
	rec.ended.push(t)
	for len(rec.ended.items) > maxTraces || len(rec.ended.items) > 0 && rec.bytes.Load() > maxTraceBytes {
		rec.ended.pop().forget()
	}
}

// forget frees what t holds. Others may refer to t for longer, to report messages that come late.
func (t *Timeline) forget() {
	t.at = nil
	t.mu.Lock()
	defer t.mu.Unlock()
	t.of.bytes.Add(-t.charged)
	t.charged, t.gone = 0, true
	t.records, t.step = nil, nil
	clear(t.smallest[:])
}

// add records an event of the present moment.
func (t *Timeline) add(r record) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.put(r)
}

// put stores a record. When there is no more room, it replaces the oldest record that may be replaced. t.mu is held.
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

// grow makes room for more records. It returns false if t has reached its limit, or all timelines together theirs. t.mu
// is held.
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

// Message records a message. Of progress it keeps the first messages one by one, and of the others the latest.
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

// takeBack removes the latest record of a message that was not written after all. t.mu is held.
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
			t.next = int32(found) // the next record may take its place
		}
		t.records[found] = record{}
	}
}
