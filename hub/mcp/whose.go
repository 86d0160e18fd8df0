package mcp

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

const (
	// lingerTime is how long a call that was cancelled after it was sent counts as in flight at its server, if the server
	// does not answer it: a question that comes meanwhile may be its.
	lingerTime = 30 * time.Second
	// withdrawGrace is how long a server may take to withdraw its question itself after the call that caused it was
	// cancelled, or has ended: over Streamable HTTP the result of the call and the withdrawal come on two streams, in
	// either order. Well-made servers do withdraw; then nothing is answered. The others get the answer "cancel".
	withdrawGrace = time.Second
	// maxTasksOver is how many tasks that are over are remembered by their ids.
	maxTasksOver = 256
)

// asker is whose a request of a legacy server is.
type asker struct {
	call  *CallRequest   // nil: of no call that is known
	over  bool           // of a call that is over or was cancelled: nobody is asked
	some  bool           // of one of several that were in flight when it came, and not known of which
	among []*CallRequest // which; with some
}

// lingering is the book of the calls that were cancelled and may go on at the server. Guarded by Session.mu.
type lingering struct {
	calls map[jsonrpc.ID]*CallRequest
	queue []lingerer // in the order of their ends; one that was answered is still in it
	tasks []string   // ids of tasks that are over, a ring
	next  int
}

type lingerer struct {
	id    jsonrpc.ID
	until time.Time
}

func (l *lingering) add(id jsonrpc.ID, call *CallRequest) {
	l.expire()
	if l.calls == nil {
		l.calls = make(map[jsonrpc.ID]*CallRequest)
	}
	l.calls[id] = call
	l.queue = append(l.queue, lingerer{id, time.Now().Add(lingerTime)})
}

// expire forgets those whose time is over.
func (l *lingering) expire() {
	if len(l.queue) == 0 {
		return
	}
	n, now := 0, time.Now()
	for n < len(l.queue) && !now.Before(l.queue[n].until) {
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

// linger notes that a request of a call was given up. It is called before the call leaves the books, so that there is
// no moment at which a question of it could be taken for anybody else's.
func (s *Session) linger(call *openCall, sent *jsonrpc.Call, cancelled *jsonrpc.CancelledError) {
	s.givenUp(call, sent.ID(), sent.GivenUp())
	if cancelled.Sent {
		cancelled.OnDelivery(func(d jsonrpc.Delivery, _ error) {
			if d == jsonrpc.NotNeeded { // it turns out that the server never saw the request
				s.settled(sent.ID())
			}
		})
	}
}

// givenUp takes a call out of those that are live. lingers: it may go on at the server, where it is known by this id.
func (s *Session) givenUp(call *openCall, id jsonrpc.ID, lingers bool) {
	lingers = lingers && s.Era() == Legacy // no other era has requests of the server
	s.mu.Lock()
	defer s.mu.Unlock()
	call.given = true
	if lingers {
		s.lingering.add(id, call.req)
	}
}

// settled: the server has answered a call that was given up, or never saw it.
func (s *Session) settled(id jsonrpc.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lingering.expire()
	delete(s.lingering.calls, id)
}

// whose tells which call a request of the server belongs to. A request that came in the answer to one of ours is
// exactly known, as is one that names its task; what they belong to is over when no call has it any more. Any other
// belongs to a call on the wire, those that linger among them: to the one that there is; with several of which one is
// live to none that could be named, as to name the wrong one would be a lie to who reads it; to nobody when all of them
// were given up. Without any, it is unsolicited.
func (s *Session) whose(r *jsonrpc.Request) asker {
	if named := member(member(r.Params, "_meta"), protocol.MetaRelatedTask); named != nil {
		return s.whoseTask(stringOf(member(named, "taskId")))
	}
	if !r.Source.IsZero() {
		return s.whoseAnswer(r.Source)
	}
	return s.whoseByCount(false)
}

// whoseByCount goes by how many calls may be meant; awaiting: only those that wait for the task that they asked for.
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
		for _, c := range s.lingering.calls {
			among = append(among, c)
		}
		return asker{some: true, among: among}
	}
	return asker{}
}

// whoseAnswer is the call with this wire id. Even a request that came at once finds it: the gate waits until the id is
// known.
func (s *Session) whoseAnswer(source jsonrpc.ID) asker {
	s.mu.Lock()
	calls := slices.Collect(maps.Keys(s.calls))
	_, gone := s.lingering.calls[source]
	s.mu.Unlock()
	if gone {
		return asker{over: true}
	}
	for _, c := range calls {
		c.gate.Lock() // not within s.mu: it is held while a round is sent
		found := c.wire == source
		c.gate.Unlock()
		if found {
			return asker{call: c.req}
		}
	}
	// A list, a completion and the like are no calls; whatever is asked in their course stands for itself.
	return asker{over: !s.peer.Tracker().IsPending(jsonrpc.Outgoing, source)}
}

// whoseTask is the call whose task a request names, which a request within a task MUST do (2025-11-25
// basic/utilities/tasks, "Related Task Metadata"). The server may ask before its answer that names the task has been
// taken in: then it is the one call that waits for its task, if there is exactly one.
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
