package clients

import (
	"maps"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/internal/doctor"
)

// begun are the first events of a connection.
func begun(transport, revision string) []Event {
	return []Event{{Conn: 1, Kind: Opened, Transport: transport}, {Conn: 1, Kind: Spoke, Revision: revision}}
}

// after returns events, each a while after the one before it, on the first connection.
func after(d time.Duration, events ...Event) []Event {
	at := time.Unix(0, 0)
	for i := range events {
		at = at.Add(d)
		if events[i].At = at; events[i].Kind != Over && events[i].Conn == 0 {
			events[i].Conn = 1
		}
	}
	return events
}

// What the seeded faults do not show, event by event: what no fault is, and what belongs to HTTP.
func TestJudge(t *testing.T) {
	called := Event{Kind: Requested, ID: "4", Method: "tools/call", Tool: toolSlow}
	other := Event{Kind: Requested, ID: "5", Method: "tools/call", Tool: toolSlow}
	cancel := Event{Kind: Cancelled, ID: "4", Reason: "enough"}
	closed, answered := Event{Kind: Closed, ID: "4"}, Event{Kind: Answered, ID: "4"}
	const legacy, modern = "2025-11-25", "2026-07-28"
	for name, c := range map[string]struct {
		events []Event
		want   map[string]doctor.Level
	}{
		"an answer and a cancel cross": {
			append(begun(doctor.Stdio, legacy), after(100*time.Millisecond, called, answered, cancel)...),
			map[string]doctor.Level{"cancel.order": doctor.Note}},
		"a call that the end found open is none that was given up": {
			append(begun(doctor.Stdio, legacy), after(time.Second, called, Event{Kind: InputEnded}, Event{Kind: Over})...),
			map[string]doctor.Level{"cancel.sent": doctor.Unseen, "end.stdin": doctor.Good, "end.signal": doctor.Mend}},
		"a client that ends soon after a late answer did not die of it": {
			append(begun(doctor.Stdio, legacy), after(time.Second, called, cancel, answered, Event{Kind: InputEnded})...),
			map[string]doctor.Level{"cancel.late": doctor.Unseen}},
		"a client that ends at once did": {
			append(begun(doctor.Stdio, legacy), after(time.Millisecond, called, cancel, answered, Event{Kind: Lost})...),
			map[string]doctor.Level{"cancel.late": doctor.Mend}},
		"a call beside which another one runs was not given up if it is cancelled": {
			append(begun(doctor.Stdio, legacy), after(time.Second, called, other, cancel)...),
			map[string]doctor.Level{"cancel.sent": doctor.Good}},
		"a process is killed": {
			append(begun(doctor.Stdio, legacy), after(time.Second, called, Event{Kind: Lost})...),
			map[string]doctor.Level{"end.stdin": doctor.Mend, "end.signal": ""}},
		"the user ends the play": {
			append(begun(doctor.Stdio, legacy), after(time.Millisecond, called, Event{Kind: Signalled, Name: "SIGINT"},
				Event{Kind: Over, Interrupted: true})...),
			map[string]doctor.Level{"end.stdin": doctor.Unseen, "end.signal": ""}},
		"a probe is not judged": {
			append(append(begun(doctor.Stdio, modern), after(time.Second, called, cancel, Event{Kind: InputEnded},
				Event{Kind: Signalled, Name: "SIGTERM"})...),
				Event{Conn: 2, Kind: Opened, Transport: doctor.Stdio}, Event{Conn: 2, Kind: Spoke, Revision: modern},
				Event{Conn: 2, Kind: Requested, Method: "server/discover"}, Event{Conn: 2, Kind: Lost}),
			map[string]doctor.Level{"end.stdin": doctor.Good, "cancel.sent": doctor.Good}},
		"a stream is closed, which is no cancel yet": {
			append(begun(doctor.HTTP, legacy), after(time.Second, called, closed, other, Event{Kind: Over})...),
			map[string]doctor.Level{"cancel.sent": doctor.Mend, "cancel.once": doctor.Unseen, "end.delete": doctor.Improve}},
		"a stream is closed, which is the cancel": {
			append(begun(doctor.HTTP, modern), after(time.Second, called, closed, other)...),
			map[string]doctor.Level{"cancel.sent": doctor.Good, "cancel.late": doctor.Good, "cancel.once": ""}},
		"a notification alone is not enough": {
			append(begun(doctor.HTTP, modern), after(time.Second, called, cancel)...),
			map[string]doctor.Level{"cancel.sent": doctor.Mend}},
		"a stream that ends with the program was not closed": {
			append(begun(doctor.HTTP, modern), after(100*time.Millisecond, called, closed, Event{Kind: Over})...),
			map[string]doctor.Level{"cancel.sent": doctor.Unseen}},
		"two POSTs overtake one another": {
			append(begun(doctor.HTTP, legacy), after(time.Millisecond, cancel, called)...),
			map[string]doctor.Level{"cancel.order": doctor.Improve, "cancel.id": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			got, all := map[string]doctor.Level{}, Judge(c.events)
			for _, f := range all {
				if _, asked := c.want[f.Check]; asked {
					got[f.Check] = f.Level
				}
			}
			maps.DeleteFunc(c.want, func(_ string, level doctor.Level) bool { return level == "" })
			if !maps.Equal(got, c.want) {
				t.Errorf("found %v, want %v: %v", got, c.want, all)
			}
		})
	}
}
