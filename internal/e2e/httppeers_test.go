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

// TestHTTPPeers: each way to reach a server on an SDK of others, in its own hub, behind a tap, with two windows and a
// bystander: a call with progress, questions, a withdrawal, a cancel during a question, a cancel, and the death of the
// server, one after the other. The server is "peer".
func TestHTTPPeers(t *testing.T) {
	for _, y := range ways {
		t.Run(y.name, func(t *testing.T) {
			t.Parallel()
			s := y.open(t)
			between := newTap(t, y.address(s))
			p := newPlace(t)
			e := y.entry(s)
			e.URL = between.url + map[string]string{"http": "/mcp", "sse": "/sse"}[y.kind]
			d := p.open(servers{"peer": e, "bystander": p.fake()})
			v := &visit{t: t, way: y, server: s, door: d, between: between, url: e.URL, w: d.window("side bar"),
				panel: d.window("panel")}
			v.calls()
			v.asks() // before any cancel: what is asked soon after one may be of the call that was cancelled
			if !y.modern() {
				v.withdraws()
			}
			v.isCancelledWhileItAsks()
			v.isCancelled()
			v.isKilled()
		})
	}
}

// visit is what goes on between a hub and one peer.
type visit struct {
	*door
	t        *testing.T
	way      way
	server   *peers.Server
	between  *tap
	url      string
	w, panel *fakeeditor.Window

	finished int // calls of slow that have run to their end
	cancels  int // notifications that the server was sent
}

func (v *visit) modern() bool { return v.way.modern() }

// settles makes a call and waits until its end is in the journal: then all that came before it is, too.
func (v *visit) settles(s *peers.Server) {
	v.t.Helper()
	v.works("peer")
	v.finished++
	n := 0
	s.Wait("the end of the call", func(e peers.Event) bool {
		if e.Is(peers.EventFinished, "slow") {
			n++
		}
		return n == v.finished
	})
}

// wantCancels checks how many cancels the server was sent, one more each time in the legacy era, none in the modern.
func (v *visit) wantCancels() {
	v.t.Helper()
	if !v.modern() {
		v.cancels++
	}
	if n := requests(v.server, ofMethod("notifications/cancelled")); n != v.cancels {
		v.t.Errorf("%d cancels came, not %d", n, v.cancels)
	}
}

// calls: a call with progress, and what the hub then says of the server.
func (v *visit) calls() {
	v.t.Helper()
	c := v.call("peer", "slow", `{"ms":200,"steps":4}`)
	progressed(v.w, c.id)
	if text := c.text(); text != "done" {
		v.t.Errorf("result %q", text)
	}
	v.finished++
	if e := v.w.WaitTerminal(c.id).GetMcpRequestFinished(); e.GetState() != mcphubv1.RequestState_REQUEST_STATE_DONE {
		v.t.Errorf("the end: %v", e)
	}
	wantEra, wantRevision := mcphubv1.Era_ERA_LEGACY, "2025-11-25"
	if v.modern() {
		wantEra, wantRevision = mcphubv1.Era_ERA_MODERN, "2026-07-28"
	}
	wantTransport := map[string]mcphubv1.ServerTransport{
		"http": mcphubv1.ServerTransport_SERVER_TRANSPORT_HTTP, "sse": mcphubv1.ServerTransport_SERVER_TRANSPORT_SSE,
	}[v.way.kind]
	if got := v.door.server("peer"); got.GetEra() != wantEra || got.GetProtocolRevision() != wantRevision ||
		got.GetTransport() != wantTransport || got.GetUrl() != v.url {
		v.t.Errorf("the server is shown as %v", got)
	}
}

// isCancelled: a cancel travels as its binding says: in the legacy era by the notification with the reason, over
// Streamable HTTP also by the end of the stream; in the modern era by the end of the exchange alone. The tool is
// cancelled, and the next call works.
func (v *visit) isCancelled() {
	v.t.Helper()
	const reason = `no longer needed: "é" 中`
	slow := func(e peers.Event) bool { return e.Method == "tools/call" && e.Tool == "slow" }
	before := requests(v.server, slow)
	c := v.call("peer", "slow", endless)
	progressed(v.w, c.id)
	cancels(v.t, v.w, c.id, reason)
	if f := c.fails("CANCELLED", "CANCELLED"); f.Meta["cancel_reason"] != reason || f.Meta["origin"] != "user" {
		v.t.Errorf("the caller was told %+v", f)
	}
	for _, w := range []*fakeeditor.Window{v.w, v.panel} {
		e := cancelled(v.t, w, c.id, mcphubv1.Origin_ORIGIN_USER, reason)
		if !delivered(w, c.id) || !mayContinue(e) {
			v.t.Errorf("%s was told %v", w, e)
		}
	}
	id := cancelled(v.t, v.w, c.id, mcphubv1.Origin_ORIGIN_USER, reason).GetWireIdJson()
	heard := v.server.Wait("the cancelled tool", func(e peers.Event) bool { return e.Is(peers.EventCancelled, "slow") })
	if v.way.reasons && heard.Reason != reason {
		v.t.Errorf("the tool heard the reason %q", heard.Reason)
	}
	if !v.modern() {
		n := v.server.Wait("the notification", func(e peers.Event) bool {
			return e.Event == peers.EventRequest && e.Method == "notifications/cancelled" && string(e.ID) == id
		})
		if n.Reason != reason {
			v.t.Errorf("the notification says %q", n.Reason)
		}
	}
	v.settles(v.server)
	v.wantCancels()
	if n := requests(v.server, slow) - before; n != 2 {
		v.t.Errorf("%d calls came, not 2", n)
	}
	// The Go SDK ends the stream itself: either end may come first.
	if v.way.kind == "http" && v.way.name != "Go, HTTP legacy" {
		v.server.Wait("the closed stream", func(e peers.Event) bool {
			return e.Event == peers.EventDisconnected && e.Method == "tools/call" && string(e.ID) == id
		})
	}
	if r := v.w.CancelRequest(c.id, "again"); r.GetCancelOutcome() !=
		mcphubv1.CancelOutcome_CANCEL_OUTCOME_ALREADY_FINISHED {
		v.t.Errorf("a second cancel: %v", r)
	}
}

// asks: a form that is accepted, declined and dismissed, and a completion, in both eras; the modern one asks by a
// result and is answered by another round.
func (v *visit) asks() {
	v.t.Helper()
	cases := []struct {
		tool, want string
		kind       mcphubv1.PromptKind
		answer     func(id string) *mcphubv1.Reply
		cause      mcphubv1.PromptCause
	}{
		{"ask", `"action":"accept"`, form, func(id string) *mcphubv1.Reply {
			return v.w.Accept(id, `{"name":"Ada"}`)
		}, mcphubv1.PromptCause_PROMPT_CAUSE_ANSWERED},
		{"ask", `"action":"decline"`, form, func(id string) *mcphubv1.Reply {
			return v.w.Decline(id, "")
		}, mcphubv1.PromptCause_PROMPT_CAUSE_DECLINED},
		{"ask", `"action":"cancel"`, form, func(id string) *mcphubv1.Reply {
			return v.panel.Dismiss(id)
		}, mcphubv1.PromptCause_PROMPT_CAUSE_DISMISSED},
		{"sample", "Bonjour", sampling, func(id string) *mcphubv1.Reply {
			return v.panel.Accept(id, `{"role":"assistant","model":"m","content":{"type":"text","text":"Bonjour"}}`)
		}, mcphubv1.PromptCause_PROMPT_CAUSE_ANSWERED},
	}
	before := requests(v.server, ofMethod("response"))
	for _, q := range cases {
		c := v.call("peer", q.tool, `{}`)
		p := v.w.WaitPrompt(q.kind)
		if p.GetParentRequestId() != c.id && p.GetRequestId() != c.id {
			v.t.Errorf("the prompt names no request of the call: %v", p)
		}
		v.panel.WaitShown(p.GetPromptId())
		takes(v.t, q.answer(p.GetPromptId()))
		closedWith(v.t, p.GetPromptId(), []mcphubv1.PromptCause{q.cause}, v.w, v.panel)
		r := c.answer()
		if r.GetIsError() || !strings.Contains(textOf(v.t, r.GetResultJson()), q.want) {
			v.t.Errorf("%s, want %s: %v", q.tool, q.want, r)
		}
		if rounds := r.GetRounds(); v.modern() != (rounds == 2) {
			v.t.Errorf("%s took %d rounds", q.tool, rounds)
		}
	}
	v.settles(v.server)
	posted := requests(v.server, ofMethod("response")) - before
	if want := map[bool]int{true: 0, false: len(cases)}[v.modern()]; posted != want {
		v.t.Errorf("%d answers were posted, not %d", posted, want)
	}
}

// withdraws: the prompt closes in both windows and no answer is sent. A TypeScript server sends the result of the call
// on one stream and the withdrawal on another: whichever comes first closes the prompt.
func (v *visit) withdraws() {
	v.t.Helper()
	const reason = "found it out myself"
	said := func() int {
		return requests(v.server, ofMethod("response")) + requests(v.server, ofMethod("notifications/cancelled"))
	}
	before, suppressed := said(), v.door.server("peer").GetCounters().GetSuppressedResponses()
	c := v.call("peer", "ask_then_withdraw", fmt.Sprintf(`{"after":300,"reason":%q}`, reason))
	p := v.w.WaitPrompt(form)
	causes := []mcphubv1.PromptCause{mcphubv1.PromptCause_PROMPT_CAUSE_WITHDRAWN}
	if v.way.kind == "http" && v.way.reasons { // two streams
		causes = append(causes, mcphubv1.PromptCause_PROMPT_CAUSE_PARENT)
	}
	end := closedWith(v.t, p.GetPromptId(), causes, v.w, v.panel)
	if end.GetCause() == mcphubv1.PromptCause_PROMPT_CAUSE_WITHDRAWN && v.way.reasons && end.GetReason() != reason {
		v.t.Errorf("the card says %q", end.GetReason())
	}
	if text := c.text(); text != "withdrawn" {
		v.t.Errorf("result %q", text)
	}
	v.server.Wait("the withdrawal", func(e peers.Event) bool { return e.Is(peers.EventWithdrawn, "ask_then_withdraw") })
	until(v.t, "the answer is suppressed", func() bool {
		return v.door.server("peer").GetCounters().GetSuppressedResponses() == suppressed+1
	})
	if r := v.w.Accept(p.GetPromptId(), `{"name":"x"}`); r.GetError().GetReason() != "PROMPT_CLOSED" {
		v.t.Errorf("a late answer: %v", r)
	}
	v.settles(v.server)
	if n := said() - before; n != 0 {
		v.t.Errorf("the hub answered or cancelled %d times", n)
	}
}

// isCancelledWhileItAsks: the prompt closes in both windows. A legacy server is sent the notification; a modern one has
// no request open, so it is sent nothing and gets no further round.
func (v *visit) isCancelledWhileItAsks() {
	v.t.Helper()
	ask := func(e peers.Event) bool { return e.Tool == "ask" }
	before := requests(v.server, ask)
	c := v.call("peer", "ask", `{}`)
	p := v.w.WaitPrompt(form)
	v.panel.WaitShown(p.GetPromptId())
	cancels(v.t, v.panel, c.id, "changed my mind")
	c.fails("CANCELLED", "CANCELLED")
	closedWith(v.t, p.GetPromptId(), []mcphubv1.PromptCause{mcphubv1.PromptCause_PROMPT_CAUSE_PARENT}, v.w, v.panel)
	if e := cancelled(v.t, v.w, c.id, mcphubv1.Origin_ORIGIN_USER, "changed my mind"); delivered(v.w, c.id) == v.modern() {
		v.t.Errorf("told %v", e)
	}
	if !v.modern() {
		v.server.Wait("the cancelled tool", func(e peers.Event) bool { return e.Is(peers.EventCancelled, "ask") })
	}
	v.settles(v.server)
	v.wantCancels()
	if n := requests(v.server, ask) - before; n != 1 {
		v.t.Errorf("%d rounds of the call came, not 1", n)
	}
}

// isKilled: a call fails with a clear error when its server is killed, other servers go on, and the next call works
// once the server is back.
func (v *visit) isKilled() {
	v.t.Helper()
	other := v.call("bystander", "hang", "")
	c := v.call("peer", "slow", endless)
	asking := v.call("peer", "ask", `{}`)
	prompt := v.w.WaitPrompt(form)
	progressed(v.w, c.id)
	v.w.WaitRequest(other.id, running)

	v.server.Kill()
	f := failure(v.t, c)
	if f.Code != "UNAVAILABLE" || f.Reason != "EXCHANGE_FAILED" && f.Reason != "SERVER_GONE" ||
		!strings.Contains(f.Message, "slow") || !strings.Contains(f.Message, "may have had effects") {
		v.t.Errorf("the caller was told %+v", f)
	}
	if end := v.w.WaitTerminal(c.id).GetMcpRequestFinished(); !end.GetServerMayContinue() &&
		f.Reason == "EXCHANGE_FAILED" {
		v.t.Errorf("the window was told %v", end)
	}
	if !v.modern() { // a modern server is not needed while its prompt is open
		failure(v.t, asking)
	}
	v.echoes("bystander", "undisturbed")
	if state := v.w.Requests()[other.id].GetState(); state != running {
		v.t.Errorf("the other call is %v", state)
	}
	if f := failure(v.t, v.call("peer", "slow", `{"ms":50,"steps":5}`)); f.Code != "UNAVAILABLE" {
		v.t.Errorf("a call while it is gone: %+v", f)
	}

	back := v.way.open(v.t)
	v.between.to(v.way.address(back))
	v.finished = 0
	v.settles(back)
	if !v.modern() {
		// A question that came on no call's stream, while two calls ran, closes with the session. The hub sees the
		// session's end when the server is back.
		closedWith(v.t, prompt.GetPromptId(), []mcphubv1.PromptCause{mcphubv1.PromptCause_PROMPT_CAUSE_SERVER_GONE,
			mcphubv1.PromptCause_PROMPT_CAUSE_PARENT}, v.w)
	} else {
		takes(v.t, v.w.Accept(prompt.GetPromptId(), `{"name":"Ada"}`))
		if text := asking.text(); !strings.Contains(text, "Ada") {
			v.t.Errorf("result %q", text)
		}
	}
	if n := begun(back, "slow"); n != 1 { // the one that failed is not repeated
		v.t.Errorf("the new server began %d calls, not 1", n)
	}
}
