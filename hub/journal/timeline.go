package journal

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/redact"
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
	recordBytes   = 64 + 24                      // with an effect
	timelineBytes = smallTrace*recordBytes + 400 // with the RequestInfo of its request
)

// Recorder is the flight recorder: it keeps what the core was told and has ordered, and the timelines of requests.
// NewRecorder makes one.
type Recorder struct {
	bytes atomic.Int64 // about how many bytes the kept timelines and those of open requests hold

	// These are guarded by the hub's lock.
	flight Flight
	ended  queue[*Timeline] // timelines of requests that are over, in the order of their ends
}

const methodProgress = "notifications/progress"

// Timeline records what happened to one request: what the core has ordered for it, its messages on the wire, and what
// package hub alone knows, which are the error with which it ended and the delivery of its cancel. No other lock is
// taken while its lock is held: the engine reports messages with its own locks held.
type Timeline struct {
	of *Recorder
	n  core.RequestNumber // set by Begin
	id string             // set by Begin
	at *event.RequestInfo // the request at its end, nil while it is open; guarded by the hub's lock

	mu       sync.Mutex // guards the fields below
	records  []record   // in order
	steps    int        // number of messages of progress, up to maxTraceSteps
	omitted  int
	traceID  string
	charged  int64 // its share of Recorder.bytes
	gone     bool  // it was forgotten; the engine may still report a late message
	smallest [smallTrace]record
}

// record is one entry.
type record struct {
	at time.Duration // since Recorder.Began
	// what is a core.Effect, an *event.Error, or an event.Sending; for an error response the int64 code, and nil for any
	// other message.
	what any

	method, id       string // of a message
	bytes            uint32
	kind             jsonrpc.Kind // of a message; 0: it is none
	outgoing, unread bool
}

// NewRecorder returns a recorder that begins now. mark names the hub in the ids that it makes.
func NewRecorder(mark string) *Recorder {
	return &Recorder{flight: Flight{mark: mark, began: time.Now()}}
}

// Began returns when rec was made.
func (rec *Recorder) Began() time.Time { return rec.flight.began }

// Note records that the core was told e, and what it has ordered then. It is called with the hub's lock.
func (rec *Recorder) Note(at time.Time, e core.Event, effects []core.Effect) {
	rec.flight.note(at.Sub(rec.flight.began), e, effects)
}

// Flight returns what the core was told and has ordered. It is called with the hub's lock.
func (rec *Recorder) Flight() Flight { return rec.flight }

// NewTimeline returns a timeline for what may become a request.
func (rec *Recorder) NewTimeline() *Timeline {
	t := &Timeline{of: rec}
	t.records = t.smallest[:0]
	return t
}

// Begin makes t the timeline of the n-th request.
func (t *Timeline) Begin(n core.RequestNumber, id string) {
	t.n, t.id = n, id
	t.of.bytes.Add(timelineBytes)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.charged += timelineBytes
}

// Request returns the number and the id of the request, 0 and "" before it is one. It is called with the hub's lock.
func (t *Timeline) Request() (core.RequestNumber, string) { return t.n, t.id }

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
	t.records = nil
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

// put stores a record. When there is no more room, the oldest of the second half makes room. t.mu is held.
func (t *Timeline) put(r record) {
	if t.gone {
		return
	}
	if half := len(t.records) / 2; len(t.records) == cap(t.records) && !t.grow() {
		t.records = slices.Delete(t.records, half, half+1)
		t.omitted++
	}
	r.at = time.Since(t.of.Began())
	t.records = append(t.records, r)
}

// remove removes the latest record that is such a one. t.mu is held.
func (t *Timeline) remove(such func(r *record) bool) (removed bool) {
	for i := len(t.records) - 1; i >= 0; i-- {
		if such(&t.records[i]) {
			t.records = slices.Delete(t.records, i, i+1)
			return true
		}
	}
	return false
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
		kind: m.Kind, method: m.Method, id: id, bytes: uint32(min(m.Bytes, 1<<32-1)),
		outgoing: m.Sender == jsonrpc.Outgoing, unread: m.Dropped,
	}
	if m.Code != 0 {
		r.what = m.Code
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if m.Unwritten {
		t.remove(func(o *record) bool {
			return o.outgoing && o.kind == r.kind && o.id == r.id && o.method == r.method
		})
		return
	}
	if r.isProgress() {
		if t.steps == maxTraceSteps && t.remove((*record).isProgress) {
			t.omitted++
		}
		t.steps = min(t.steps+1, maxTraceSteps)
	}
	t.put(r)
}

func (r *record) isProgress() bool {
	return r.kind == jsonrpc.KindNotification && r.method == methodProgress
}

// Concerns returns the request whose timeline an effect is part of, 0 if it is part of none. With callers, it is part
// of those of the calls, too, in whose course the request was made.
func Concerns(e core.Effect) (request core.RequestNumber, callers bool) {
	switch e := e.(type) {
	case core.RequestOpened:
		return e.Request, false
	case core.RequestShown:
		if e.Moved {
			return e.Request, false
		}
	case core.CancelAccepted:
		return e.Request, false
	case core.PromptOpened:
		return e.Request, true
	case core.PromptClosed:
		return e.Request, true
	}
	return 0, false
}

// Ordered records an effect that concerns the request.
func (t *Timeline) Ordered(e core.Effect) { t.add(record{what: e}) }

// Delivered records the outcome of a cancel.
func (t *Timeline) Delivered(s event.Sending) { t.add(record{what: s}) }

// Failed records the error that the request ended with. Its text quotes neither a server nor what the server was asked
// for.
func (t *Timeline) Failed(err *event.Error, mayContinue bool) {
	t.add(record{what: tracedError(err, mayContinue)})
}

// Identify records the W3C trace id that other programs know the request by.
func (t *Timeline) Identify(traceID string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.traceID = traceID
}

// tracedMeta are the keys of an error's metadata whose values are only settings and numbers of the hub.
var tracedMeta = []string{"setting", "limit", "origin", "http_status", "server_may_continue", "capability", "server",
	"request_id"}

// tracedError returns err with a text that quotes neither a server nor what the server was asked for.
func tracedError(err *event.Error, mayContinue bool) *event.Error {
	kept := &event.Error{Code: err.Code, Reason: err.Reason, Message: strings.ToLower(strings.ReplaceAll(err.Reason, "_",
		" ")),
		Meta: map[string]string{}}
	for _, key := range tracedMeta {
		if v, ok := err.Meta[key]; ok {
			kept.Meta[key] = v
		}
	}
	if setting := kept.Meta["setting"]; setting != "" {
		kept.Message += ": " + setting
		if limit := kept.Meta["limit"]; limit != "" {
			kept.Message += " of " + limit
		}
	}
	if status := kept.Meta["http_status"]; status != "" {
		kept.Message += ": HTTP status " + status
	}
	if mayContinue {
		kept.Meta["server_may_continue"] = "true"
	}
	if kept.Meta["server_may_continue"] == "true" {
		kept.Message += "; the server may go on"
	}
	return kept
}

// Traced is a timeline with its request as it is, or as it was when it ended.
type Traced struct {
	*Timeline
	Request event.RequestInfo
}

// Ended returns the timelines of the requests that are over and for which want returns true. It is called with the
// hub's lock.
func (rec *Recorder) Ended(want func(id, server string) bool) (list []Traced) {
	for _, t := range rec.ended.items {
		if want(t.at.ID, t.at.Server) {
			list = append(list, Traced{t, *t.at})
		}
	}
	return list
}

// Read returns the entries of timelines, without secrets, oldest request first. If there are more than most (0 = no
// limit), it returns the latest ones. It is called without the hub's lock.
func Read(all []Traced, most int, secrets *redact.Redactor) []event.TraceInfo {
	without := func(c *event.Cancellation) *event.Cancellation {
		if c == nil {
			return nil
		}
		clean := *c
		clean.Reason = secrets.Text(c.Reason)
		return &clean
	}
	sort.Slice(all, func(i, j int) bool { return all[i].n < all[j].n })
	if most > 0 && len(all) > most {
		all = all[len(all)-most:]
	}
	list := make([]event.TraceInfo, 0, len(all))
	for _, one := range all {
		info := event.TraceInfo{Request: one.Request}
		info.Entries, info.Omitted, info.TraceID = one.read()
		info.Request.Cancellation = without(info.Request.Cancellation)
		for i := range info.Entries {
			info.Entries[i].Cancellation = without(info.Entries[i].Cancellation)
		}
		list = append(list, info)
	}
	return list
}

// read returns the entries in order, and how many were omitted.
func (t *Timeline) read() (entries []event.TraceEntry, omitted int, traceID string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.records {
		entries = append(entries, t.of.entry(r))
	}
	return entries, t.omitted, t.traceID
}

func (rec *Recorder) promptID(n core.PromptNumber) string {
	return core.OwnID(rec.flight.mark, "prompt", uint64(n))
}

// entry returns what people read of a record.
func (rec *Recorder) entry(r record) event.TraceEntry {
	e := event.TraceEntry{Time: rec.Began().Add(r.at)}
	if r.kind != 0 {
		m := &event.TraceMessage{
			Direction: event.Incoming, Type: r.kind.String(), Method: r.method, WireID: r.id, Bytes: int(r.bytes),
			Dropped: r.unread,
		}
		m.ErrorCode, _ = r.what.(int64)
		if r.outgoing {
			m.Direction = event.Outgoing
		}
		e.Message = m
		return e
	}
	switch what := r.what.(type) {
	case core.RequestOpened:
		e.State = event.StateQueued
	case core.RequestShown:
		e.State = what.State
	case core.CancelAccepted:
		e.Cancellation = &what.Cancel
	case core.PromptOpened:
		e.Prompt = &event.TracePrompt{PromptID: rec.promptID(what.Prompt), Kind: what.Kind}
	case core.PromptClosed:
		e.Prompt = &event.TracePrompt{PromptID: rec.promptID(what.Prompt), Kind: what.Kind,
			Cause: what.End.Cause}
	case *event.Error:
		e.Err = what
	case event.Sending:
		e.Sending = &what
	}
	return e
}

// Held returns about how many bytes the timelines hold.
func (rec *Recorder) Held() int64 { return rec.bytes.Load() }

// Kept returns how many timelines of requests that are over are kept.
func (rec *Recorder) Kept() int { return len(rec.ended.items) }

// Inconsistent returns what is inconsistent in the recorder, or "". open are the timelines of the requests that are not
// over. It is called with the hub's lock.
func (rec *Recorder) Inconsistent(open []*Timeline) string {
	if size := unsafe.Sizeof(record{}); size+24 != recordBytes {
		return fmt.Sprintf("a record has %d bytes, and with an effect it is counted as %d", size, recordBytes)
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
