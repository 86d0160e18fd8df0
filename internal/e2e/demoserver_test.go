//go:build unix

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// eras runs a test in both eras.
func eras(t *testing.T, test func(t *testing.T, era string)) {
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			test(t, era)
		})
	}
}

// openDemo opens a hub with the demo server behind a recorder, and a window that shows everything.
func openDemo(t *testing.T, era string) (*place, *door, *fakeeditor.Window, *wire) {
	t.Helper()
	p := newPlace(t)
	e, wire := p.proxied(p.demo(era))
	d := p.open(servers{"demo": e})
	w := d.window("side bar")
	if got := d.start("demo").GetEra(); got != map[string]mcphubv1.Era{"legacy": mcphubv1.Era_ERA_LEGACY,
		"modern": mcphubv1.Era_ERA_MODERN}[era] {
		t.Fatalf("the demo server speaks %v, not %s", got, era)
	}
	return p, d, w, wire
}

// TestDemoCancelWithReason: the server is sent one cancel, with the reason, word for word (finding B19). Servers on the
// Go SDK answer a cancelled call all the same: that answer is dropped and counted.
func TestDemoCancelWithReason(t *testing.T) {
	eras(t, func(t *testing.T, era string) {
		const reason = "too slow\nfor \x1b[31mme"
		p, d, w, wire := openDemo(t, era)
		c := d.call("demo", "sleep", `{"seconds":600,"steps":1000}`)
		progressed(w, c.id)
		cancels(t, w, c.id, reason)
		f := c.fails("CANCELLED", "CANCELLED")
		e := cancelled(t, w, c.id, mcphubv1.Origin_ORIGIN_USER, reason)
		if f.Meta["cancel_reason"] != reason {
			t.Errorf("the caller was told %q", f.Meta["cancel_reason"])
		}
		if !e.GetServerNotified() || !e.GetServerMayContinue() || e.GetTool() != "sleep" || e.GetMethod() != "tools/call" {
			t.Errorf("the window was told %v", e)
		}
		d.echoes("demo", "still there")
		wire.cancelledOnce("sleep", reason)
		until(t, "the server has written down the cancel", func() bool { return len(p.reasonsHeard()) > 0 })
		if got := p.reasonsHeard(); !slices.Equal(got, []string{reason}) {
			t.Errorf("the server heard %q", got)
		}
		until(t, "the late answer is counted", func() bool { return d.server("demo").GetCounters().GetLateResponses() == 1 })
		d.echoes("demo", "and again")
	})
}

// TestDemoAskThenWithdraw: the server withdraws its question. The prompt closes in every window, and the server gets no
// answer.
func TestDemoAskThenWithdraw(t *testing.T) {
	for tool, kind := range map[string]mcphubv1.PromptKind{"ask_then_withdraw": form, "sample_then_withdraw": sampling} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			const reason = "found it out myself"
			_, d, w, wire := openDemo(t, "legacy")
			panel := d.window("panel")
			c := d.call("demo", tool, fmt.Sprintf(`{"after_ms":100,"reason":%q}`, reason))
			var question message
			for _, w := range []*fakeeditor.Window{w, panel} {
				opened := w.WaitEvent("the question", func(e *mcphubv1.AttachResponse) bool {
					return e.GetPromptOpened() != nil
				}).GetPromptOpened().GetPrompt()
				if fakeeditor.KindOf(opened) != kind || opened.GetParentRequestId() != c.id {
					t.Errorf("%s: prompt %v", w, opened)
				}
				if e := w.WaitClosed(opened.GetPromptId()); e.GetCause() != mcphubv1.PromptCause_PROMPT_CAUSE_WITHDRAWN ||
					e.GetReason() != reason {
					t.Errorf("%s: closed %v", w, e)
				}
				e := cancelled(t, w, opened.GetRequestId(), mcphubv1.Origin_ORIGIN_SERVER, reason)
				question = wire.one("the question", func(m message) bool { return !m.toServer && m.Method == e.GetMethod() })
				if e.GetDirection() != mcphubv1.RequestDirection_REQUEST_DIRECTION_INCOMING ||
					e.GetWireIdJson() != string(question.ID) || e.GetServerNotified() {
					t.Errorf("%s: told %v of %v", w, e, question)
				}
				if r := w.Dismiss(opened.GetPromptId()); r.GetError().GetReason() != "PROMPT_CLOSED" {
					t.Errorf("%s: a late answer: %v", w, r)
				}
			}
			if text := c.text(); !strings.HasPrefix(text, "withdrew its question") {
				t.Errorf("result %q", text)
			}
			if e := w.WaitTerminal(c.id).GetMcpRequestFinished(); e.GetState() != mcphubv1.RequestState_REQUEST_STATE_DONE {
				t.Errorf("the call ended with %v", e)
			}
			d.echoes("demo", "still there")
			if answers := wire.all(answerTo(question)); len(answers) != 0 {
				t.Errorf("the server was answered: %v", answers)
			}
			wire.one("the withdrawal", isCancel(false))
			if n := len(wire.all(isCancel(true))); n != 0 {
				t.Errorf("the hub sent %d cancels", n)
			}
			if n := d.server("demo").GetCounters(); n.GetSuppressedResponses() != 1 || n.GetUnknownCancels() != 0 ||
				n.GetMalformedCancels() != 0 {
				t.Errorf("counters %v", n)
			}
		})
	}
}

func TestDemoStubborn(t *testing.T) {
	eras(t, func(t *testing.T, era string) {
		p, d, w, wire := openDemo(t, era)
		c := d.call("demo", "stubborn", `{"ms":700}`)
		until(t, "the server works", func() bool {
			return slices.ContainsFunc(p.demoEvents(), func(e demoEvent) bool {
				return e.Event == "started" && e.Tool == "stubborn"
			})
		})
		cancels(t, w, c.id, "stop it")
		c.fails("CANCELLED", "CANCELLED")
		d.echoes("demo", "meanwhile")
		until(t, "the late answer is counted", func() bool { return d.server("demo").GetCounters().GetLateResponses() == 1 })
		wire.one("the late answer", answerTo(wire.one("the call", callOf("stubborn"))))
		d.echoes("demo", "afterwards")
		// the one terminal event; fakeeditor fails the test for a second one
		cancelled(t, w, c.id, mcphubv1.Origin_ORIGIN_USER, "stop it")
	})
}

func TestDemoCrash(t *testing.T) {
	eras(t, func(t *testing.T, era string) {
		_, d, w, wire := openDemo(t, era)
		before := d.server("demo").GetProcessId()
		sleeping := d.call("demo", "sleep", `{"seconds":600}`)
		w.WaitRequest(sleeping.id, running)
		crash := d.call("demo", "crash", `{"code":7}`)
		for _, c := range []*call{crash, sleeping} {
			if f := c.fails("UNAVAILABLE", "SERVER_GONE"); f.Meta["server"] != "demo" ||
				!strings.Contains(f.Message, "not repeated") {
				t.Errorf("the caller was told %+v", f)
			}
			if e := w.WaitTerminal(c.id).GetMcpRequestFinished(); e.GetHubError().GetReason() != "SERVER_GONE" {
				t.Errorf("the window was told %v", e)
			}
		}
		d.echoes("demo", "a new one")
		if after := d.server("demo").GetProcessId(); after == before || after == 0 {
			t.Errorf("process %d became %d", before, after)
		}
		wire.one("the call", callOf("crash"))
		wire.one("the call", callOf("sleep"))
	})
}

// TestDemoFlood: a storm of progress and log messages. The number of progress events that a window may get follows from
// the time that the hub itself measured, so a slow machine fails nothing.
func TestDemoFlood(t *testing.T) {
	const storm = 20000
	eras(t, func(t *testing.T, era string) {
		_, d, fast, _ := openDemo(t, era)
		slow := d.windowWith(fakeeditor.Options{Title: "slow", MaxProgressRate: 1})
		if _, err := d.Servers.SetLogLevel(d.ctx, &mcphubv1.SetLogLevelRequest{Server: "demo", Level: "info"}); err != nil {
			t.Fatal(err)
		}
		c := d.call("demo", "flood", fmt.Sprintf(`{"events":%d}`, storm))
		if text := c.text(); text != fmt.Sprintf("sent %d events", storm) {
			t.Errorf("result %q", text)
		}
		for w, rate := range map[*fakeeditor.Window]int{fast: 20, slow: 1} {
			timings := w.WaitTerminal(c.id).GetMcpRequestFinished().GetTimings()
			took := timings.GetQueued().AsDuration() + timings.GetActive().AsDuration()
			// The rate, and beyond it one at once, one at the end, and one in the instant between the end of the hub's
			// measurement and the terminal event.
			most := 3 + int(took*time.Duration(rate)/time.Second)
			n, last := 0, 0.0
			for _, e := range w.Events() {
				if p := e.GetMcpRequestProgressed(); p.GetRequestId() == c.id {
					n, last = n+1, p.GetProgress().GetProgress()
				}
			}
			if n > most || last != storm {
				t.Errorf("%s: %d progress events in %v, at most %d are allowed; the last says %v", w, n, took, most, last)
			}
			var shown, dropped int64
			until(t, "all log messages are accounted for", func() bool {
				shown, dropped = 0, d.droppedBefore("demo")
				for _, e := range w.Events() {
					if e.GetLogMessage().GetLogger() == "flood" {
						shown++
					}
					dropped += e.GetDropped().GetLogMessages() + droppedAtTheHub(e.GetLogMessage())
				}
				return shown+dropped >= storm
			})
			// The few lines that the server writes to its stderr are log messages too, and may be among the dropped.
			if extra := shown + dropped - storm; shown == 0 || extra < 0 || extra > 5 {
				t.Errorf("%s: %d log messages shown, %d dropped", w, shown, dropped)
			}
		}
		d.echoes("demo", "still there")
	})
}

// droppedAtTheHub returns how many log messages the hub's own log message says were too fast for any window.
func droppedAtTheHub(m *mcphubv1.LogMessage) (n int64) {
	var note struct{ Event, Count string }
	if m.GetLogger() == "mcphub" && json.Unmarshal([]byte(m.GetDataJson()), &note) == nil &&
		note.Event == "logMessagesDropped" {
		n, _ = strconv.ParseInt(note.Count, 10, 64)
	}
	return n
}

// droppedBefore is how many notifications a connection has dropped before any window.
func (d *door) droppedBefore(server string) int64 {
	return int64(d.server(server).GetCounters().GetDroppedNotifications())
}

// TestDemoBig: a result of 32 MiB arrives whole, and as it came.
func TestDemoBig(t *testing.T) {
	eras(t, func(t *testing.T, era string) {
		const size = 32 << 20
		_, d, w, _ := openDemo(t, era)
		c := d.call("demo", "big", fmt.Sprintf(`{"bytes":%d}`, size))
		r := c.answer()
		var result struct{ Content []struct{ Text string } }
		if err := json.Unmarshal([]byte(r.GetResultJson()), &result); err != nil || len(result.Content) != 1 {
			t.Fatalf("%v, %d blocks", err, len(result.Content))
		}
		if got := result.Content[0].Text; len(got) != size || strings.Trim(got, "0123456789abcdef") != "" ||
			got[size-16:] != "0123456789abcdef" {
			t.Errorf("%d bytes of %d", len(got), size)
		}
		w.WaitTerminal(c.id)
		d.echoes("demo", "still there")
	})
}

func TestDemoProcessFile(t *testing.T) {
	eras(t, func(t *testing.T, era string) {
		p, d, w, _ := openDemo(t, era)
		c := d.call("demo", "process_file", `{"content":"a\nb\n","hold_ms":600000}`)
		var temporary string
		until(t, "the temporary file is there", func() bool {
			for _, e := range p.demoEvents() {
				if e.Event == "temp_file" {
					temporary = e.Detail
				}
			}
			return temporary != ""
		})
		if text, err := os.ReadFile(temporary); err != nil {
			t.Errorf("%q, %v", text, err)
		}
		cancels(t, w, c.id, "the file is closed")
		c.fails("CANCELLED", "CANCELLED")
		until(t, "the temporary file is gone", func() bool {
			_, err := os.Stat(temporary)
			return os.IsNotExist(err)
		})
	})
}

func TestDemoAskName(t *testing.T) {
	eras(t, func(t *testing.T, era string) {
		_, d, w, wire := openDemo(t, era)
		for _, test := range []struct {
			answer func(id string) *mcphubv1.Reply
			want   string
		}{
			{func(id string) *mcphubv1.Reply { return w.Accept(id, `{"name":"Ada","formal":true}`) }, "Good day, Ada."},
			{func(id string) *mcphubv1.Reply { return w.Decline(id, "") }, "The user declined to give a name."},
			{func(id string) *mcphubv1.Reply { return w.Dismiss(id) }, "The user dismissed the question."},
		} {
			c := d.call("demo", "ask_name", `{}`)
			p := w.WaitPrompt(form)
			if p.GetElicitationForm().GetMessage() != "What is your name?" {
				t.Errorf("prompt %v", p)
			}
			if s := w.WaitRequest(c.id,
				mcphubv1.RequestState_REQUEST_STATE_AWAITING_INPUT).GetState(); s !=
				mcphubv1.RequestState_REQUEST_STATE_AWAITING_INPUT {
				t.Errorf("the call is %v while its user is asked", s)
			}
			takes(t, test.answer(p.GetPromptId()))
			if text := c.text(); text != test.want {
				t.Errorf("result %q, want %q", text, test.want)
			}
			if rounds := c.response.GetRounds(); rounds != map[string]int32{"legacy": 1, "modern": 2}[era] {
				t.Errorf("%d rounds in the %s era", rounds, era)
			}
		}
		if n := len(wire.all(asked("elicitation/create"))); n != map[string]int{"legacy": 3, "modern": 0}[era] {
			t.Errorf("%d questions of the server on the wire", n)
		}
	})
}

// TestDemoCancelBetweenRounds: a modern server has answered that it needs input, so nothing is in flight that a cancel
// could name. The prompt closes, and nothing is sent, neither a cancel nor a next round.
func TestDemoCancelBetweenRounds(t *testing.T) {
	t.Parallel()
	_, d, w, wire := openDemo(t, "modern")
	c := d.call("demo", "ask_name", `{}`)
	p := w.WaitPrompt(form)
	cancels(t, w, c.id, "never mind")
	c.fails("CANCELLED", "CANCELLED")
	if e := w.WaitClosed(p.GetPromptId()); e.GetCause() != mcphubv1.PromptCause_PROMPT_CAUSE_PARENT {
		t.Errorf("closed %v", e)
	}
	if e := cancelled(t, w, c.id, mcphubv1.Origin_ORIGIN_USER, "never mind"); e.GetServerNotified() ||
		e.GetServerMayContinue() {
		t.Errorf("told %v", e)
	}
	d.echoes("demo", "still there")
	wire.one("the call", callOf("ask_name"))
	if n := len(wire.all(isCancel(true))); n != 0 {
		t.Errorf("%d cancels on the wire", n)
	}
}

func TestDemoSummarize(t *testing.T) {
	eras(t, func(t *testing.T, era string) {
		_, d, w, _ := openDemo(t, era)
		c := d.call("demo", "summarize", `{"text":"a long story"}`)
		p := w.WaitPrompt(sampling)
		if !strings.Contains(p.GetSampling().GetRequestJson(), "a long story") {
			t.Errorf("prompt %v", p)
		}
		takes(t,
			w.Accept(p.GetPromptId(),
				`{"role":"assistant","content":{"type":"text","text":"short"},"model":"m-1","stopReason":"endTurn"}`))
		if text := c.text(); text != "short (by m-1)" {
			t.Errorf("result %q", text)
		}
		c = d.call("demo", "summarize", `{"text":"another"}`)
		takes(t, w.Decline(w.WaitPrompt(sampling).GetPromptId(), "no"))
		if era == "legacy" {
			if r := c.answer(); !r.GetIsError() || !strings.Contains(r.GetResultJson(), "gave no summary") {
				t.Errorf("declined: %v", r)
			}
			return
		}
		// the modern era has no answer for a declined sampling, so the hub ends the call
		c.fails("FAILED_PRECONDITION", "INPUT_DECLINED")
		d.echoes("demo", "still there")
	})
}

func TestDemoURL(t *testing.T) {
	eras(t, func(t *testing.T, era string) {
		const page = "https://xn--bcher-kva.example/path?q=1"
		_, d, w, _ := openDemo(t, era)
		for _, test := range []struct {
			answer func(id string) *mcphubv1.Reply
			want   string
		}{
			{func(id string) *mcphubv1.Reply { return w.Accept(id, "") }, "The user agreed to open " + page + "."},
			{func(id string) *mcphubv1.Reply { return w.Decline(id, "") }, "The user declined to open the page."},
			{func(id string) *mcphubv1.Reply { return w.Dismiss(id) }, "The user dismissed the question."},
		} {
			c := d.call("demo", "open_page", fmt.Sprintf(`{"url":%q}`, page))
			p := w.WaitPrompt(urlKind)
			if q := p.GetElicitationUrl(); q.GetUrl() != page || q.GetUrlHost() != "xn--bcher-kva.example" {
				t.Errorf("prompt %v", p)
			}
			takes(t, test.answer(p.GetPromptId()))
			if text := c.text(); text != test.want {
				t.Errorf("result %q, want %q", text, test.want)
			}
		}
	})
}
