package ipc

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/types/known/anypb"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/faketime"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// slow returns a mailbox whose window takes one message in each interval.
func slow(interval time.Duration) *mailbox {
	m := &mailbox{outbox: newOutbox(&sharing{}, 0), begin: time.Now(), ended: make(chan error, 1)}
	go func() {
		m.ended <- m.run(func(r *mcphubv1.AttachResponse) error {
			faketime.Pass(interval)
			return m.send(r)
		})
	}()
	return m
}

// count counts the messages that were sent, by what kind says of them.
func (m *mailbox) count(kind func(*mcphubv1.AttachResponse) string) map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := map[string]int{}
	for _, r := range m.sent {
		n[kind(r)]++
	}
	return n
}

func kindOf(r *mcphubv1.AttachResponse) string {
	switch {
	case r.GetMcpRequestProgressed() != nil:
		return "progress"
	case r.GetLogMessage() != nil:
		return "log of " + r.GetLogMessage().GetServer()
	case r.GetDropped() != nil:
		return "dropped"
	}
	return "other"
}

// Finding A6: one server writes 2,000 lines a second for five seconds, to a window that takes a thousand events a
// second. The progress of other servers' calls goes on at its full rate, another server's log messages get through, and
// what was dropped is told.
func TestLogsDoNotStarveProgressNorOtherLogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := slow(time.Millisecond)
		every(500*time.Microsecond, 10_000, func(i int) {
			m.emit(&event.LogMessage{Server: "noisy", Level: "stderr", Data: `"x"`})
			if i%100 == 0 {
				m.emit(progressed("r1", i))
			}
			if i%2000 == 0 {
				m.emit(&event.LogMessage{Server: "quiet", Level: "info", Data: `"y"`})
			}
		})
		n := m.count(kindOf)
		if n["progress"] < 98 || n["log of noisy"] < 3_000 || n["log of quiet"] < 4 || n["dropped"] < 4 {
			t.Errorf("in 5 s the window was sent %v", n)
		}
		m.abandon()
		<-m.ended
	})
}

// Finding A6: the hub reports logs that it dropped in a log message, which is dropped itself when its server's share is
// full. Its count is not lost: the outbox adds it to the number of those that it dropped.
func TestCountOfDroppedLogsIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		m := newMailbox(0, hold)
		m.emit(started("a"))
		synctest.Wait() // its send blocks
		const room = bounds.WindowLogs / 4
		for range room + 10 {
			m.emit(&event.LogMessage{Server: "s", Data: `"x"`})
		}
		for range 3 {
			m.emit(&event.LogMessage{Server: "s", Logger: "mcphub", Data: `{}`, Dropped: 4000})
		}
		m.emit(&event.LogMessage{Server: "other", Logger: "mcphub", Data: `{}`, Dropped: 500})
		close(hold)
		m.end(t)
		n, told := m.count(kindOf), int64(0)
		for _, r := range m.sent {
			told += r.GetDropped().GetLogMessages()
		}
		if n["log of s"] != room || n["log of other"] != 1 || told != 10+3*4000 {
			t.Errorf("the window was sent %v, and told that %d were dropped", n, told)
		}
	})
}

// A window is told of what it lost, even if that is a single message.
func TestOneLostMessageIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		room int
		emit func(m *mailbox, i int)
	}{
		"log": {bounds.WindowLogs / 4, func(m *mailbox, _ int) { m.emit(&event.LogMessage{Server: "s", Data: `"x"`}) }},
		"notice": {bounds.WindowNotices / 4, func(m *mailbox, i int) {
			m.emit(&event.ResourceUpdated{Server: "s", URI: fmt.Sprint("file:///", i)})
		}},
	} {
		synctest.Test(t, func(t *testing.T) {
			hold := make(chan struct{})
			m := newMailbox(0, hold)
			m.emit(started("a"))
			synctest.Wait() // its send blocks
			for i := range c.room + 1 {
				c.emit(m, i)
			}
			close(hold)
			m.end(t)
			told := int64(0)
			for _, r := range m.sent {
				told += r.GetDropped().GetLogMessages() + r.GetDropped().GetNotices()
			}
			if told != 1 {
				t.Errorf("%s: told that %d were lost", name, told)
			}
		})
	}
}

// The other way round: progress of many calls leaves log messages their share.
func TestProgressDoesNotStarveLogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := slow(time.Millisecond)
		every(10*time.Millisecond, 200, func(i int) { // two seconds of 100 calls at 20 a second: twice what the window takes
			for r := range 100 {
				m.emit(progressed(fmt.Sprint("r", r), i))
			}
			m.emit(&event.LogMessage{Server: "s", Data: `"x"`})
		})
		n := m.count(kindOf)
		if n["log of s"] < 150 || n["progress"] < 1400 {
			t.Errorf("in 2 s the window was sent %v", n)
		}
		m.abandon()
		<-m.ended
	})
}

// Finding A4: questions of servers, however long, end no window: the hub bounds those that are open, and one that
// closed before the window was told of it is left out.
func TestLargeQuestionsEndNoWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		m := newMailbox(0, hold)
		text := json.RawMessage(strings.Repeat("x", 8<<20))
		question := func(i int) *event.PromptOpened {
			return &event.PromptOpened{Prompt: event.PromptInfo{ID: fmt.Sprint("p", i), Kind: event.PromptSampling,
				Question: &event.Question{Payload: text}}}
		}
		m.emit(started("a"))
		synctest.Wait()
		for i := range 20_000 { // far more than may wait for a window
			m.emit(question(i))
			if i >= 8 {
				m.emit(&event.PromptClosed{PromptID: fmt.Sprint("p", i), Cause: event.CauseWithdrawn})
			}
		}
		if n := m.queue.len(); n > 3000 {
			t.Errorf("%d places are taken", n)
		}
		close(hold)
		m.end(t)
		n := m.count(func(r *mcphubv1.AttachResponse) string {
			return r.GetPromptOpened().GetPrompt().GetPromptId() + r.GetPromptClosed().GetPromptId()
		})
		for i := range 20_000 {
			if want := map[bool]int{true: 1}[i < 8]; n[fmt.Sprint("p", i)] != want {
				t.Fatalf("question %d was told of %d times, want %d", i, n[fmt.Sprint("p", i)], want)
			}
		}
	})
}

// Finding A4: long results and many notices of a server are left out before they would end a window.
func TestLongResultsAndManyNoticesEndNoWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		m := newMailbox(0, hold)
		m.emit(started("a"))
		synctest.Wait()
		result := strings.Repeat("x", 256<<10)
		for i := range 1000 {
			m.emit(&event.RequestFinished{RequestID: fmt.Sprint("r", i), State: event.StateDone, Result: result,
				ResultSize: len(result)})
		}
		for i := range 20_000 {
			m.emit(&event.ResourceUpdated{Server: "s", URI: fmt.Sprint("file:///", i, strings.Repeat("x", 8<<10))})
		}
		m.emit(&event.ResourceUpdated{Server: "other", URI: "file:///x"})
		close(hold)
		m.end(t)
		whole, updates, others, lost := 0, 0, 0, int64(0)
		for _, r := range m.sent {
			switch u := r.GetResourceUpdated(); {
			case r.GetMcpRequestFinished().GetResultJson() != "":
				whole++
			case u.GetServer() == "s":
				updates++
			case u.GetServer() == "other":
				others++
			}
			lost += r.GetDropped().GetNotices()
		}
		if most := bounds.WindowBytes / 2 / len(result); whole < most-2 || whole > most || others != 1 || updates == 0 ||
			int64(updates)+lost != 20_000 {
			t.Errorf("%d whole results, %d notices, %d told as lost, %d of the other server", whole, updates, lost, others)
		}
	})
}

// A long list is the answer to one order. When much waits for the window already, the order fails, and the window stays
// attached.
func TestALongReplyEndsNoWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		m := newMailbox(0, hold)
		m.emit(started("a"))
		synctest.Wait()
		for i := range 4 {
			m.reply(&mcphubv1.Reply{MessageId: fmt.Sprint(i),
				Response: &anypb.Any{Value: make([]byte, bounds.WindowBytes*5/8)}})
		}
		close(hold)
		m.end(t)
		refused := 0
		for _, r := range m.sent {
			if e := r.GetReply().GetError(); e != nil && e.GetReason() == event.ReasonBoundExceeded {
				refused++
			}
		}
		if refused != 3 {
			t.Errorf("%d of 4 replies were refused of which one finds room", refused)
		}
	})
}

// A model over fake time: random events of several servers to windows of random speed. Must-deliver events come exactly
// once and in their order, and before progress and log messages; of a prompt that was closed, both the opening and the
// closing come, or neither; every log message comes or is counted as dropped.
func TestOutboxModel(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rnd := rand.New(rand.NewPCG(seed, 6))
				interval := time.Duration(1+rnd.IntN(2000)) * time.Microsecond
				m := slow(interval)
				var must []string
				given := map[string]time.Duration{} // when must-deliver events were emitted
				open, logs, closed := []string{}, 0, map[string]bool{}
				for i := range 3000 {
					server := fmt.Sprint("s", rnd.IntN(3))
					switch rnd.IntN(6) {
					case 0:
						id := fmt.Sprint("q", i)
						open = append(open, id)
						m.emit(&event.PromptOpened{Prompt: event.PromptInfo{ID: id, Kind: event.PromptSampling,
							Question: &event.Question{Payload: json.RawMessage(`{}`)}}})
					case 1:
						if n := len(open); n > 0 {
							k := rnd.IntN(n)
							m.emit(&event.PromptClosed{PromptID: open[k]})
							closed[open[k]] = true
							open = append(open[:k], open[k+1:]...)
						}
					case 2:
						id := fmt.Sprint("c", i)
						must = append(must, id)
						given[id] = time.Since(m.begin)
						m.emit(&event.RequestCancelling{RequestID: id})
					case 3:
						m.emit(progressed(server, i))
					default:
						logs++
						m.emit(&event.LogMessage{Server: server, Data: `"x"`})
					}
					if rnd.IntN(4) == 0 {
						faketime.Pass(time.Duration(rnd.IntN(4000)) * time.Microsecond)
					}
				}
				m.end(t)
				var got []string
				seen, gotLogs := map[string]int{}, 0
				for _, r := range m.sent {
					switch {
					case r.GetMcpRequestCancelling() != nil:
						got = append(got, r.GetMcpRequestCancelling().GetRequestId())
					case r.GetPromptOpened() != nil:
						seen[r.GetPromptOpened().GetPrompt().GetPromptId()]++
					case r.GetPromptClosed() != nil:
						seen[r.GetPromptClosed().GetPromptId()] += 10
					case r.GetLogMessage() != nil:
						gotLogs++
					}
					gotLogs += int(r.GetDropped().GetLogMessages())
				}
				if fmt.Sprint(got) != fmt.Sprint(must) {
					t.Errorf("%d events that must be told came, of %d, or in another order", len(got), len(must))
				}
				for id := range closed {
					if n := seen[id]; n != 0 && n != 11 {
						t.Errorf("question %s: %d", id, n)
					}
				}
				for _, id := range open {
					if seen[id] != 1 {
						t.Errorf("open question %s: %d", id, seen[id])
					}
				}
				waits := m.at[len(m.at)-1] // since when the oldest must-deliver event waits that is sent later
				for i := len(m.sent) - 1; i >= 0; i-- {
					r := m.sent[i]
					if c := r.GetMcpRequestCancelling(); c != nil {
						waits = min(waits, given[c.GetRequestId()])
					} else if chosen := m.at[i] - interval; chosen > waits &&
						(r.GetLogMessage() != nil || r.GetMcpRequestProgressed() != nil) {
						t.Errorf("%v was sent at %v, before a must-deliver event of %v", r, chosen, waits)
						break
					}
				}
				if gotLogs != logs {
					t.Errorf("%d log messages came or are counted, of %d", gotLogs, logs)
				}
			})
		})
	}
}

// One server has at most a quarter of what may wait for a window, and all servers together no more than that.
func TestSharesOfAWindow(t *testing.T) {
	for name, size := range map[string]int{"entries": 10, "bytes": bounds.WindowLogBytes / 16} {
		var s shares
		fill := func(server string) (n int) {
			for s.take(server, size, load{bounds.WindowLogs, bounds.WindowLogBytes}, nil) {
				n++
			}
			return n
		}
		quarter := min(bounds.WindowLogs, bounds.WindowLogBytes/size) / 4
		for _, server := range []string{"a", "b", "c", "d"} {
			if n := fill(server); n != quarter {
				t.Errorf("%s: %s may have %d, want %d", name, server, n, quarter)
			}
		}
		if n := fill("e"); n != 0 {
			t.Errorf("%s: %d more than all", name, n)
		}
		for range quarter {
			s.give("a", size, nil)
		}
		if n := fill("e"); n != quarter || len(s.of) != 4 {
			t.Errorf("%s: %d in the place of another server, want %d; %d servers are counted", name, n, quarter, len(s.of))
		}
		s = shares{}
		full, most := bounds.NewBudget("what waits", size, size).Account(""), load{100, 100 * size}
		first, second := s.take("a", size, most, full), s.take("b", size, most, full)
		if !first || second || s.all.entries != 1 {
			t.Errorf("%s: %d entries in a window that has room for one", name, s.all.entries)
		}
	}
}

// A log message that was sent counts no more: a window that reads gets as many as are written, in all its life.
func TestLogsOfAWindowThatReadsAreNeverDropped(t *testing.T) {
	o := newOutbox(&sharing{}, 0)
	line := &event.LogMessage{Server: "s", Data: strings.Repeat("x", bounds.WindowLogBytes/8)}
	for i := range 2 * bounds.WindowBytes / len(line.Data) {
		o.Deliver(event.Event{Seq: uint64(i + 1), Body: line})
		if e, _, _ := o.next(time.Now()); e.event == nil || e.event.event.Seq != uint64(i+1) {
			t.Fatalf("message %d was dropped", i+1)
		}
	}
	if used := o.account.Held(); used != 0 {
		t.Errorf("%d bytes are counted, and nothing waits", used)
	}
}

// What waits for all windows together has a bound. One that reads is never ended as too slow, however many do not: each
// of those ends with the next event.
func TestWindowsShareWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := &sharing{}
		large := &event.ServerChanged{Server: event.ServerInfo{Instructions: strings.Repeat("x", 64<<10)}}
		var stuck []*outbox
		for range 20 {
			o := newOutbox(all, 0)
			stuck = append(stuck, o)
			for i := 0; i < 200 && o.failure() == nil; i++ {
				o.Deliver(event.Event{Seq: uint64(i + 1), Body: large})
			}
			if used := all.waiting.Used(); used > bounds.WindowsBytes {
				t.Fatalf("%d bytes wait for %d windows", used, len(stuck))
			}
		}
		reads := newOutbox(all, 0)
		for i := range 200 {
			reads.Deliver(event.Event{Seq: uint64(i + 1), Body: large})
			if _, _, more := reads.next(time.Now()); !more {
				t.Fatalf("a window that reads was ended: %v", reads.failure())
			}
		}
		for _, o := range append(stuck, reads) {
			o.abandon()
		}
		if used := all.waiting.Used(); used != 0 {
			t.Errorf("%d bytes are still counted after the end of all windows", used)
		}
	})
}
