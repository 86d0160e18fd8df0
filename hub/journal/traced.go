package journal

import (
	"slices"
	"sort"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/redact"
)

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
	records, omitted, traceID := t.copied()
	sort.Slice(records, func(i, j int) bool { return records[i].seq < records[j].seq })
	for _, r := range records {
		if r.what != 0 {
			entries = append(entries, r.entry(t.of.began))
		}
	}
	return entries, omitted, traceID
}

func (t *Timeline) copied() (records []record, omitted int, traceID string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	records = slices.Clone(t.records)
	if t.step != nil {
		records = append(records, *t.step)
	}
	return records, t.omitted, t.traceID
}

func (r *record) entry(began time.Time) event.TraceEntry {
	e := event.TraceEntry{Time: began.Add(r.at)}
	switch r.what {
	case recordState:
		e.State = event.RequestState(r.state)
	case recordMessage:
		m := &event.TraceMessage{
			Direction: event.Incoming, Type: r.kind.String(), Method: r.method, WireID: r.id, Bytes: int(r.bytes),
			Dropped: r.unread,
		}
		m.ErrorCode, _ = r.detail.(int64)
		if r.outgoing {
			m.Direction = event.Outgoing
		}
		e.Message = m
	case recordCancel:
		e.Cancellation, _ = r.detail.(*event.Cancellation)
	case recordPrompt:
		e.Prompt = &event.TracePrompt{PromptID: r.id, Kind: event.PromptKind(r.prompt), Cause: event.PromptCause(r.cause)}
	case recordError:
		e.Err, _ = r.detail.(*event.Error)
	case recordDelivery:
		e.Sending, _ = r.detail.(*event.Sending)
	}
	return e
}
