package mcpserver

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
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

// rounds is one modern request over all exchanges that belong to it. Its round decides; rounds carries out what it
// orders, with mu held.
type rounds struct {
	call    *Call
	share   share
	counted *share // share, if it is bounded beside the session; else nil
	cancel  context.CancelCauseFunc
	at      parking // written with mu and the server's lock held
	// binding is the hash of client and call: a retry must have the same. Set when the call is parked for the first time.
	binding [sha256.Size]byte

	mu      sync.Mutex
	round   round
	onWire  wireExchange
	next    int                     // counts questions
	open    map[int]*question       // by number
	answers map[int]json.RawMessage // of the retry that is taken now
	timer   *time.Timer             // while parked
	result  json.RawMessage
	err     error
}

// wireExchange is a request of the client on the wire.
type wireExchange struct {
	ctx     context.Context
	of      *exchange
	request int // as the round counts
	answer  chan exchangeAnswer
}

// exchangeAnswer is the answer to a request of the client.
type exchangeAnswer struct {
	result json.RawMessage
	err    error
	round  bool
}

// question is a question that was asked and not answered yet.
type question struct {
	key    string
	method string
	params json.RawMessage
	answer chan json.RawMessage // capacity 1
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
		return r.follow(r.retry(ctx, c))
	}
	r := &rounds{call: c, share: shareOf(c.Client), round: newRound(), open: map[int]*question{}}
	if !s.lasting {
		r.counted = &r.share
	}
	if !s.server.enter(r.counted, s.server.o.Bounds.OpenPerSession) {
		return nil, errTooMany
	}
	if slices.Contains(askable, c.Method) {
		c.asked = r
	}
	x := r.takes(ctx, c.via.Load())
	var own context.Context
	own, r.cancel = context.WithCancelCause(s.ctx)
	s.rounds.Go(func() {
		defer func() { r.apply(roundReturned{}) }() // last
		defer r.cancel(nil)
		if c.Method == protocol.MethodListen {
			r.result, r.err = s.listen(own, c)
			return
		}
		r.result, r.err = s.handle(own, c)
		r.result = completed(c.Method, r.result)
	})
	return r.follow(x)
}

// takes makes x the exchange on the wire.
func (r *rounds) takes(ctx context.Context, x *exchange) wireExchange {
	r.call.via.Store(x)
	r.onWire = wireExchange{ctx, x, r.onWire.request + 1, make(chan exchangeAnswer, 1)}
	return r.onWire
}

// retry takes the retry of a call that was unparked. Answers to what was not asked are ignored.
func (r *rounds) retry(ctx context.Context, c *Call) wireExchange {
	responses := jsontext.Get(c.Params, "inputResponses")
	r.mu.Lock()
	defer r.mu.Unlock()
	x := r.takes(ctx, c.via.Load())
	r.answers = map[int]json.RawMessage{}
	defer func() { r.answers = nil }()
	var answered []int
	for number, q := range r.open {
		if answer := jsontext.Get(responses, q.key); answer != nil {
			r.answers[number] = bytes.Clone(answer)
			answered = append(answered, number)
		}
	}
	r.carryOut(roundRetried{answered})
	return x
}

// follow waits for the answer to an exchange.
func (r *rounds) follow(x wireExchange) (json.RawMessage, error) {
	var a exchangeAnswer
	select {
	case a = <-x.answer:
	case <-x.ctx.Done():
		r.apply(roundCancelled{x.request, context.Cause(x.ctx)})
		a = <-x.answer
	}
	if session := r.call.Session; a.round && session.lasting {
		context.AfterFunc(x.ctx, func() { // if a cancel comes at the same time, the round is not written
			if withdrawn := (*jsonrpc.WithdrawnError)(nil); errors.As(context.Cause(x.ctx), &withdrawn) {
				session.giveUp(x.of.id, withdrawn)
			}
		})
	}
	return a.result, a.err
}

// apply tells the round what has happened, and carries out what it orders.
func (r *rounds) apply(e any) {
	r.mu.Lock()
	gaveWay := r.carryOut(e)
	r.mu.Unlock()
	for _, oldest := range gaveWay {
		oldest.apply(roundGivenUp{ErrGaveWay})
	}
}

// carryOut is apply with mu held. It returns the calls that gave way to this one.
func (r *rounds) carryOut(e any) (gaveWay []*rounds) {
	for _, o := range r.round.apply(e) {
		switch o := o.(type) {
		case beginGathering:
			time.AfterFunc(gather, func() { r.apply(roundGathered{}) })
		case parkCall:
			var err error
			if gaveWay, err = r.park(); err == nil {
				r.carryOut(roundParked{})
			} else {
				r.carryOut(roundUnparkable{err})
			}
		case answerRound:
			r.call.via.Store(nil)
			r.onWire.answer <- exchangeAnswer{result: r.inputRequired(o.questions), round: true}
		case answerOutcome:
			r.onWire.answer <- exchangeAnswer{result: r.result, err: r.err}
		case answerError:
			why := o.why
			if why == nil {
				why = context.Cause(r.onWire.ctx)
			}
			r.onWire.answer <- exchangeAnswer{err: why}
		case answerQuestion:
			r.open[o.number].answer <- r.answers[o.number]
			delete(r.open, o.number)
		case loseQuestion:
			close(r.open[o.number].lost)
			delete(r.open, o.number)
		case stopCall:
			r.cancel(o.why)
		case beginWaiting:
			s, state := r.call.Session.server, r.at.state
			r.timer = time.AfterFunc(s.o.Bounds.Retry, func() { s.giveUp(state, ErrNoRetry) })
		case endWaiting:
			r.timer.Stop()
		case countRunning:
			r.call.Session.server.count(r.counted, o.running)
		}
	}
	return gaveWay
}

func (r *rounds) ask(ctx context.Context, key, method string, params json.RawMessage) (json.RawMessage, error) {
	q := &question{method: method, params: params, answer: make(chan json.RawMessage, 1), lost: make(chan struct{})}
	r.mu.Lock()
	r.next++
	number := r.next
	if q.key = key; key == "" || r.hasKey(key) {
		q.key = "q" + strconv.Itoa(number)
	}
	r.open[number] = q
	r.carryOut(roundAsked{number})
	r.mu.Unlock()
	select {
	case answer := <-q.answer:
		return answer, nil
	case <-ctx.Done():
	case <-q.lost:
	}
	r.mu.Lock()
	delete(r.open, number)
	r.carryOut(roundDropped{number})
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

func (r *rounds) hasKey(key string) bool {
	for _, q := range r.open {
		if q.key == key {
			return true
		}
	}
	return false
}

// inputRequired returns the answer that is a round of questions.
func (r *rounds) inputRequired(questions []int) json.RawMessage {
	b := []byte(`{"resultType":"input_required","inputRequests":{`)
	for i, number := range questions {
		q := r.open[number]
		if i > 0 {
			b = append(b, ',')
		}
		b = jsontext.AppendString(append(jsontext.AppendString(b, q.key), `:{"method":`...), q.method)
		if q.params != nil {
			b = append(append(b, `,"params":`...), q.params...)
		}
		b = append(b, '}')
	}
	return append(append(append(b, `},"requestState":"`...), r.at.state...), '"', '}')
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

// parking is the place of a parked call.
type parking struct {
	state   string          // the requestState
	request wireRequest     // that was answered with the round
	ctx     context.Context // of that request: it ends with a cancel that crosses the round
	n       uint64          // position in the order of all parked calls
}

// wireRequest identifies a request of a client.
type wireRequest struct {
	session *Session
	id      jsonrpc.ID
}

// park parks the call, whose mu is held. It returns the calls that give way to it, of which nobody else knows any more.
func (r *rounds) park() (gaveWay []*rounds, err error) {
	if r.at.state == "" {
		r.binding = binding(r.call)
	}
	return r.call.Session.server.keep(rand.Text(), r)
}

// keep parks a call. The calls of one client may take no more places than it may have open requests, and a quarter of
// the bytes, so that a client that never retries does not affect the others: beyond that its own oldest give way to the
// new one. Error: ErrNotParked, if there is no room then.
func (s *Server) keep(state string, r *rounds) (gaveWay []*rounds, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.o.Bounds
	bytes, own, ownBytes := len(r.call.Params), []string(nil), len(r.call.Params) // own: the oldest first
	for other, parked := range s.parked {
		bytes += len(parked.call.Params)
		if parked.owner() == r.owner() {
			own = append(own, other)
			ownBytes += len(parked.call.Params)
		}
	}
	slices.SortFunc(own, func(a, b string) int { return cmp.Compare(s.parked[a].at.n, s.parked[b].at.n) })
	for len(own) >= b.OpenPerSession || ownBytes > b.ParkedBytes/4 || len(s.parked) >= b.Parked || bytes > b.ParkedBytes {
		if len(own) == 0 {
			return gaveWay, ErrNotParked
		}
		oldest := s.parked[own[0]]
		s.drop(own[0])
		own, gaveWay = own[1:], append(gaveWay, oldest)
		bytes, ownBytes = bytes-len(oldest.call.Params), ownBytes-len(oldest.call.Params)
	}
	s.parkings++
	r.at = parking{state, wireRequest{r.call.Session, r.onWire.of.id}, r.onWire.ctx, s.parkings}
	s.parked[state] = r
	s.parkedAt[r.at.request] = state
	return gaveWay, nil
}

// owner identifies the client whose calls are counted together: its session if that lasts for more than one call.
func (r *rounds) owner() any {
	if r.call.Session.lasting {
		return r.call.Session
	}
	return r.share
}

// unpark removes a parked call of a session and returns it, or nil if there is none with that state and binding. Who
// gets it tells its round what has become of it: nobody else does.
func (s *Server) unpark(state string, session *Session, of [sha256.Size]byte) *rounds {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.parked[state]
	if r == nil || r.call.Session != session || r.binding != of {
		return nil
	}
	s.drop(state)
	return r
}

// drop removes a call from parked. Called with mu held.
func (s *Server) drop(state string) {
	if of := s.parked[state].at.request; s.parkedAt[of] == state { // otherwise the client has used the id again
		delete(s.parkedAt, of)
	}
	delete(s.parked, state)
}

// leaveParked removes parked calls whose handlers have returned.
func (s *Server) leaveParked(which func(r *rounds) bool) {
	var left []*rounds
	s.mu.Lock()
	for state, r := range s.parked {
		if which(r) {
			s.drop(state)
			left = append(left, r)
		}
	}
	s.mu.Unlock()
	for _, r := range left {
		r.apply(roundGivenUp{})
	}
}

// parkedBy returns the requestState of the call that was parked with the answer to the request id, or "".
func (s *Session) parkedBy(id jsonrpc.ID) (state string) {
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	return s.server.parkedAt[wireRequest{s, id}]
}

// giveUp ends a call that was parked with its answer to the request id: its client has cancelled that request at the
// same time. No other message says that the client will not retry.
func (s *Session) giveUp(id jsonrpc.ID, cause error) { s.server.giveUp(s.parkedBy(id), cause) }

// giveUp ends the call that is parked with that state, if there is one: its client will not retry. If its client has
// cancelled the request that was answered with the round, that is the cause: the cancel may be carried out later than
// another one that was read after it.
func (s *Server) giveUp(state string, cause error) {
	s.mu.Lock()
	r := s.parked[state]
	if r != nil {
		s.drop(state)
	}
	s.mu.Unlock()
	if r == nil {
		return
	}
	if first := (*jsonrpc.WithdrawnError)(nil); errors.As(context.Cause(r.at.ctx), &first) {
		cause = first
	}
	r.apply(roundGivenUp{cause})
}
