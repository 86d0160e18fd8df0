package hub_test

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// journaled returns the numbers of the events that no window may miss, except those of opened prompts, which depend on
// what a window can show.
func (v *view) journaled() []uint64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	var list []uint64
	for _, e := range v.events {
		switch e.Body.(type) {
		case *event.RequestProgressed, *event.LogMessage, *event.PromptOpened:
			continue
		}
		list = append(list, e.Seq)
	}
	return list
}

// check waits until every clock has run out, and then checks what must hold after any history.
func (m *model) check() {
	pass(time.Hour)
	defer func() {
		if m.t.Failed() {
			m.t.Logf("the history:\n\t%s", strings.Join(m.history, "\n\t"))
		}
	}()
	for _, c := range m.calls {
		if !c.over() {
			m.t.Errorf("call %s never ended; open are %+v", c.id, m.w.hub.Requests(""))
			m.t.Errorf("prompts that nobody has closed: %s; servers %+v", m.w.hub.Leftovers(), m.w.server("legacy"))
			m.w.hub.Drain(context.Background(), "")
			return
		}
		c.stop(nil)
	}
	m.background.Wait()
	if left := m.w.hub.Leftovers(); left != "" {
		m.t.Errorf("left over: %s", left)
	}
	m.checkRequests()
	m.checkPrompts()
	m.checkWindows()
	m.checkHistory()
	if err := m.w.hub.Close(context.Background()); err != nil {
		m.t.Error(err)
	}
	m.checkStarts()
	m.checkWire(m.legacy, "legacy")
	m.checkWire(m.modern, "modern")
}

// checkRequests checks that each request that began has ended once, and that the caller was told the same as the
// windows.
func (m *model) checkRequests() {
	ends := m.witness.terminals()
	started := map[string]bool{}
	for _, s := range eventsOf[*event.RequestStarted](m.witness) {
		id := s.Request.ID
		if started[id] {
			m.t.Errorf("request %s began twice", id)
		}
		started[id] = true
		if n := len(strings.Fields(ends[id])); n != 1 {
			m.t.Errorf("request %s ended %d times: %q", id, n, ends[id])
		}
	}
	for id := range ends {
		if !started[id] {
			m.t.Errorf("request %s ended and never began", id)
		}
	}
	for _, c := range m.calls {
		e := event.AsError(c.err)
		want := "failed "
		switch {
		case e == nil && c.result.Error == nil:
			want = "done "
		case e != nil && (e.Reason == event.ReasonCancelled || e.Code == event.CodeDeadlineExceeded &&
			e.Reason != event.ReasonConnectTimeout):
			want = "cancelled "
		case e != nil && e.Reason == "INTERNAL":
			m.t.Errorf("call %s: an internal error: %v", c.id, e.Err)
		}
		if e != nil && e.Reason == event.ReasonHumanTimeout && ends[c.id] == "failed " {
			want = "failed " // the question was about the launch of the server
		}
		if got := ends[c.id]; started[c.id] && got != want || !started[c.id] && e == nil {
			m.t.Errorf("call %s: the caller was told %v, the windows %q", c.id, c.err, got)
		}
	}
}

// checkPrompts checks that every prompt that a window was shown has closed once.
func (m *model) checkPrompts() {
	closed := map[string]int{}
	for _, c := range eventsOf[*event.PromptClosed](m.witness) {
		closed[c.PromptID]++
	}
	for id, n := range closed {
		if n != 1 {
			m.t.Errorf("prompt %s closed %d times", id, n)
		}
	}
	for _, w := range m.windows {
		for _, v := range []*view{w.view, w.last} {
			if v == nil {
				continue
			}
			for id := range v.open {
				if closed[id] != 1 {
					m.t.Errorf("prompt %s, shown in %s, closed %d times", id, w.id, closed[id])
				}
			}
			if v == w.view {
				v.noPrompt()
			}
		}
	}
}

// checkHistory checks that a window that comes late is told the same ends as the witness, in the same order, with the
// outcomes of their cancels, and that the outcome of each pending cancel was told once.
func (m *model) checkHistory() {
	var ends []event.Body
	place := map[string]int{}
	for _, e := range m.witness.events {
		switch b := e.Body.(type) {
		case *event.RequestCancelled:
			m.happened.add("a cancel that is " + b.Sending.Delivery.String())
			place[b.RequestID] = len(ends)
			ends = append(ends, b)
		case *event.RequestFinished:
			ends = append(ends, b)
		case *event.RequestCancelDelivery:
			i, known := place[b.RequestID]
			if !known || ends[i].(*event.RequestCancelled).Sending.Delivery != event.DeliveryPending ||
				b.Sending.Delivery == event.DeliveryPending {
				m.t.Errorf("the outcome of a cancel was told that was not on its way: %+v", b)
				continue
			}
			m.happened.add("a cancel that was pending and is " + b.Sending.Delivery.String())
			now := *ends[i].(*event.RequestCancelled)
			now.Sending = b.Sending
			ends[i] = &now
		case *event.RequestAnsweredLate:
			i, known := place[b.RequestID]
			if !known || ends[i].(*event.RequestCancelled).Late != nil {
				m.t.Errorf("a late answer was told that belongs to no cancelled request, or for the second time: %+v", b)
				continue
			}
			m.happened.add("a late answer")
			ends[i] = ends[i].(*event.RequestCancelled).AnsweredLate(b.Answer)
		}
	}
	for _, e := range ends {
		if c, ok := e.(*event.RequestCancelled); ok && c.Sending.Delivery == event.DeliveryPending {
			m.t.Errorf("the outcome of the cancel of %s was never told", c.RequestID)
		}
	}
	history := m.w.history(1000)
	if !slices.EqualFunc(history, ends, func(e event.Ended, b event.Body) bool { return reflect.DeepEqual(e.Body, b) }) {
		m.t.Errorf("the history has %v, and the witness was told of %d ends", endedIDs(history), len(ends))
	}
}

// checkStarts checks that a server of a workspace was started only after a person had agreed to it, and with an input
// value that a person had given.
func (m *model) checkStarts() {
	for _, s := range m.w.started() {
		if m.happened.add("a start as " + s.Origin.Scope); !m.agreed[s.Name] {
			m.t.Errorf("%s was started, and nobody has agreed to it", s.Name)
		}
		if value := s.Env["V"]; value != nil {
			if m.happened.add("a start with an input"); *value != "red" {
				m.t.Errorf("%s was started with %q", s.Name, *value)
			}
		}
	}
}

// checkWindows checks that each window was told every event that the witness was told, from w.since until the window
// left for good. The witness never left.
func (m *model) checkWindows() {
	all := m.witness.journaled()
	for _, w := range m.windows {
		last := cmp.Or(w.view, w.last)
		if last == nil {
			continue
		}
		told := last.journaled()
		var want []uint64
		for _, seq := range all {
			if seq > w.since && (w.view != nil || seq <= last.seq) {
				want = append(want, seq)
			}
		}
		if !slices.Equal(told, want) {
			m.t.Errorf("window %s was told %v, and another one %v (since %d)", w.id, told, want, w.since)
		}
	}
}

// checkWire checks the messages that a server got: at most one cancel for each wire id, only for a request of that
// connection, and never for a start or a call that asked for a task; no response to a withdrawn question, and none at
// all to a modern server; at most one cancel of each task on each connection.
func (m *model) checkWire(s *fakeserver.Server, name string) {
	asked := map[string]string{} // method by connection and id
	cancelled := map[string]int{}
	answered := map[string]int{}
	tasks := map[string]int{}
	for _, r := range s.Received() {
		switch key := func(id []byte) string { return fmt.Sprintf("%d %s", r.Conn, id) }; {
		case r.IsRequest():
			asked[key(r.ID)] = r.Method
			if r.Param("task") != nil {
				asked[key(r.ID)] = "initialize" // must not be cancelled either
			}
			if r.Method == "tasks/cancel" {
				if tasks[key(r.Param("taskId"))]++; tasks[key(r.Param("taskId"))] > 1 {
					m.t.Errorf("%s: task %s was cancelled twice", name, r.Param("taskId"))
				}
			}
		case r.Method == "notifications/cancelled":
			k := key(r.Param("requestId"))
			cancelled[k]++
			if method := asked[k]; method == "" || method == "initialize" || method == "server/discover" || cancelled[k] > 1 {
				m.t.Errorf("%s: cancel no. %d of %q, which is %q", name, cancelled[k], k, method)
			}
		case r.IsResponse():
			answered[string(r.ID)]++ // the ids of questions that can be withdrawn are never used again
			answered[key(r.ID)]++
		case r.Malformed:
			m.t.Errorf("%s got %s", name, r.Raw)
		}
	}
	for id, n := range answered {
		if n > 1 && strings.Contains(id, " ") || name == "modern" {
			m.t.Errorf("%s: %s was answered %d times", name, id, n)
		}
	}
	for _, e := range eventsOf[*event.RequestCancelled](m.witness) {
		if e.Direction == event.Incoming && e.Cancellation.Origin == event.OriginServer && answered[e.WireID] > 0 {
			m.t.Errorf("%s: %s was withdrawn and answered", name, e.WireID)
		}
	}
}
