package mcpserver

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// gather is how long a round waits for more questions, so that questions asked at the same time are sent together.
const gather = 5 * time.Millisecond

// rounds is one modern request over all exchanges that belong to it: at any moment one request of the client is on the
// wire, or none while the call is parked.
type rounds struct {
	call    *Call
	share   share
	counted *share // share, if it is bounded beside the session; else nil
	cancel  context.CancelCauseFunc
	wake    chan struct{} // capacity 1: a question was asked
	done    chan struct{} // closed when result and err are set
	at      parking       // guarded by the server's lock
	result  json.RawMessage
	err     error

	mu     sync.Mutex
	place  bool // it counts as running: not while parked
	over   bool // the handler has returned
	parked bool
	next   int
	open   []*question // in the order in which they were asked
	timer  *time.Timer // while parked
	// binding is the hash of client and call: a retry must have the same. Set when the call is parked for the first time.
	binding [sha256.Size]byte
}

// question is a question that was asked and not answered yet.
type question struct {
	key    string
	method string
	params json.RawMessage
	answer chan json.RawMessage // capacity 1
	shown  bool                 // it is in the round that the client has now
	lost   chan struct{}        // closed when no retry can bring the answer any more
}

// askable are the methods whose answer may be questions (2026-07-28 basic/patterns/mrtr).
var askable = []string{protocol.MethodCallTool, protocol.MethodGetPrompt, protocol.MethodReadResource}

// serveModern answers one exchange of a modern client: a new request, or the retry of a parked one.
func (s *Session) serveModern(ctx context.Context, c *Call) (json.RawMessage, error) {
	if state := jsontext.Get(c.Params, "requestState"); state != nil {
		r := s.server.unpark(jsontext.String(state), s, binding(c))
		if r == nil {
			return nil, errState
		}
		r.reenter()
		r.takeResponses(jsontext.Get(c.Params, "inputResponses"))
		r.settle()
		return r.follow(ctx, c.via.Load())
	}
	r := &rounds{call: c, share: shareOf(c.Client), wake: make(chan struct{}, 1), done: make(chan struct{}), place: true}
	if !s.lasting {
		r.counted = &r.share
	}
	if !s.server.enter(r.counted, s.server.o.Bounds.OpenPerSession) {
		return nil, errTooMany
	}
	if slices.Contains(askable, c.Method) {
		c.asked = r
	}
	var own context.Context
	own, r.cancel = context.WithCancelCause(s.ctx)
	s.rounds.Go(func() {
		defer close(r.done) // last: when the answer is there, the request does not count as running any more
		defer r.end()
		defer r.cancel(nil)
		if c.Method == protocol.MethodListen {
			r.result, r.err = s.listen(own, c)
			return
		}
		r.result, r.err = s.handle(own, c)
		r.result = completed(c.Method, r.result)
	})
	return r.follow(ctx, c.via.Load())
}

// follow waits for the end of the call or for a question, for the exchange that is on the wire.
func (r *rounds) follow(ctx context.Context, x *exchange) (json.RawMessage, error) {
	r.call.via.Store(x)
	for {
		select {
		case <-r.done:
			return r.result, r.err
		case <-ctx.Done():
			r.cancel(context.Cause(ctx))
			<-r.done
			return nil, context.Cause(ctx)
		case <-r.wake:
		}
		select {
		case <-r.done:
			return r.result, r.err
		case <-ctx.Done():
			continue
		case <-time.After(gather):
		}
		round, err := r.park(ctx, x)
		if err != nil {
			r.cancel(err)
			<-r.done
			return nil, err
		}
		if round == nil {
			continue
		}
		if session := r.call.Session; session.lasting {
			context.AfterFunc(ctx, func() { // if a cancel comes at the same time, the round is not written
				if withdrawn := (*jsonrpc.WithdrawnError)(nil); errors.As(context.Cause(ctx), &withdrawn) {
					session.giveUp(x.id, withdrawn)
				}
			})
		}
		return round, nil
	}
}

// leave ends the counting of the call as running: while it is parked, and when it is over.
func (r *rounds) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.place {
		r.place = false
		r.call.Session.server.leave(r.counted)
	}
}

// end marks that the handler has returned. A client that has a round will still retry, for the outcome of the call and
// with the answers: a question in it may also belong to another call.
func (r *rounds) end() {
	r.mu.Lock()
	r.over = true
	r.mu.Unlock()
	r.settle()
	r.leave()
}

// settle unblocks the goroutines whose questions no retry can answer any more: after the end of the call, all that are
// not in a round that the client has.
func (r *rounds) settle() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over {
		return
	}
	r.open = slices.DeleteFunc(r.open, func(q *question) bool {
		if r.parked && q.shown {
			return false
		}
		close(q.lost)
		return true
	})
}

// reenter counts the call as running again, without a bound: the number of parked calls is bounded. A call that is over
// does not count.
func (r *rounds) reenter() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over && !r.place {
		r.place = true
		s := r.call.Session.server
		s.mu.Lock()
		defer s.mu.Unlock()
		s.take(r.counted)
	}
}

// takeResponses passes the answers of a retry to the goroutines that asked. Questions without an answer stay open, for
// the next round.
func (r *rounds) takeResponses(responses json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open = slices.DeleteFunc(r.open, func(q *question) bool {
		answer := jsontext.Get(responses, q.key)
		if answer == nil {
			return false
		}
		q.answer <- bytes.Clone(answer)
		return true
	})
	for _, q := range r.open {
		q.shown = false
	}
	if len(r.open) > 0 {
		r.awake()
	}
}

func (r *rounds) awake() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *rounds) ask(ctx context.Context, key, method string, params json.RawMessage) (json.RawMessage, error) {
	q := &question{method: method, params: params, answer: make(chan json.RawMessage, 1), lost: make(chan struct{})}
	r.mu.Lock()
	if r.over {
		r.mu.Unlock()
		return nil, ErrNotAskable
	}
	r.next++
	if q.key = key; key == "" || slices.ContainsFunc(r.open, func(o *question) bool { return o.key == key }) {
		q.key = "q" + strconv.Itoa(r.next)
	}
	r.open = append(r.open, q)
	r.awake()
	r.mu.Unlock()
	select {
	case answer := <-q.answer:
		return answer, nil
	case <-ctx.Done():
	case <-q.lost:
	}
	r.mu.Lock()
	r.open = slices.DeleteFunc(r.open, func(o *question) bool { return o == q })
	r.mu.Unlock()
	select {
	case answer := <-q.answer: // the answer came before
		return answer, nil
	default:
	}
	if ctx.Err() == nil {
		return nil, ErrNotAskable
	}
	return nil, context.Cause(ctx)
}

// binding returns a hash of the client and the call: everything that a retry must repeat (2026-07-28
// basic/patterns/mrtr).
func binding(c *Call) (sum [sha256.Size]byte) {
	h := sha256.New()
	part := func(b []byte) {
		h.Write(strconv.AppendInt(nil, int64(len(b)), 10))
		h.Write([]byte{':'})
		h.Write(b)
	}
	part([]byte(c.Method))
	part(c.Client.Info)
	jsontext.Members(c.Params, func(name []byte, value json.RawMessage) bool {
		switch string(name) {
		case "_meta", "inputResponses", "requestState":
		default:
			part(name)
			part(value)
		}
		return true
	})
	h.Sum(sum[:0])
	return sum
}

// cached are the methods whose complete results must say how long they are fresh (2026-07-28 utilities/caching).
var cached = []string{protocol.MethodListTools, protocol.MethodListPrompts, protocol.MethodListResources,
	protocol.MethodListResourceTemplates, protocol.MethodReadResource}

// completed adds to the beginning of a result the members that 2026-07-28 requires and that it lacks, because the
// handler's result may come from the other era. All existing members stay unchanged.
func completed(method string, result json.RawMessage) json.RawMessage {
	if len(result) == 0 {
		result = json.RawMessage("{}")
	}
	if !jsontext.IsObject(result) {
		return result
	}
	var lacking []byte
	add := func(name, value string) {
		if jsontext.Get(result, name) == nil {
			lacking = append(append(append(lacking, '"'), name...), `":`+value+`,`...)
		}
	}
	add("resultType", `"complete"`)
	if slices.Contains(cached, method) {
		add("ttlMs", "0")
		add("cacheScope", `"private"`)
	}
	if lacking == nil {
		return result
	}
	rest := bytes.TrimLeft(bytes.TrimLeft(result, " \t\r\n")[1:], " \t\r\n")
	if rest[0] == '}' {
		lacking = lacking[:len(lacking)-1]
	}
	return append(append([]byte{'{'}, lacking...), rest...)
}
