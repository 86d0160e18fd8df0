//go:build unix

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	"github.com/mcphub-go/mcphub/internal/peers"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// endless are arguments of slow for a call whose end no test waits for.
const endless = `{"ms":600000,"steps":20000}`

// TestHTTPCalls: a call with progress, and what the hub then says of the server.
func TestHTTPCalls(t *testing.T) {
	eachWay(t, anyWay, func(t *testing.T, y way, s *peers.Server, d *door, w, _ *fakeeditor.Window) {
		c := d.call("peer", "slow", `{"ms":200,"steps":4}`)
		progressed(w, c.id)
		if text := c.text(); text != "done" {
			t.Errorf("result %q", text)
		}
		if e := w.WaitTerminal(c.id).GetMcpRequestFinished(); e.GetState() != mcphubv1.RequestState_REQUEST_STATE_DONE {
			t.Errorf("the end: %v", e)
		}
		wantEra, wantRevision := mcphubv1.Era_ERA_LEGACY, "2025-11-25"
		if y.modern() {
			wantEra, wantRevision = mcphubv1.Era_ERA_MODERN, "2026-07-28"
		}
		wantTransport := map[string]mcphubv1.ServerTransport{
			"http": mcphubv1.ServerTransport_SERVER_TRANSPORT_HTTP, "sse": mcphubv1.ServerTransport_SERVER_TRANSPORT_SSE,
		}[y.kind]
		if got := d.server("peer"); got.GetEra() != wantEra || got.GetProtocolRevision() != wantRevision ||
			got.GetTransport() != wantTransport || got.GetUrl() != y.address(s) {
			t.Errorf("the server is shown as %v", got)
		}
	})
}

// TestHTTPCancel: a cancel travels as its binding says: in the legacy era by the notification with the reason, over
// Streamable HTTP also by the end of the stream; in the modern era by the end of the exchange alone. The tool is
// cancelled, and the next call works.
func TestHTTPCancel(t *testing.T) {
	eachWay(t, anyWay, func(t *testing.T, y way, s *peers.Server, d *door, w, panel *fakeeditor.Window) {
		const reason = `no longer needed: "é" 中`
		c := d.call("peer", "slow", endless)
		progressed(w, c.id)
		cancels(t, w, c.id, reason)
		if f := c.fails("CANCELLED", "CANCELLED"); f.Meta["cancel_reason"] != reason || f.Meta["origin"] != "user" {
			t.Errorf("the caller was told %+v", f)
		}
		for _, w := range []*fakeeditor.Window{w, panel} {
			e := cancelled(t, w, c.id, mcphubv1.Origin_ORIGIN_USER, reason)
			if !e.GetServerNotified() || !e.GetServerMayContinue() {
				t.Errorf("%s was told %v", w, e)
			}
		}
		id := cancelled(t, w, c.id, mcphubv1.Origin_ORIGIN_USER, reason).GetWireIdJson()
		heard := s.Wait("the cancelled tool", func(e peers.Event) bool { return e.Is(peers.EventCancelled, "slow") })
		if y.reasons && heard.Reason != reason {
			t.Errorf("the tool heard the reason %q", heard.Reason)
		}
		if !y.modern() {
			n := s.Wait("the notification", func(e peers.Event) bool {
				return e.Event == peers.EventRequest && e.Method == "notifications/cancelled"
			})
			if string(n.ID) != id || n.Reason != reason {
				t.Errorf("the notification names %s, not %s; reason %q", n.ID, id, n.Reason)
			}
		}
		d.settles("peer", s)
		want := 1
		if y.modern() {
			want = 0
		}
		if n := requests(s, ofMethod("notifications/cancelled")); n != want {
			t.Errorf("%d cancels came, not %d", n, want)
		}
		if n := requests(s, func(e peers.Event) bool { return e.Method == "tools/call" && e.Tool == "slow" }); n != 2 {
			t.Errorf("%d calls came, not 2", n)
		}
		if y.kind == "http" && y.name != "Go, HTTP legacy" { // the Go SDK ends the stream itself: either may come first
			s.Wait("the closed stream", func(e peers.Event) bool {
				return e.Event == peers.EventDisconnected && e.Method == "tools/call" && string(e.ID) == id
			})
		}
		if r := w.CancelRequest(c.id,
			"again"); r.GetCancelOutcome() != mcphubv1.CancelOutcome_CANCEL_OUTCOME_ALREADY_FINISHED {
			t.Errorf("a second cancel: %v", r)
		}
	})
}

// TestHTTPQuestions: a form that is accepted, declined and dismissed, and a completion, in both eras; the modern one
// asks by a result and is answered by another round.
func TestHTTPQuestions(t *testing.T) {
	eachWay(t, anyWay, func(t *testing.T, y way, s *peers.Server, d *door, w, panel *fakeeditor.Window) {
		cases := []struct {
			tool, want string
			kind       mcphubv1.PromptKind
			answer     func(id string) *mcphubv1.Reply
			cause      mcphubv1.PromptCause
		}{
			{"ask", `"action":"accept"`, form, func(id string) *mcphubv1.Reply {
				return w.Accept(id, `{"name":"Ada"}`)
			}, mcphubv1.PromptCause_PROMPT_CAUSE_ANSWERED},
			{"ask", `"action":"decline"`, form, func(id string) *mcphubv1.Reply {
				return w.Decline(id, "")
			}, mcphubv1.PromptCause_PROMPT_CAUSE_DECLINED},
			{"ask", `"action":"cancel"`, form, func(id string) *mcphubv1.Reply {
				return panel.Dismiss(id)
			}, mcphubv1.PromptCause_PROMPT_CAUSE_DISMISSED},
			{"sample", "Bonjour", sampling, func(id string) *mcphubv1.Reply {
				return panel.Accept(id, `{"role":"assistant","model":"m","content":{"type":"text","text":"Bonjour"}}`)
			}, mcphubv1.PromptCause_PROMPT_CAUSE_ANSWERED},
		}
		for _, q := range cases {
			c := d.call("peer", q.tool, `{}`)
			p := w.WaitPrompt(q.kind)
			if p.GetParentRequestId() != c.id && p.GetRequestId() != c.id {
				t.Errorf("the prompt names no request of the call: %v", p)
			}
			panel.WaitShown(p.GetPromptId())
			takes(t, q.answer(p.GetPromptId()))
			closedWith(t, p.GetPromptId(), []mcphubv1.PromptCause{q.cause}, w, panel)
			r := c.answer()
			if r.GetIsError() || !strings.Contains(textOf(t, r.GetResultJson()), q.want) {
				t.Errorf("%s, want %s: %v", q.tool, q.want, r)
			}
			if rounds := r.GetRounds(); y.modern() != (rounds == 2) {
				t.Errorf("%s took %d rounds", q.tool, rounds)
			}
		}
		d.settles("peer", s)
		posted := requests(s, ofMethod("response"))
		if want := map[bool]int{true: 0, false: len(cases)}[y.modern()]; posted != want {
			t.Errorf("%d answers were posted, not %d", posted, want)
		}
	})
}

// TestHTTPServerWithdraws: the prompt closes in both windows and no answer is sent. A TypeScript server sends the
// result of the call on one stream and the withdrawal on another: whichever comes first closes the prompt.
func TestHTTPServerWithdraws(t *testing.T) {
	eachWay(t, legacyWay, func(t *testing.T, y way, s *peers.Server, d *door, w, panel *fakeeditor.Window) {
		const reason = "found it out myself"
		c := d.call("peer", "ask_then_withdraw", fmt.Sprintf(`{"after":300,"reason":%q}`, reason))
		p := w.WaitPrompt(form)
		causes := []mcphubv1.PromptCause{mcphubv1.PromptCause_PROMPT_CAUSE_WITHDRAWN}
		twoStreams := y.kind == "http" && typescript(y)
		if twoStreams {
			causes = append(causes, mcphubv1.PromptCause_PROMPT_CAUSE_PARENT)
		}
		end := closedWith(t, p.GetPromptId(), causes, w, panel)
		if end.GetCause() == mcphubv1.PromptCause_PROMPT_CAUSE_WITHDRAWN && y.reasons && end.GetReason() != reason {
			t.Errorf("the card says %q", end.GetReason())
		}
		if text := c.text(); text != "withdrawn" {
			t.Errorf("result %q", text)
		}
		s.Wait("the withdrawal", func(e peers.Event) bool { return e.Is(peers.EventWithdrawn, "ask_then_withdraw") })
		until(t, "the answer is suppressed", func() bool {
			return d.server("peer").GetCounters().GetSuppressedResponses() == 1
		})
		if r := w.Accept(p.GetPromptId(), `{"name":"x"}`); r.GetError().GetReason() != "PROMPT_CLOSED" {
			t.Errorf("a late answer: %v", r)
		}
		d.settles("peer", s)
		if n := requests(s, ofMethod("response")) + requests(s, ofMethod("notifications/cancelled")); n != 0 {
			t.Errorf("the hub answered or cancelled %d times", n)
		}
	})
}

// TestHTTPCancelDuringPrompt: the prompt closes in both windows. A legacy server is sent the notification; a modern one
// has no request open, so it is sent nothing and gets no further round.
func TestHTTPCancelDuringPrompt(t *testing.T) {
	eachWay(t, anyWay, func(t *testing.T, y way, s *peers.Server, d *door, w, panel *fakeeditor.Window) {
		c := d.call("peer", "ask", `{}`)
		p := w.WaitPrompt(form)
		panel.WaitShown(p.GetPromptId())
		cancels(t, panel, c.id, "changed my mind")
		c.fails("CANCELLED", "CANCELLED")
		closedWith(t, p.GetPromptId(), []mcphubv1.PromptCause{mcphubv1.PromptCause_PROMPT_CAUSE_PARENT}, w, panel)
		e := cancelled(t, w, c.id, mcphubv1.Origin_ORIGIN_USER, "changed my mind")
		if e.GetServerNotified() == y.modern() {
			t.Errorf("told %v", e)
		}
		if !y.modern() {
			s.Wait("the cancelled tool", func(e peers.Event) bool { return e.Is(peers.EventCancelled, "ask") })
		}
		d.settles("peer", s)
		want := map[bool]int{true: 0, false: 1}[y.modern()]
		if n := requests(s, ofMethod("notifications/cancelled")); n != want {
			t.Errorf("%d cancels came, not %d", n, want)
		}
		if n := requests(s, func(e peers.Event) bool { return e.Tool == "ask" }); n != 1 {
			t.Errorf("%d rounds of the call came, not 1", n)
		}
	})
}

// TestHTTPServerKilled: a call fails with a clear error when its server is killed, other servers go on, and the next
// call works once the server is back.
func TestHTTPServerKilled(t *testing.T) {
	for _, y := range ways {
		t.Run(y.name, func(t *testing.T) {
			t.Parallel()
			s := y.open(t)
			between := newTap(t, y.address(s))
			p := newPlace(t)
			e := y.entry(s)
			path := "/mcp"
			if y.kind == "sse" {
				path = "/sse"
			}
			e.URL = between.url + path
			d := p.open(servers{"peer": e, "bystander": p.fake()})
			w := d.window("side bar")
			other := d.call("bystander", "hang", "")
			c := d.call("peer", "slow", endless)
			asking := d.call("peer", "ask", `{}`)
			prompt := w.WaitPrompt(form)
			progressed(w, c.id)
			w.WaitRequest(other.id, running)

			s.Kill()
			f := failure(t, c)
			if f.Code != "UNAVAILABLE" || f.Reason != "EXCHANGE_FAILED" && f.Reason != "SERVER_GONE" ||
				!strings.Contains(f.Message, "slow") || !strings.Contains(f.Message, "may have had effects") {
				t.Errorf("the caller was told %+v", f)
			}
			if end := w.WaitTerminal(c.id).GetMcpRequestFinished(); !end.GetServerMayContinue() &&
				f.Reason == "EXCHANGE_FAILED" {
				t.Errorf("the window was told %v", end)
			}
			if !y.modern() { // a modern server is not needed while its prompt is open
				failure(t, asking)
			}
			d.echoes("bystander", "undisturbed")
			if state := w.Requests()[other.id].GetState(); state != running {
				t.Errorf("the other call is %v", state)
			}
			if f := failure(t, d.call("peer", "slow", `{"ms":50,"steps":5}`)); f.Code != "UNAVAILABLE" {
				t.Errorf("a call while it is gone: %+v", f)
			}

			back := y.open(t)
			between.to(y.address(back))
			d.settles("peer", back)
			if !y.modern() {
				// A question that came on no call's stream, while two calls ran, closes with the session. The hub sees
				// the session's end when the server is back.
				closedWith(t, prompt.GetPromptId(), []mcphubv1.PromptCause{mcphubv1.PromptCause_PROMPT_CAUSE_SERVER_GONE,
					mcphubv1.PromptCause_PROMPT_CAUSE_PARENT}, w)
			} else {
				takes(t, w.Accept(prompt.GetPromptId(), `{"name":"Ada"}`))
				if text := asking.text(); !strings.Contains(text, "Ada") {
					t.Errorf("result %q", text)
				}
			}
			if n := begun(back, "slow"); n != 1 { // the one that failed is not repeated
				t.Errorf("the new server began %d calls, not 1", n)
			}
		})
	}
}
