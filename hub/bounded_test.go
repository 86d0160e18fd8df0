package hub_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
	"github.com/mcphub-go/mcphub/internal/faketime"
)

// notes returns the hub's own log messages that name that event.
func notes(v *view, name string) (list []string) {
	for _, e := range eventsOf[*event.LogMessage](v) {
		if e.Logger == "mcphub" && strings.Contains(e.Data, `"`+name+`"`) {
			list = append(list, e.Data)
		}
	}
	return list
}

// form returns the params of an elicitation whose message has that many bytes.
func form(bytes int) string {
	return fmt.Sprintf(`{"message":%q,"requestedSchema":{"type":"object","properties":{}}}`, strings.Repeat("x", bytes))
}

// sample returns the params of a sampling request of about that many bytes.
func sample(bytes int) string {
	return fmt.Sprintf(`{"messages":[{"role":"user","content":{"type":"text","text":%q}}],"maxTokens":1}`,
		strings.Repeat("x", bytes))
}

// Finding A4: a question that is too large is refused, and no window shows it. People are told, and the server stays
// usable.
func TestAQuestionThatIsTooLargeIsItsServersLoss_amount(t *testing.T) {
	for name, c := range map[string]struct{ method, params string }{
		"elicitation": {elicitation, form(256 << 10)},
		"sampling":    {"sampling/createMessage", sample(8 << 20)},
	} {
		subtest(t, name, func(t *testing.T) {
			a := asking(c.method, c.params)
			w, v := withWindow(t, a.Server)
			call := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "ask"})
			<-call.done
			if got := textOf(t, call.result); !strings.HasPrefix(got, "error -32602:") || !strings.Contains(got, "may have") {
				t.Errorf("the server got %s", got)
			}
			if n := len(eventsOf[*event.PromptOpened](v)); n != 0 {
				t.Errorf("%d questions were shown", n)
			}
			if said := notes(v, "questionTooLarge"); len(said) != 1 {
				t.Errorf("people were told %q", said)
			}
			w.begin("", "echo").ok(t)
		})
	}
}

// Finding A4: the open questions of one server are bounded in bytes. Other servers can ask nevertheless, and closed
// questions do not count any more.
func TestOpenQuestionsAreBoundedInBytes_amount(t *testing.T) {
	bubble(t, func(t *testing.T) {
		greedy, other := fakeserver.New(), asking(elicitation, formParams)
		refused, large := make(chan string, 64), sample(5<<20)
		greedy.Tool("ask", func(c *fakeserver.CallContext) {
			for range 4 {
				q := c.Request("sampling/createMessage", large)
				go func() {
					if m, ok := <-q.Response(); ok && m.Error != nil {
						refused <- m.Error.Message
					}
				}()
			}
			_ = c.Hang()
		})
		w := newWorld(t, map[string]*fakeserver.Server{"greedy": greedy, "other": other.Server}, "greedy:"+allow, "other:"+
			allow)
		v := w.everything()
		w.call(hub.CallRequest{ID: "g", Server: "greedy", Tool: "ask"})
		synctest.Wait()
		bytes := 0
		for _, e := range eventsOf[*event.PromptOpened](v) {
			bytes += event.PayloadSize(e)
		}
		if bytes > bounds.ServerQuestionBytes || bytes < 5<<20 || len(refused) != 3 {
			t.Errorf("%d bytes are open, %d were refused", bytes, len(refused))
		}
		if text := <-refused; !strings.Contains(text, `server "greedy"`) || !strings.Contains(text, "open questions") {
			t.Errorf("refused with %q", text)
		}
		c := w.call(hub.CallRequest{ID: "o", Server: "other", Tool: "ask"})
		synctest.Wait()
		for _, id := range v.openIDs() {
			v.answer(event.PromptAnswer{PromptID: id, Action: event.ActionAccept, Content: formYes})
		}
		c.ok(t)
		if _, err := w.hub.CancelRequest("g", "", "", event.OriginUser); err != nil {
			t.Fatal(err)
		}
		pass(2 * time.Second) // the hub waits a moment for withdrawals
		if held := w.hub.HeldBytes("greedy"); held.Questions != 0 {
			t.Errorf("%d bytes of closed questions are still counted", held.Questions)
		}
	})
}

// Finding A7: after a few Noes in a row a server has to wait, longer each time. A new call ends the wait, and after a
// Yes the server may ask as at first.
func TestAServerThatAsksAgainAfterEachNoHasToWait(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := fakeserver.New()
		s.Tool("nag", func(c *fakeserver.CallContext) {
			// After a minute it asks less often, or 20 minutes would be 24,000 questions.
			for begin, pause := time.Now(), 50*time.Millisecond; ; {
				q := c.Request(elicitation, formParams)
				select {
				case <-q.Response():
				case <-c.Cancelled():
					return
				}
				if time.Since(begin) > time.Minute {
					pause = 500 * time.Millisecond
				}
				faketime.Pass(pause)
			}
		})
		w, v := withWindow(t, s)
		w.call(hub.CallRequest{ID: "r", Server: "s", Tool: "nag"})
		shown := func(during, step time.Duration) (n int) {
			before := len(eventsOf[*event.PromptOpened](v))
			for end := time.Now().Add(during); time.Now().Before(end); pass(step) {
				for _, id := range v.openIDs() {
					v.answer(event.PromptAnswer{PromptID: id, Action: event.ActionDecline})
				}
			}
			return len(eventsOf[*event.PromptOpened](v)) - before
		}
		first, later := shown(time.Minute, 100*time.Millisecond), shown(20*time.Minute, 5*time.Second)
		if first > 10 || first < 4 || later > 10 {
			t.Errorf("%d questions in the first minute, %d in the 20 minutes after it", first, later)
		}
		pass(time.Second)
		before := len(eventsOf[*event.PromptOpened](v))
		w.call(hub.CallRequest{ID: "r2", Server: "s", Tool: "nag"})
		pass(100 * time.Millisecond)
		if len(eventsOf[*event.PromptOpened](v)) == before {
			t.Error("a new call may not ask")
		}
		shown(time.Minute, 100*time.Millisecond)
		for end := time.Now().Add(bounds.RefusalMaxPause); len(v.openIDs()) == 0 && time.Now().Before(end); {
			pass(time.Second) // the server has to wait again
		}
		for _, id := range v.openIDs() {
			v.answer(event.PromptAnswer{PromptID: id, Action: event.ActionAccept, Content: formYes})
		}
		if n := shown(3*time.Second, 100*time.Millisecond); n <= bounds.RefusalsFree {
			t.Errorf("%d questions in the 3 s after a Yes, want more than %d", n, bounds.RefusalsFree)
		}
		for _, id := range []string{"r", "r2"} {
			_, _ = w.hub.CancelRequest(id, "", "", event.OriginUser)
		}
		synctest.Wait()
	})
}

// Finding A5: a list is bounded in bytes and in the number of its entries. The error names the server and the bound,
// and nothing of the list is kept.
func TestAListThatIsTooLongIsItsServersLoss_amount(t *testing.T) {
	for name, c := range map[string]struct {
		entry string
		n     int // entries in a page
		want  string
	}{
		"bytes": {`{"name":"t","description":"` + strings.Repeat("x", 64<<10) + `","inputSchema":{"type":"object"}}`, 64,
			"16 MiB"},
		"entries": {`{"name":"t"}`, 20_000, "entries"},
	} {
		subtest(t, name, func(t *testing.T) {
			s, pages := fakeserver.New(), 0
			entries := strings.TrimSuffix(strings.Repeat(c.entry+",", c.n), ",")
			s.Handle("tools/list", func(c *fakeserver.CallContext) {
				pages++
				c.Result(fmt.Sprintf(`{"tools":[%s],"nextCursor":"%d"}`, entries, pages))
			})
			w := newWorld(t, serversOf("s", s), "s:"+allow)
			_, _, err := w.hub.Tools(t.Context(), "s")
			e := event.AsError(err)
			if err == nil || e.Code != event.CodeResourceExhausted || e.Reason != event.ReasonBoundExceeded ||
				!strings.Contains(e.Message, `server "s"`) || !strings.Contains(e.Message, c.want) {
				t.Errorf("err = %v", err)
			}
			if held := w.hub.HeldBytes("s"); held.Lists != 0 {
				t.Errorf("%d bytes of the refused list are still counted", held.Lists)
			}
		})
	}
}

// openIDs returns the ids of the open prompts for forms, once nothing moves.
func (v *view) openIDs() (ids []string) {
	synctest.Wait()
	v.mu.Lock()
	defer v.mu.Unlock()
	for id, open := range v.open {
		if open && v.opened(id).Kind == event.PromptElicitationForm {
			ids = append(ids, id)
		}
	}
	return ids
}

// opened returns the prompt that was opened with an id, or the zero value. v.mu is held.
func (v *view) opened(id string) event.PromptInfo {
	for _, e := range v.events {
		if b, ok := e.Body.(*event.PromptOpened); ok && b.Prompt.ID == id {
			return b.Prompt
		}
	}
	return event.PromptInfo{}
}

// Finding A6: the log messages of a server are bounded per second, and the windows are told how many were left out.
// Each message is bounded, too.
func TestLogsOfAServerAreBoundedAndCounted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		w, v := withWindow(t, s)
		w.begin("", "echo").ok(t)
		for range 5000 {
			w.stderr["s"]("a line")
		}
		pass(10 * time.Second)
		w.stderr["s"]("the last")
		lines := 0
		for _, e := range eventsOf[*event.LogMessage](v) {
			if e.Level == "stderr" {
				lines++
			}
		}
		if lines > 1001 || lines < 900 {
			t.Errorf("%d lines of 5001 were shown", lines)
		}
		if said := notes(v, "logMessagesDropped"); len(said) != 1 || !strings.Contains(said[0], `"4000"`) {
			t.Errorf("people were told %q", said)
		}
		for _, m := range eventsOf[*event.LogMessage](v) { // for windows that do not get the message
			if want := map[bool]int64{true: 4000}[m.Logger == "mcphub"]; m.Dropped != want {
				t.Errorf("%d dropped, want %d: %s", m.Dropped, want, m.Data)
			}
		}
		s.Notify("notifications/message", `{"level":"info","data":"`+strings.Repeat("x", 1<<20)+`"}`)
		synctest.Wait()
		if m := last[*event.LogMessage](v); m.Level != "info" || len(m.Data) > 64<<10 ||
			!strings.HasPrefix(m.Data, `"\"xxx`) {
			t.Errorf("a message of %d bytes: %.40s", len(m.Data), m.Data)
		}
	})
}

// Finding A4: a snapshot is bounded, however much servers send. The prompts that do not fit in it follow as events.
func TestASnapshotIsBounded_amount(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := fakeserver.New()
		large := sample(4 << 20)
		s.Tool("ask", func(c *fakeserver.CallContext) {
			c.Request(elicitation, formParams)
			c.Request("sampling/createMessage", large)
			c.Request("sampling/createMessage", large)
			_ = c.Hang()
		})
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		w.everything() // the window in which the questions open
		c := w.begin("r", "ask")
		for range 100 {
			w.stderr["s"](strings.Repeat("x", 8<<10))
		}
		late := w.everything()
		snap, more := late.start.Snapshot, late.start.Events
		if len(snap.Prompts) != 1 || len(more) != 2 {
			t.Fatalf("%d questions in the snapshot, %d events after it", len(snap.Prompts), len(more))
		}
		for i, e := range more {
			if p, ok := e.Body.(*event.PromptOpened); !ok || p.Prompt.Kind != event.PromptSampling ||
				len(snap.LaterPrompts) != len(more) || p.Prompt.ID != snap.LaterPrompts[i] {
				t.Errorf("event %d after the snapshot: %T; it names %q", i, e.Body, snap.LaterPrompts)
			}
		}
		bytes := 0
		for _, one := range snap.Servers {
			bytes += event.PayloadSize(&event.ServerChanged{Server: one})
		}
		if bytes > 64<<10 {
			t.Errorf("the server has %d bytes in the snapshot", bytes)
		}
		late.lastSeq()
		_, _ = w.hub.CancelRequest("r", "", "", event.OriginUser)
		<-c.done
	})
}
