package hub_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// timeline returns the timeline of one request in lines, once nothing moves. It checks that no entry is older than the
// one before.
func (w *world) timeline(id string) []string {
	w.t.Helper()
	synctest.Wait()
	traces := w.hub.Traces(event.TraceFilter{RequestID: id})
	if len(traces) != 1 {
		w.t.Fatalf("%d timelines of %s", len(traces), id)
	}
	var lines []string
	var before time.Time
	for _, e := range traces[0].Entries {
		if e.Time.Before(before) {
			w.t.Errorf("%s: entry %s is older than the one before", id, entryLine(e))
		}
		before = e.Time
		lines = append(lines, entryLine(e))
	}
	return lines
}

func entryLine(e event.TraceEntry) string {
	switch {
	case e.State != 0:
		return e.State.String()
	case e.Cancellation != nil:
		return fmt.Sprintf("cancelled by %s: %s", e.Cancellation.Origin, e.Cancellation.Reason)
	case e.Prompt != nil && e.Prompt.Cause == 0:
		return fmt.Sprintf("%s opened", e.Prompt.Kind)
	case e.Prompt != nil:
		return fmt.Sprintf("%s closed: %s", e.Prompt.Kind, e.Prompt.Cause)
	case e.Sending != nil:
		return strings.TrimSpace(fmt.Sprintf("cancel %s %s", e.Sending.Delivery, e.Sending.Err))
	case e.Err != nil:
		line := "error " + e.Err.Reason
		if may := strings.HasSuffix(e.Err.Message,
			"; the server may go on"); may != (e.Err.Meta["server_may_continue"] == "true") {
			line += ", contradicts itself"
		} else if may {
			line += ", the server may go on"
		}
		return line
	}
	m := e.Message
	arrow := "<-"
	if m.Direction == event.Outgoing {
		arrow = "->"
	}
	line := fmt.Sprintf("%s %s %s", arrow, m.Type, m.Method)
	if m.ErrorCode != 0 {
		line += fmt.Sprintf(" %d", m.ErrorCode)
	}
	if m.Dropped {
		line += " dropped"
	}
	return line
}

func wantLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("timeline (-want +got):\n%s", diff)
	}
}

// sizes checks that each request and notification that the hub sent for a request has the size that the server saw.
func (w *world) sizes(id string, s *fakeserver.Server) {
	w.t.Helper()
	got := map[string]int{}
	for _, m := range s.Received() {
		got[m.Method+string(m.ID)] = len(m.Raw)
		if m.Method == "notifications/cancelled" {
			got[m.Method+string(m.Param("requestId"))] = len(m.Raw)
		}
	}
	for _, e := range w.hub.Traces(event.TraceFilter{RequestID: id})[0].Entries {
		if m := e.Message; m != nil && m.Direction == event.Outgoing && !m.Dropped && m.Type != "response" {
			if m.Bytes == 0 || got[m.Method+m.WireID] != m.Bytes {
				w.t.Errorf("%s: %d bytes in the timeline, %d at the server", entryLine(e), m.Bytes, got[m.Method+m.WireID])
			}
		}
	}
}

func TestTimelineOfACall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		s.Tool("steps", func(c *fakeserver.CallContext) {
			c.Progress(1, 2, "one")
			c.Text("hello")
		})
		s.Tool("refuse", func(c *fakeserver.CallContext) { c.Error(-32050, "never") })
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		w.everything()
		w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "steps"}).ok(t)
		wantLines(t, w.timeline("r1"), "queued", "connecting", "running", "-> request tools/call",
			"<- notification notifications/progress", "<- response tools/call", "done")
		w.sizes("r1", s)
		w.call(hub.CallRequest{ID: "r2", Server: "s", Tool: "refuse"}).ok(t)
		wantLines(t, w.timeline("r2"), "queued", "running", "-> request tools/call", "<- error tools/call -32050", "failed")
		w.call(hub.CallRequest{ID: "r3", Server: "s", Tool: "hang"})
		wantLines(t, w.timeline("r3"), "queued", "running", "-> request tools/call")

		start := w.timeline(ownID(w.hub, "start", 2))
		wantLines(t, start[:6], "queued", "connecting", "-> request server/discover", "<- error server/discover -32601",
			"-> request initialize", "<- response initialize")
		slices.Sort(start[6:]) // the start does not wait until the notification is written
		wantLines(t, start[6:], "-> notification notifications/initialized", "done")

		var ids []string
		for _, one := range w.hub.Traces(event.TraceFilter{}) {
			ids = append(ids, one.Request.ID)
		}
		wantLines(t, ids, "r1", ownID(w.hub, "start", 2), "r2", "r3")
		if list := w.hub.Traces(event.TraceFilter{Server: "s", Max: 2}); len(list) != 2 || list[0].Request.ID != "r2" ||
			list[0].Request.State != event.StateFailed || list[1].Request.State != event.StateRunning {
			t.Errorf("%+v", list)
		}
		if list := w.hub.Traces(event.TraceFilter{Server: "other"}); len(list) != 0 {
			t.Errorf("%+v", list)
		}
	})
}

func TestTimelineOfACancelledCall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := fakeserver.New()
		s.Tool("stubborn", func(c *fakeserver.CallContext) {
			<-c.Cancelled()
			c.Text("all the same")
		})
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		v := w.everything()
		w.hub.StartServer(context.Background(), "s")
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "stubborn"})
		synctest.Wait()
		if _, err := v.win.Cancel("r1", "enough"); err != nil {
			t.Fatal(err)
		}
		c.want(t, event.CodeCancelled, event.ReasonCancelled)
		// One goroutine sends the cancel and another one tells of it: what they do next may come in either order.
		lines := w.timeline("r1")
		wantLines(t, lines[:5], "queued", "running", "-> request tools/call", "cancelled by user: enough", "cancelling")
		slices.Sort(lines[5:])
		wantLines(t, lines[5:], "-> notification notifications/cancelled", "<- response tools/call dropped",
			"cancel delivered", "cancelled", "error CANCELLED, the server may go on")
		w.sizes("r1", s)
		w.call(hub.CallRequest{ID: "r2", Server: "s", Tool: "stubborn",
			Timeouts: hub.Timeouts{Total: ptr(time.Minute)}}).want(t, event.CodeDeadlineExceeded, event.ReasonTotalTimeout)
		if lines := w.timeline("r2"); !slices.Contains(lines, "error TOTAL_TIMEOUT, the server may go on") ||
			!slices.Contains(lines, "cancelled by timeout: timeouts.total of 1m0s exceeded") {
			t.Errorf("%q", lines)
		}
	})
}

// A question that its server withdraws: its prompt closes, and the answer that somebody may have given is not written.
func TestTimelineOfAWithdrawal(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a := asking(elicitation, formParams)
		w := newWorld(t, serversOf("s", a.Server), "s:"+allow)
		v := w.everything()
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "ask"})
		p := v.prompt()
		q := <-a.asked
		q.Cancel("never mind")
		synctest.Wait()
		a.finish <- struct{}{}
		c.ok(t)
		wantLines(t, w.timeline(p.RequestID), "<- request elicitation/create", "queued", "elicitation_form opened",
			"awaiting_input",
			"<- notification notifications/cancelled", "elicitation_form closed: withdrawn", "cancelled by server: never mind",
			"cancelling", "cancelled", "error CANCELLED",
			"-> response elicitation/create dropped")
		wantLines(t, w.timeline("r1"), "queued", "connecting", "running", "-> request tools/call", "elicitation_form opened",
			"awaiting_input", "elicitation_form closed: withdrawn",
			"running", "<- response tools/call", "done")
		c = w.call(hub.CallRequest{ID: "r2", Server: "s", Tool: "ask"})
		p = v.prompt()
		v.answer(event.PromptAnswer{PromptID: p.ID, Action: event.ActionAccept, Content: formYes})
		c.ok(t)
		wantLines(t, w.timeline(p.RequestID), "<- request elicitation/create", "queued", "elicitation_form opened",
			"awaiting_input", "elicitation_form closed: answered", "done",
			"-> response elicitation/create")
	})
}

func TestTimelineOfATask(t *testing.T) {
	for _, modern := range []bool{false, true} {
		t.Run(fmt.Sprintf("modern %v", modern), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := newTaskServer(modern)
				w := newWorld(t, serversOf("s", s.Server), "s:"+allow)
				_, c := taskWorld(w, hub.CallRequest{})
				pass(2500 * time.Millisecond)
				s.set("T-1", "completed", "")
				c.ok(t)
				poll := []string{"-> request tasks/get", "<- response tasks/get"}
				want := slices.Concat([]string{"queued", "connecting", "running", "-> request tools/call", "<- response tools/call",
					"task_working"}, poll, poll, poll)
				if !modern {
					want = append(want, "-> request tasks/result", "<- response tasks/result")
				}
				wantLines(t, w.timeline("r1"), append(want, "done")...)
				w.sizes("r1", s.Server)
				if task := w.hub.Traces(event.TraceFilter{RequestID: "r1"})[0].Request.Task; task == nil || task.ID != "T-1" ||
					task.Message != "" {
					t.Errorf("%+v", task)
				}

				c = w.call(hub.CallRequest{ID: "r2", Server: "s", Tool: "work"})
				synctest.Wait()
				w.hub.CancelRequest("r2", "", "stop it", event.OriginHost)
				c.want(t, event.CodeCancelled, event.ReasonCancelled)
				lines := w.timeline("r2")
				wantLines(t, lines[:7], "queued", "running", "-> request tools/call", "<- response tools/call", "task_working",
					"cancelled by host: stop it", "cancelling")
				slices.Sort(lines[7:])
				wantLines(t, lines[7:], "-> request tasks/cancel", "<- response tasks/cancel", "cancel delivered", "cancelled",
					"error CANCELLED, the server may go on")
			})
		})
	}
}

func TestTimelineOfMRTR(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := rounds(1)
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		v := w.everything()
		c := w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "ask"})
		v.answer(event.PromptAnswer{PromptID: v.prompt().ID, Action: event.ActionAccept, Content: formYes})
		c.ok(t)
		wantLines(t, w.timeline("r1"), "queued", "connecting", "running", "-> request tools/call", "<- response tools/call",
			"elicitation_form opened", "awaiting_input",
			"elicitation_form closed: answered", "running", "-> request tools/call", "<- response tools/call", "done")
		w.sizes("r1", s)
		var wires []string
		for _, e := range w.hub.Traces(event.TraceFilter{RequestID: "r1"})[0].Entries {
			if e.Message != nil && e.Message.Type == "request" {
				wires = append(wires, e.Message.WireID)
			}
		}
		if len(wires) != 2 || wires[0] == wires[1] {
			t.Errorf("wire ids %q", wires)
		}
	})
}

// Over Streamable HTTP a cancel is a notification in the legacy era, and the end of the exchange in the modern one.
func TestTimelineOverHTTP(t *testing.T) {
	for _, modern := range []bool{false, true} {
		t.Run(fmt.Sprintf("modern %v", modern), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var opts []fakeserver.Option
				if modern {
					opts = append(opts, fakeserver.WithModern())
				}
				s := hanging(opts...)
				w := newWebWorld(t, fakeserver.HTTPOptions{}, serversOf("s", s), "s:"+allow)
				w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "echo"}).ok(t)
				wantLines(t, w.timeline("r1"), "queued", "connecting", "running", "-> request tools/call", "<- response tools/call",
					"done")
				w.sizes("r1", s)
				c := w.call(hub.CallRequest{ID: "r2", Server: "s", Tool: "hang"})
				synctest.Wait()
				w.hub.CancelRequest("r2", "", "no", event.OriginUser)
				c.want(t, event.CodeCancelled, event.ReasonCancelled)
				lines := w.timeline("r2")
				wantLines(t, lines[:5], "queued", "running", "-> request tools/call", "cancelled by user: no", "cancelling")
				slices.Sort(lines[5:])
				want := []string{"cancel delivered", "cancelled", "error CANCELLED, the server may go on"}
				if !modern {
					want = append([]string{"-> notification notifications/cancelled"}, want...)
				}
				wantLines(t, lines[5:], want...)
				w.sizes("r2", s)
			})
		})
	}
}

// The first entries of progress are kept and the latest one; of other entries as many from both ends.
func TestTimelineIsBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const steps = 500
		s := hanging()
		s.Tool("storm", func(c *fakeserver.CallContext) {
			for i := range steps {
				c.Progress(float64(i), steps, strings.Repeat("x", i))
			}
			c.Text("over")
		})
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "storm"}).ok(t)
		synctest.Wait()
		tr := w.hub.Traces(event.TraceFilter{RequestID: "r1"})[0]
		progress, latest := 0, 0
		for _, e := range tr.Entries {
			if e.Message != nil && e.Message.Method == "notifications/progress" {
				progress++
				latest = e.Message.Bytes
			}
		}
		lines := w.timeline("r1")
		if progress != 20 || tr.Omitted != steps-20 || latest < steps {
			t.Errorf("%d entries of progress, %d omitted, the latest has %d bytes", progress, tr.Omitted, latest)
		}
		wantLines(t, lines[len(lines)-3:], "<- notification notifications/progress", "<- response tools/call", "done")

		task := newTaskServer(true)
		w2 := newWorld(t, serversOf("s", task.Server), "s:"+allow)
		_, c := taskWorld(w2, hub.CallRequest{Timeouts: hub.Timeouts{Total: ptr(0)}})
		pass(300*time.Second + time.Second/2)
		task.set("T-1", "completed", "")
		c.ok(t)
		synctest.Wait()
		tr = w2.hub.Traces(event.TraceFilter{RequestID: "r1"})[0]
		polls := 2 * 301
		if want := 6 + polls + 1 - 128; len(tr.Entries) != 128 || tr.Omitted != want {
			t.Fatalf("%d entries, %d omitted; want %d", len(tr.Entries), tr.Omitted, want)
		}
		lines = w2.timeline("r1")
		wantLines(t, lines[:2], "queued", "connecting")
		wantLines(t, lines[126:], "<- response tasks/get", "done")
		if d := tr.Entries[64].Time.Sub(tr.Entries[63].Time); d < 200*time.Second {
			t.Errorf("the gap is %v", d)
		}
	})
}

// Timelines and the bundle for a bug report hold no arguments, results, questions and answers, and nothing that a
// server says.
func TestTimelineHoldsNoContent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const mark = "SECRET"
		asks := `{"message":"SECRET in a question","requestedSchema":{"type":"object","properties":{"SECRET_field":{"type":"string"}}}}`
		a := asking(elicitation, asks, fakeserver.WithInstructions("SECRET instructions"))
		a.Tool("leak", func(c *fakeserver.CallContext) {
			c.Progress(1, 2, "SECRET progress")
			c.Log("info", "SECRET log")
			c.Result(`{"content":[{"type":"text","text":"SECRET result"}]}`)
		})
		a.Tool("fail", func(c *fakeserver.CallContext) { c.ErrorData(-32000, "SECRET message", `"SECRET data"`) })
		a.Tool("die", func(c *fakeserver.CallContext) { c.Disconnect() })
		a.Handle("resources/read", func(c *fakeserver.CallContext) { c.Error(-32002, "SECRET: not found") })
		bad := fakeserver.New()
		bad.Handle("initialize", func(c *fakeserver.CallContext) { c.Error(-32000, "SECRET refusal") })
		var w *world
		open := func(s config.Server, stderr func(string)) mcp.Opener {
			return func(ctx context.Context) (*mcp.Link, error) {
				stderr("SECRET on stderr")
				link, err := w.open(s, stderr)(ctx)
				if err == nil {
					link.Ended = func() string {
						return "the process exited with status 3; it says on stderr: Error: SECRET; last lines on stderr: SECRET on stderr"
					}
				}
				return link, err
			}
		}
		w = newWorldWith(t, hub.Options{Open: open}, map[string]*fakeserver.Server{"s": a.Server, "bad": bad},
			"s:"+allow+`,"args":["--token=SECRET"],"env":{"TOKEN":"SECRET"}`, `bad:"args":["SECRET"]`)
		v := w.everything()
		args := `{"text":"SECRET argument"}` // its key is none whose value a preview hides
		meta := `{"traceparent":"SECRET","x/y":"SECRET"}`
		w.call(hub.CallRequest{ID: "r1", Server: "s", Tool: "leak", Arguments: args, Meta: meta}).ok(t)
		w.call(hub.CallRequest{ID: "r2", Server: "s", Tool: "fail", Arguments: args}).ok(t)
		w.hub.ReadResource(context.Background(), hub.CallRequest{ID: "r3", Server: "s", URI: "file:///SECRET"})
		hanging, stop := context.WithCancelCause(context.Background())
		go w.hub.ReadResource(hanging, hub.CallRequest{ID: "r4", Server: "s", URI: "file:///SECRET"})
		stop(context.Canceled)
		ask := w.call(hub.CallRequest{ID: "r5", Server: "s", Tool: "ask", Arguments: args})
		v.answer(event.PromptAnswer{PromptID: v.prompt().ID, Action: event.ActionAccept,
			Content: `{"SECRET_field":"SECRET answer"}`})
		ask.ok(t)
		w.call(hub.CallRequest{ID: "r6", Server: "bad", Tool: "x", Arguments: args}).want(t, event.CodeUnavailable,
			event.ReasonServerFailed)
		w.call(hub.CallRequest{ID: "r7", Server: "s", Tool: "die", Arguments: args}).want(t, event.CodeUnavailable,
			event.ReasonServerGone)
		synctest.Wait()
		traces := w.hub.Traces(event.TraceFilter{})
		for _, about := range []any{traces, w.hub.TraceBundle()} {
			text, err := json.Marshal(about)
			if err != nil {
				t.Fatal(err)
			}
			if at := strings.Index(string(text), mark); at >= 0 {
				t.Errorf("content: ...%s...", text[max(0, at-200):min(len(text), at+100)])
			}
		}
		if len(traces) != 10 { // seven, two starts, a question
			t.Errorf("%d timelines", len(traces))
		}
		about := w.hub.TraceBundle()["servers"].([]any)
		for _, one := range about {
			s := one.(map[string]any)
			want := map[string]string{"bad": "SERVER_FAILED; at initialize; JSON-RPC error -32000; the process exited with status 3", "s": "the connection ended; it closed its output; the process exited with status 3"}[s["name"].(string)]
			if s["state"] != "failed" || s["lastError"] != want || s["command"] != s["name"] {
				t.Errorf("%v", s)
			}
		}
	})
}

func TestTraceRingForgetsTheOldest(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		open := w.call(hub.CallRequest{ID: "open", Server: "s", Tool: "hang"})
		synctest.Wait()
		for i := range 600 {
			w.call(hub.CallRequest{ID: fmt.Sprint("r", i), Server: "s", Tool: "echo"}).ok(t)
		}
		synctest.Wait()
		traces := w.hub.Traces(event.TraceFilter{})
		if len(traces) != 513 || traces[0].Request.ID != "open" || traces[1].Request.ID != "r88" ||
			traces[512].Request.ID != "r599" {
			t.Errorf("%d timelines, from %s and %s to %s", len(traces), traces[0].Request.ID, traces[1].Request.ID,
				traces[len(traces)-1].Request.ID)
		}
		if len(traces[0].Entries) != 4 {
			t.Errorf("%+v", traces[0])
		}
		w.hub.CancelRequest("open", "", "", event.OriginHost)
		<-open.done
		w.nothingLeft()
	})
}

// However many entries requests have, all timelines together stay within some megabytes.
func TestTracesStayWithinMemory_amount(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging(fakeserver.WithModern())
		long := formParams
		s.Tool("ask", func(c *fakeserver.CallContext) { // nine rounds of six entries
			round := 0
			if state := c.Param("requestState"); state != nil {
				fmt.Sscanf(string(state), `"%d"`, &round)
			}
			if round == 9 {
				c.Text("over")
				return
			}
			c.InputRequired(`{"q":{"method":"elicitation/create","params":`+long+`}}`, fmt.Sprint(round+1))
		})
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		v := w.everything()
		for i := range 500 {
			c := w.call(hub.CallRequest{ID: fmt.Sprint("r", i), Server: "s", Tool: "ask"})
			for range 9 {
				v.answer(event.PromptAnswer{PromptID: v.prompt().ID, Action: event.ActionAccept, Content: formYes})
			}
			c.ok(t)
		}
		n := len(w.hub.Traces(event.TraceFilter{}))
		held := w.hub.TraceBytes()
		if n >= 500 || n < 200 || held > 3<<20 {
			t.Errorf("%d timelines hold %d bytes", n, held)
		}
		if bad := w.hub.Inconsistent(); bad != "" {
			t.Error(bad)
		}
	})
}
