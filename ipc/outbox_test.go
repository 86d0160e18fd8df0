package ipc

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/faketime"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// mailbox is an outbox that keeps the messages that it sends. Use it in a synctest bubble; end waits for its goroutine.
type mailbox struct {
	*outbox
	seq   uint64
	begin time.Time
	ended chan error
	hold  chan struct{} // when not nil, every send waits for a token, or until it is closed

	mu   sync.Mutex // guards below
	sent []*mcphubv1.AttachResponse
	at   []time.Duration
}

func newMailbox(rate int32, hold chan struct{}) *mailbox {
	m := &mailbox{outbox: newOutbox(&sharing{}, rate), begin: time.Now(), ended: make(chan error, 1), hold: hold}
	go func() { m.ended <- m.run(m.send) }()
	return m
}

func (m *mailbox) send(r *mcphubv1.AttachResponse) error {
	if m.hold != nil {
		<-m.hold
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sent = append(m.sent, r)
	m.at = append(m.at, time.Since(m.begin))
	return nil
}

func (m *mailbox) emit(bodies ...event.Body) {
	for _, b := range bodies {
		m.seq++
		m.Deliver(event.Event{Seq: m.seq, Time: time.Now(), Body: b})
	}
}

// end waits until everything is sent.
func (m *mailbox) end(t *testing.T) {
	t.Helper()
	m.finish(nil)
	if err := <-m.ended; err != nil {
		t.Errorf("the outbox ended with %v", err)
	}
}

// progressOf returns the values of a request's progress, and when they were sent.
func (m *mailbox) progressOf(id string) (values []float64, at []time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, r := range m.sent {
		if p := r.GetMcpRequestProgressed(); p.GetRequestId() == id {
			values = append(values, p.GetProgress().GetProgress())
			at = append(at, m.at[i])
		}
	}
	return values, at
}

// every calls f n times, one interval apart, starting at once.
func every(interval time.Duration, n int, f func(i int)) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for i := range n {
		if i > 0 {
			<-tick.C
		}
		f(i)
		synctest.Wait()
	}
}

func TestOutboxCoalescesProgress(t *testing.T) {
	for rate, want := range map[int32]int{0: 20, 20: 20, 5: 5, 1: 1} {
		t.Run(fmt.Sprint("rate ", rate), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMailbox(rate, nil)
				m.emit(started("a"), started("b"))
				every(time.Millisecond, 1000, func(i int) { m.emit(progressed("a", i), progressed("b", -i)) })
				for id, sign := range map[string]float64{"a": 1, "b": -1} {
					values, at := m.progressOf(id)
					if len(values) != want {
						t.Errorf("%s: %d progress events in a second, want %d", id, len(values), want)
					}
					interval := time.Second / time.Duration(want)
					for i := range values {
						if at[i] != time.Duration(i)*interval { // the first at once, then evenly
							t.Errorf("%s: event %d after %v, want %v", id, i, at[i], time.Duration(i)*interval)
						}
						// The newest value is sent; one reported at the instant of the send may be in it or not.
						newest := float64(at[i] / time.Millisecond)
						if v := values[i] * sign; v != newest && v != newest-1 {
							t.Errorf("%s: value %v after %v, want the newest", id, v, at[i])
						}
					}
				}
				m.end(t)
			})
		})
	}
}

// The last value is sent when the interval is over, though no other follows it.
func TestOutboxSendsLastProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMailbox(20, nil)
		m.emit(started("a"))
		for i := range 10 {
			m.emit(progressed("a", i))
			synctest.Wait()
		}
		<-time.After(time.Minute)
		values, at := m.progressOf("a")
		if diff := cmp.Diff([]float64{0, 9}, values); diff != "" || at[1] != 50*time.Millisecond {
			t.Errorf("values %v at %v, want 0 at once and 9 after 50ms", values, at)
		}
		m.emit(progressed("a", 10)) // after a rest, the next goes at once
		synctest.Wait()
		if values, at = m.progressOf("a"); len(at) != 3 || at[2] != time.Minute || values[2] != 10 {
			t.Errorf("after a rest: values %v at %v, want the third after 1m", values, at)
		}
		m.end(t)
	})
}

func TestOutboxFlushesBeforeTerminal(t *testing.T) {
	ends := map[string]event.Body{
		"mcpRequestFinished":   finished("a"),
		"mcpRequestCancelled":  &event.RequestCancelled{RequestID: "a"},
		"mcpRequestCancelling": &event.RequestCancelling{RequestID: "a"},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMailbox(20, nil)
				m.emit(started("a"), started("b"), progressed("a", 1), progressed("b", 1))
				synctest.Wait()
				m.emit(progressed("a", 2), progressed("b", 2), progressed("a", 3), end)
				synctest.Wait()
				want := "mcpRequestStarted mcpRequestStarted" + strings.Repeat(" mcpRequestProgressed", 3) + " " + name
				if got := shape(m.sent); got != want {
					t.Errorf("got %s", got)
				}
				if values, at := m.progressOf("a"); !slices.Equal(values, []float64{1, 3}) || at[1] != 0 {
					t.Errorf("progress %v at %v, want 3 flushed at once", values, at)
				}
				<-time.After(time.Second)
				if values, _ := m.progressOf("a"); len(values) != 2 {
					t.Errorf("progress %v after the end", values)
				}
				if values, _ := m.progressOf("b"); !slices.Equal(values, []float64{1, 2}) { // sent late, with a number of its own
					t.Errorf("progress of the other %v, want 1 and 2", values)
				}
				m.end(t)
				if n := len(m.pace.slots); n != 0 {
					t.Errorf("%d requests are still remembered", n)
				}
			})
		})
	}
}

// A request that gets the id of one that has ended is paced by its own progress alone.
func TestOutboxPacesAnIDUsedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMailbox(10, nil)
		at := func(ms int, bodies ...event.Body) {
			faketime.Pass(time.Duration(ms)*time.Millisecond - time.Since(m.begin))
			m.emit(bodies...)
			synctest.Wait()
		}
		at(0, started("a"), progressed("a", 1))
		at(10, finished("a"), started("a"))
		at(20, progressed("a", 2))
		at(105, progressed("a", 3))
		at(125, progressed("a", 4))
		<-time.After(time.Second)
		values, sent := m.progressOf("a")
		want := []time.Duration{0, 20 * time.Millisecond, 120 * time.Millisecond, 220 * time.Millisecond}
		if !slices.Equal(values, []float64{1, 2, 3, 4}) || !slices.Equal(sent, want) {
			t.Errorf("progress %v at %v, want each of 4 at %v", values, sent, want)
		}
		m.end(t)
	})
}

// However often logs are dropped, the window is told so at most once a second, and the counts add up.
func TestOutboxTellsDroppedOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		m := newMailbox(20, hold)
		const burst = bounds.WindowLogs/4 + 8
		overflow := func() { // one message is in the stuck send, a quarter of bounds.WindowLogs waits, the others are dropped
			m.emit(&event.LogMessage{Server: "s"})
			synctest.Wait()
			for range burst - 1 {
				m.emit(&event.LogMessage{Server: "s"})
			}
		}
		every(100*time.Millisecond, 30, func(int) {
			overflow()
			for stuck := true; stuck; synctest.Wait() { // let out all that can go now
				select {
				case hold <- struct{}{}:
				default:
					stuck = false
				}
			}
		})
		told := func() (at []time.Duration, sum int) { // sum: log messages that came or were dropped
			m.mu.Lock()
			defer m.mu.Unlock()
			for i, r := range m.sent {
				if d := r.GetDropped(); d != nil {
					at = append(at, m.at[i])
					sum += int(d.GetLogMessages())
				}
				if r.GetLogMessage() != nil {
					sum++
				}
			}
			return at, sum
		}
		if at, _ := told(); !slices.Equal(at, []time.Duration{0, time.Second, 2 * time.Second}) {
			t.Errorf("told at %v, want once a second", at)
		}
		close(hold)
		<-time.After(time.Second)
		if at, sum := told(); len(at) != 4 || sum != 30*burst {
			t.Errorf("told at %v; log messages that came and those told of are %d, want a fourth time and %d", at, sum, 30*burst)
		}
		m.end(t)
	})
}

// TestDroppedBeforeTheStart: logs that are dropped before the window's stream has begun are told after its welcome,
// which is the first message by the contract.
func TestDroppedBeforeTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &mailbox{outbox: newOutbox(&sharing{}, 0), begin: time.Now(), ended: make(chan error, 1)}
		for range bounds.WindowLogs + 9 {
			m.emit(&event.LogMessage{Server: "s", Data: `"x"`})
		}
		m.outbox.begin([]entry{
			{message: &mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_Welcome{Welcome: &mcphubv1.Welcome{}}}},
			{message: &mcphubv1.AttachResponse{
				Event: &mcphubv1.AttachResponse_Snapshot{Snapshot: &mcphubv1.Snapshot{}}}},
		})
		go func() { m.ended <- m.run(m.send) }()
		m.end(t)
		var kinds []string
		for _, r := range m.sent[:3] {
			kinds = append(kinds, fmt.Sprintf("%T", r.GetEvent()))
		}
		want := []string{"*mcphubv1.AttachResponse_Welcome", "*mcphubv1.AttachResponse_Snapshot",
			"*mcphubv1.AttachResponse_Dropped"}
		if diff := cmp.Diff(want, kinds); diff != "" {
			t.Errorf("the first messages differ (-want +got):\n%s", diff)
		}
	})
}

func TestOutboxBounds(t *testing.T) {
	tooSlow := func(t *testing.T, m *mailbox) {
		t.Helper()
		select {
		case <-m.tooSlow:
		default:
			t.Fatal("the window was not ended")
		}
		if e, ok := errors.AsType[*event.Error](m.failure()); !ok || e.Code != event.CodeResourceExhausted ||
			e.Reason != event.ReasonWindowTooSlow {
			t.Errorf("got %v, want RESOURCE_EXHAUSTED WINDOW_TOO_SLOW", m.failure())
		}
	}
	fill := func(t *testing.T, m *mailbox, n int, b event.Body) {
		t.Helper()
		m.emit(started("stuck"))
		synctest.Wait()
		for range n {
			m.emit(b)
		}
		select {
		case <-m.tooSlow:
			t.Fatal("the window was ended too early")
		default:
		}
	}
	release := func(m *mailbox) { close(m.hold); <-m.ended }
	t.Run("entries", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := newMailbox(20, make(chan struct{}))
			fill(t, m, bounds.WindowQueue, &event.PromptClosed{PromptID: "p"})
			m.emit(&event.PromptClosed{PromptID: "p"})
			tooSlow(t, m)
			m.emit(&event.PromptClosed{PromptID: "p"}) // must not close tooSlow again
			release(m)
		})
	})
	t.Run("bytes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := newMailbox(20, make(chan struct{}))
			big := &event.ServerChanged{Server: event.ServerInfo{Instructions: strings.Repeat("x", 1<<20)}}
			fill(t, m, bounds.WindowBytes>>20-1, big)
			m.emit(big)
			tooSlow(t, m)
			release(m)
		})
	})
	t.Run("one large event", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := newMailbox(20, make(chan struct{}))
			fill(t, m, 1, &event.ServerChanged{Server: event.ServerInfo{Instructions: strings.Repeat("x", bounds.WindowBytes+
				1)}})
			close(m.hold)
			m.end(t)
		})
	})
	t.Run("progress needs no room", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := newMailbox(20, make(chan struct{}))
			m.emit(started("a"))
			synctest.Wait()
			for i := range 3 * bounds.WindowQueue {
				m.emit(progressed("a", i))
			}
			close(m.hold)
			m.end(t)
			if values, _ := m.progressOf("a"); !slices.Equal(values, []float64{3*bounds.WindowQueue - 1}) {
				t.Errorf("progress %v, want the newest alone", values)
			}
		})
	})
}

func TestOutboxSendFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		o := newOutbox(&sharing{}, 0)
		o.Deliver(event.Event{Seq: 1, Body: started("a")})
		if err := o.run(func(*mcphubv1.AttachResponse) error { return broken }); err != broken {
			t.Errorf("got %v, want the error of send", err)
		}
		o.Deliver(event.Event{Seq: 2, Body: finished("a")}) // must not be kept: the outbox has ended
		if o.queue.len() != 0 {
			t.Error("an event was kept after the end")
		}
	})
}

// Windows that are told of one event share its conversion.
func TestConversionIsShared(t *testing.T) {
	s := &sharing{}
	e := event.Event{Seq: 7, Time: time.Unix(1, 0), Body: started("a")}
	one, two := s.of(e), s.of(e)
	if one != two {
		t.Fatal("the same event was converted twice")
	}
	if a, b := one.converted(), two.converted(); a != b || a.GetMcpRequestStarted() == nil {
		t.Errorf("got %v and %v", a, b)
	}
	if other := s.of(event.Event{Seq: 8, Body: started("a")}); other == one {
		t.Error("another event got the same form")
	}
}

func TestFIFO(t *testing.T) {
	var q fifo[int]
	in, out := 0, 0
	for round := range 200 { // grows, shrinks, empties
		for range (round * 7) % 97 {
			q.push(in)
			in++
		}
		for range min(q.len(), (round*11)%101) {
			if p := q.peek(); p != out {
				t.Fatalf("peek %d, want %d", p, out)
			}
			if v := q.pop(); v != out {
				t.Fatalf("pop %d, want %d", v, out)
			}
			out++
		}
	}
	if q.len() != in-out {
		t.Errorf("length %d, want %d", q.len(), in-out)
	}
	for range 100_000 { // it is never empty
		q.push(in)
		q.pop()
	}
	if cap(q.items) > 4*(in-out)+1024 {
		t.Errorf("it holds %d places for %d elements", cap(q.items), in-out)
	}
}
