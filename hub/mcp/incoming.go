package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// codeRejected is the code of the answer to a sampling request that a user has refused (client/sampling, "Error
// Handling", all legacy revisions).
const codeRejected = -1

// requestCame records which call led to a question. It does so before the next message is read, because that may be the
// answer to the call, after which the call cannot be found any more.
func (s *Session) requestCame(r *jsonrpc.Request) {
	switch r.Method {
	case protocol.MethodRoots:
		r.Behind = s.whose(r)
		return
	case protocol.MethodSampling, protocol.MethodElicitation:
	default:
		return
	}
	if s.o.NewTrace != nil {
		r.Tag = s.o.NewTrace()
	}
	a := s.whose(r)
	r.Behind, r.Aside = a, a.over // a question that is shown to no user must not take the place of one that is
}

// handleRequest answers one request of a legacy server, in a goroutine of its own: a question may stay open for as long
// as a user needs. If ctx ends because the server has withdrawn the request, jsonrpc discards what is returned here.
func (s *Session) handleRequest(ctx context.Context, r *jsonrpc.Request) (json.RawMessage, error) {
	declared := s.state.Load().declared
	switch r.Method {
	case protocol.MethodRoots:
		if !declared.Roots {
			return nil, refusalOf(errUndeclared)
		}
		a, _ := r.Behind.(asker)
		return s.rootsResult(ctx, a.call, "")
	case protocol.MethodSampling, protocol.MethodElicitation:
		q, err := readQuestion(r.Method, r.Params, declared)
		if err != nil {
			s.tellBound(err)
			return nil, refusalOf(err)
		}
		q.WireID, q.Trace = r.ID, r.Tag
		a, _ := r.Behind.(asker)
		if a.over {
			s.log.Debug("a question of a call that is over is shown to nobody", "kind", q.Kind.String())
			return withinGrace(ctx.Done(), q.Kind, Answer{Action: Dismiss})
		}
		q.Call, q.OfSome, q.Among, q.Past = a.call, a.some, a.among, a.past
		return s.answerRequest(ctx, r, q)
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found"}
}

// tellBound reports to Options.OnBound a question that is not asked because of its size.
func (s *Session) tellBound(err error) {
	if bound := (*BoundError)(nil); errors.As(err, &bound) && s.o.OnBound != nil {
		s.o.OnBound(bound)
	}
}

func (s *Session) answerRequest(ctx context.Context, r *jsonrpc.Request, q *Question) (json.RawMessage, error) {
	a, err := s.o.Handler.Ask(ctx, q)
	if errors.Is(err, ErrCallOver) {
		// During its second of grace the question would take the place of one that is shown to a user. If there is no place
		// aside, it gets no grace: a server that leaves so many questions open withdraws none.
		if !r.StepAside() {
			return legacyResult(q.Kind, a)
		}
		return withinGrace(ctx.Done(), q.Kind, a)
	}
	if err == nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err == nil {
		var result json.RawMessage
		if result, err = legacyResult(q.Kind, a); err == nil {
			return result, nil
		}
	}
	if errors.As(err, new(*BoundError)) {
		return nil, refusalOf(err)
	}
	if refusal := rpcError(err); refusal != nil {
		return nil, refusal
	}
	if ctx.Err() == nil {
		s.log.Warn("a question of the server could not be answered", "kind", q.Kind.String(), "id", q.WireID.String(),
			"error", bounds.Printable(err.Error()))
	}
	return nil, err
}

// legacyResult returns the answer on the wire, with a different form for each of the three actions: elicitation has an
// action for each, sampling a result and one error code.
func legacyResult(kind QuestionKind, a Answer) (json.RawMessage, error) {
	if kind != Sampling {
		return elicitationResult(kind, a)
	}
	refusal := &jsonrpc.Error{Code: codeRejected, Message: "the sampling request was dismissed"}
	switch {
	case a.Action == Accept:
		return samplingResult(a)
	case a.Action == Decline:
		refusal.Message = "the sampling request was declined"
	case a.Unasked:
		refusal.Message = "nobody could be asked"
	}
	return nil, refusal
}

const (
	// lingerTime is how long a call that was cancelled after it was sent counts as in flight at its server, if the server
	// does not answer it: a question that comes in that time may belong to it.
	lingerTime = 30 * time.Second
	// withdrawGrace is how long a server has to withdraw its question itself after the call that caused it was cancelled
	// or has ended: over Streamable HTTP the result of the call and the withdrawal come on two streams, in either order.
	// If the server withdraws it, as it should, nothing is answered. Otherwise the answer is "cancel".
	withdrawGrace = time.Second
	// maxLingering is how many cancelled calls count as in flight at one server. Beyond it the oldest counts no more.
	// Package jsonrpc remembers as many: the late response of an older one is that of an unknown call.
	maxLingering = 4096
	// maxTasksOver is how many ids of tasks that are over are stored.
	maxTasksOver = 256
)

// asker says to which call a request of a legacy server belongs.
type asker struct {
	call  *CallRequest   // nil: no call, or not known which
	over  bool           // the call is over or was cancelled: no user is asked
	some  bool           // it belongs to one of several calls that were in flight when it came
	among []*CallRequest // those of them that were not cancelled; set with some
	past  []PastClient   // the clients of the others, each once; set with some
}

// lingering holds the calls that were cancelled and may continue at the server. It keeps the client of each and nothing
// else of it: a server that answers no cancelled call would cost the arguments of half a minute. Guarded by Session.mu.
type lingering struct {
	calls map[jsonrpc.ID]PastClient
	queue []lingerer // in the order of their ends; an answered call stays in it
	tasks []string   // ids of tasks that are over, a ring buffer
	next  int
}

type lingerer struct {
	id    jsonrpc.ID
	until time.Time
}

func (l *lingering) add(id jsonrpc.ID, client string) {
	l.expire()
	if l.calls == nil {
		l.calls = make(map[jsonrpc.ID]PastClient)
	}
	now := time.Now()
	l.calls[id] = PastClient{client, now}
	l.queue = append(l.queue, lingerer{id, now.Add(lingerTime)})
}

// clients returns the clients of the calls, each once.
func (l *lingering) clients() (all []PastClient) {
	last := make(map[string]time.Time, min(len(l.calls), 8))
	for _, c := range l.calls {
		if c.Cancelled.After(last[c.Client]) {
			last[c.Client] = c.Cancelled
		}
	}
	for client, cancelled := range last {
		all = append(all, PastClient{client, cancelled})
	}
	return all
}

// expire removes the calls whose time is over, or that are too many.
func (l *lingering) expire() {
	if len(l.queue) == 0 {
		return
	}
	n, now := 0, time.Now()
	for n < len(l.queue) && (!now.Before(l.queue[n].until) || len(l.queue)-n >= maxLingering) {
		delete(l.calls, l.queue[n].id)
		n++
	}
	if l.queue = l.queue[n:]; len(l.queue) == 0 {
		l.queue, l.calls = nil, nil
	}
}

func (l *lingering) taskOver(id string) {
	if len(l.tasks) < maxTasksOver {
		l.tasks = append(l.tasks, id)
		return
	}
	l.tasks[l.next] = id
	l.next = (l.next + 1) % maxTasksOver
}

// linger records that a request of a call was given up. It is called before the call leaves Session.calls, so that at
// no moment a question of the call could be assigned to another one.
func (s *Session) linger(call *openCall, sent *jsonrpc.Call, cancelled *jsonrpc.CancelledError) {
	s.givenUp(call, sent.ID(), func() bool { return sent.GivenUp() && s.peer.Tracker().Unanswered(sent.ID()) })
	if cancelled.Sent {
		cancelled.OnDelivery(func(d jsonrpc.Delivery, _ error) {
			if d == jsonrpc.NotNeeded { // the server never saw the request, as is known now
				s.settled(sent.ID())
			}
		})
	}
}

// givenUp marks a call as cancelled. lingers says whether it may continue at the server, which knows it by this id. It
// is called with mu held: a response that it does not know of so far comes to settled afterwards.
func (s *Session) givenUp(call *openCall, id jsonrpc.ID, lingers func() bool) {
	legacy := s.Era() == Legacy // in the modern era servers send no requests
	s.mu.Lock()
	defer s.mu.Unlock()
	call.given = true
	if legacy && lingers() {
		s.lingering.add(id, call.req.Client)
	}
}

// settled removes a call that was given up from lingering: the server has answered it, or never saw it.
func (s *Session) settled(id jsonrpc.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lingering.expire()
	delete(s.lingering.calls, id)
}

// whose returns the call to which a request of the server belongs. It is known exactly for a request that came in the
// answer to one of our requests, and for one that names its task: the call is over if no open call has that id any
// more. Any other request belongs to a call on the wire, including those that linger. If there is one, it belongs to
// that one. If there are several and at least one was not cancelled, the call is not known, and none is named because
// it might be the wrong one. If all were cancelled, no user is asked. Without any call, the request is unsolicited.
func (s *Session) whose(r *jsonrpc.Request) asker {
	if named := member(member(r.Params, "_meta"), protocol.MetaRelatedTask); named != nil {
		return s.whoseTask(stringOf(member(named, "taskId")))
	}
	if !r.Source.IsZero() {
		return s.whoseAnswer(r.Source)
	}
	return s.whoseByCount(false)
}

// whoseByCount decides by the number of possible calls. With awaiting, only the calls count that wait for a task for
// which they asked.
func (s *Session) whoseByCount(awaiting bool) asker {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lingering.expire()
	var only *CallRequest
	var among []*CallRequest
	live := 0
	for c := range s.calls {
		if c.onWire && !c.given && (!awaiting || c.augmented && c.taskID == "") {
			only = c.req
			among = append(among, c.req)
			live++
		}
	}
	switch lingering := len(s.lingering.calls); {
	case live == 0 && lingering > 0:
		return asker{over: true}
	case live == 1 && lingering == 0:
		return asker{call: only}
	case live > 0:
		return asker{some: true, among: among, past: s.lingering.clients()}
	}
	return asker{}
}

// whoseAnswer returns the call with this wire id. It also finds it for a request that came at once: taking the gate
// waits until the id is known.
func (s *Session) whoseAnswer(source jsonrpc.ID) asker {
	s.mu.Lock()
	calls := slices.Collect(maps.Keys(s.calls))
	_, gone := s.lingering.calls[source]
	s.mu.Unlock()
	if gone {
		return asker{over: true}
	}
	for _, c := range calls {
		c.gate.Lock() // not with s.mu held: gate is held while a round is sent
		found := c.wire == source
		c.gate.Unlock()
		if found {
			return asker{call: c.req}
		}
	}
	// A list, a completion and the like are not in calls; a question during one of them belongs to no call.
	return asker{over: !s.peer.Tracker().IsPending(jsonrpc.Outgoing, source)}
}

// whoseTask returns the call whose task a request names, which a request within a task MUST do (2025-11-25
// basic/utilities/tasks, "Related Task Metadata"). The server may ask before its answer that names the task was
// processed: then it is the one call that waits for its task, if there is exactly one.
func (s *Session) whoseTask(id string) asker {
	s.mu.Lock()
	for c := range s.calls {
		if c.taskID != "" && c.taskID == id {
			s.mu.Unlock()
			return asker{call: c.req, over: c.given}
		}
	}
	over := slices.Contains(s.lingering.tasks, id)
	s.mu.Unlock()
	if over {
		return asker{over: true}
	}
	return s.whoseByCount(true)
}

// withinGrace answers a question of a call that is over, unless the server withdraws it first.
func withinGrace(done <-chan struct{}, kind QuestionKind, a Answer) (json.RawMessage, error) {
	grace := time.NewTimer(withdrawGrace)
	defer grace.Stop()
	select {
	case <-done:
	case <-grace.C:
	}
	return legacyResult(kind, a)
}
