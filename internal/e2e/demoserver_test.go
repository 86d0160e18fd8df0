//go:build unix

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

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
		if !delivered(w, c.id) || !mayContinue(e) || e.GetTool() != "sleep" || e.GetMethod() != "tools/call" {
			t.Errorf("the window was told %v", e)
		}
		d.echoes("demo", "still there")
		wire.cancelledOnce(string(wire.one("the call", callOf("sleep")).ID), reason)
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
