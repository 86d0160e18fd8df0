package hub

import (
	"context"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
)

// result is what an event has led to for whoever applied it.
type result struct {
	refused core.Refusal
	needed  core.Needed
	outcome event.Outcome
	delayed bool // the answer is given a moment later: see core.ReplyDelayed
}

// apply applies an event to the core, and carries out what follows. Something that is carried out may cause the next
// event, as the start of a server is a request of its own. That event is applied at once, and what follows from it
// comes after what is left.
func (st *state) apply(e core.Event) (got result) {
	at := time.Now()
	effects := st.core.Apply(at, e)
	st.record.Note(at, e, effects)
	for _, effect := range effects {
		switch effect := effect.(type) {
		case core.Refused:
			got.refused = effect.Why
			continue
		case core.Needed:
			got.needed = effect
			continue
		case core.CancelOutcome:
			got.outcome = effect.Outcome
			continue
		case core.ReplyDelayed:
			got.delayed = true
			continue
		case core.RequestOpened:
			st.bindRequest(effect)
		case core.PromptOpened:
			st.bindPrompt(effect)
		}
		st.traced(effect)
		st.pending = append(st.pending, effect)
	}
	if st.carrying {
		return got
	}
	st.carrying = true
	defer func() { // also if carryOut panics, which ends the process: see unlock
		clear(st.pending)
		st.pending, st.carrying = st.pending[:0], false
	}()
	for i := 0; i < len(st.pending); i++ {
		st.carryOut(st.pending[i])
	}
	return got
}

// carryOut does what the core has ordered. None of it waits.
func (st *state) carryOut(effect core.Effect) {
	switch e := effect.(type) {
	case core.RequestOpened:
		if st.windows.count() > 0 {
			info := st.requests[e.Request].base()
			info.State = event.StateQueued
			st.emit(&event.RequestStarted{Request: info})
		}
	case core.RequestShown:
		r := st.requests[e.Request]
		if e.State != event.StateCancelling && !e.State.Terminal() && st.windows.count() > 0 {
			st.emit(&event.RequestProgressed{RequestID: r.id, Server: r.server.name, State: e.State, Progress: r.progress,
				WireID: r.wireID, Task: r.task})
		}
	case core.CancelAccepted:
		st.cancelAccepted(&e)
	case core.Stopped:
		st.requests[e.Request].stop(e.Cause)
	case core.RequestEnded:
		st.requestEnded(&e)
	case core.RequestAnsweredLate:
		st.windows.history.AnsweredLate(e.ID, e.Answer)
		st.emit(&event.RequestAnsweredLate{RequestID: e.ID, Server: e.Name, Answer: e.Answer})
	case core.RequestTimerSet:
		st.requests[e.Request].setTimer(e.At)
	case core.ClockRanOut:
		r := st.requests[e.Request]
		st.cancel(r, r.timeout(e.Idle, e.Limit))
	case core.WindowGone:
		st.windowGone(e.Window)
	case core.WindowTimerSet:
		h := st.hub
		st.windows.expect(e.Window, time.Until(e.At), func() { h.windowTimer(e.Window) })
	case core.TurnsTaken:
		st.log.Info("a question of a server may belong to calls of different clients, so none of them can be asked; from now "+
			"on their calls are sent to it one after the other", "server", e.Name)
	case core.TurnCame:
		r := st.requests[e.Request]
		close(r.turn)
		r.turn = nil
	case core.TurnTimerSet:
		st.setTurnTimer(e.Server, e.At)
	case core.StartExpired:
		st.requests[e.Request].expire()
	case core.PromptOpened:
		p := st.prompts[e.Prompt]
		if !p.hidden {
			st.emit(&event.PromptOpened{Prompt: p.info})
		}
	case core.ClientAsked:
		st.prompts[e.Prompt].caller = st.requests[e.Client].caller
	case core.PromptShown:
		p := st.prompts[e.Prompt]
		p.hidden = false
		st.emit(&event.PromptOpened{Prompt: p.info})
	case core.PromptClosed:
		st.promptClosed(&e)
	case core.PromptRanOut:
		p := st.prompts[e.Prompt]
		st.apply(core.PromptExpired{Prompt: e.Prompt, Cause: &event.CancelCause{Origin: event.OriginTimeout,
			Reason: "timeouts.human of " + e.Limit.String() + " exceeded",
			Err:    errHumanTimeout(&p.info, e.Limit, p.request.server.where())}})
	default:
		st.carryOutServer(effect)
	}
}

// carryOutServer does what the core has ordered of a server.
func (st *state) carryOutServer(effect core.Effect) {
	switch e := effect.(type) {
	case core.ServerShown:
		st.shown(st.live[e.Server], e)
	case core.StartBegun:
		st.live[e.Server].begin(e)
	case core.StartStopped:
		st.live[e.Server].attempt.stop(e.Cause) // run does the rest
	case core.SessionDetached:
		st.live[e.Server].detach(e.Cause)
	case core.SessionClosed:
		st.live[e.Server].closeSession(e)
	case core.EntryReplaced:
		st.live[e.Server].replaceEntry(e.Entry)
	case core.ServerForgotten:
		s := st.live[e.Server]
		s.stopTimer()
		s.wakeStopped()
		delete(st.live, e.Server)
	case core.LaunchReplaced:
		st.live[e.Server].relaunch()
	case core.GivenUp:
		s := st.live[e.Server]
		s.lastError = s.errGivenUp(e.Failures).Message
		st.log.Warn("server given up", "server", s.name, "failures", e.Failures)
	case core.WaiterWoken:
		st.wake(e)
	case core.ServerTimerSet:
		st.live[e.Server].setTimer(e.At)
	}
}

// bindRequest gives the request that is being made its number and id.
func (st *state) bindRequest(e core.RequestOpened) {
	r := st.making
	st.making = nil
	r.number, r.id = e.Request, e.ID
	r.start = time.Now()
	r.ctx, r.stop = context.WithCancelCause(r.ctx)
	if r.trace == nil {
		r.trace = st.record.NewTimeline()
	}
	r.trace.Begin(r.number, r.id)
	st.startSpan(r.ctx, r)
	st.requests[r.number] = r
}

// bindPrompt gives the question that is being asked its number and id.
func (st *state) bindPrompt(e core.PromptOpened) {
	p := st.asking
	st.asking = nil
	p.number, p.id, p.request = e.Prompt, core.OwnID(st.mark, "prompt", uint64(e.Prompt)), st.requests[e.Request]
	r := p.request
	p.info.ID, p.info.Server, p.info.RequestID, p.info.Open, p.info.Deadline = p.id, r.server.name, r.id, e.Open, e.Expires
	if r.parent != nil {
		p.info.ParentRequestID = r.parent.id
	}
	p.settled, p.hidden = make(chan closing, 1), e.Hidden
	if e.Client != 0 {
		p.caller = st.requests[e.Client].caller
		p.asked, p.endAsking = context.WithCancelCause(context.Background())
	}
	st.prompts[p.number] = p
	if !e.Expires.IsZero() {
		p.timer = time.AfterFunc(e.Expires.Sub(e.Open), func() {
			st.hub.update(func(st *state) { st.apply(core.PromptTimer{Prompt: p.number}) })
		})
	}
}

// promptClosed gives whoever asked the end of a question.
func (st *state) promptClosed(e *core.PromptClosed) {
	p := st.prompts[e.Prompt]
	delete(st.prompts, e.Prompt)
	if p.timer != nil {
		p.timer.Stop()
	}
	if p.asker != nil {
		p.request.server.allowance.settled(e.End.Cause)
	}
	c := p.answer
	c.cause, c.origin, c.reason, c.windowID = e.End.Cause, e.End.Origin, e.End.Reason, e.End.Window
	if !p.hidden {
		st.emit(&event.PromptClosed{PromptID: p.id, Cause: c.cause, Reason: c.reason, WindowID: c.windowID, Origin: c.origin})
	}
	if p.asked != nil {
		p.endAsking(answeredElsewhere(c, nil))
	}
	p.settled <- c // buffered: a question closes once
}

// cancelAccepted announces that the request is cancelled, and by whom.
func (st *state) cancelAccepted(e *core.CancelAccepted) {
	r := st.requests[e.Request]
	r.cause = e.Cause
	st.log.Info("request cancelled", "request_id", r.id, "server", r.server.name, "method", r.method,
		"direction", r.direction.String(), "origin", e.Cancel.Origin.String(), "reason", bounds.Printable(e.Cancel.Reason))
	st.emit(&event.RequestCancelling{RequestID: r.id, Server: r.server.name, Cancellation: e.Cancel})
}

// requestEnded emits the one terminal event of a request, and releases what it used.
func (st *state) requestEnded(e *core.RequestEnded) {
	r, of := st.requests[e.Request], &ending{}
	if r.ending != nil {
		of = r.ending
	}
	of.state, of.cancellation = e.State, e.Cancel
	r.timings = e.Timings
	if e.State == event.StateCancelled && of.sending.Delivery == 0 {
		of.sending.Delivery = event.DeliveryNotNeeded // r is a question of a server, or the start of a server
	}
	st.tracedEnd(r, of)
	st.endSpan(r, of)
	delete(st.requests, r.number)
	if r.timer != nil {
		r.timer.Stop()
	}
	st.keep(r, of)
	r.stop(e.With)
	if r.over != nil {
		close(r.over)
	}
	if e.State == event.StateCancelled {
		end := &event.RequestCancelled{
			RequestID: r.id, Server: r.server.name, Direction: r.direction, Method: r.method, Tool: r.tool, Subject: r.subject,
			Caller: r.callerName, Preview: r.preview, Title: r.title,
			Cancellation: *e.Cancel, WireID: r.wireID, Sending: of.sending, ServerMayContinue: of.mayContinue,
			Timings: e.Timings, Era: r.server.era(), Err: e.Cause.Err, Task: r.task,
		}
		if e.Late != nil {
			end = end.AnsweredLate(*e.Late)
		}
		st.emit(end)
		if of.sending.Delivery == event.DeliveryPending {
			r.delivery = &delivery{request: r.id, server: r.server.name, trace: r.trace, ended: st.windows.seq}
			st.deliveries.expect(r.delivery)
		}
		return
	}
	st.emit(&event.RequestFinished{
		RequestID: r.id, Server: r.server.name, Direction: r.direction, Method: r.method, Tool: r.tool, Subject: r.subject,
		Caller: r.callerName, Preview: r.preview, Title: r.title,
		State: e.State, IsError: of.isError, McpError: of.mcpError.Shown(), Err: of.err, ServerMayContinue: of.mayContinue,
		Timings: e.Timings, Task: r.task, Result: of.result, ResultSize: len(of.raw),
	})
}
