package jsonrpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// largeResult is the size from which on a result in bytes that the Peer owns is not copied.
const largeResult = 64 << 10

// read is the reading goroutine. It handles each message before it reads the next, and handling never blocks.
func (p *Peer) read() {
	var r jsontext.Reader
	var storm storm
	for {
		storm.wait(p.ending)
		msg, err := p.conn.ReadMessage(p.opts.Results)
		p.late = false
		switch {
		case err == nil:
			p.bad = false
			p.receive(&r, &msg)
			if p.bad && p.opts.OnBadLine != nil {
				p.opts.OnBadLine(msg.Text)
			}
		case !p.missing(err):
			p.end(err, true)
			return
		}
		storm.note(p.late, len(msg.Text), msg.Drained)
	}
}

// missing handles an error that stands for one message, and reports whether err is such an error.
func (p *Peer) missing(err error) bool {
	var long *jsontext.TooLongError
	var failed *CallFailedError
	switch {
	case errors.As(err, &long):
		p.oversize(long)
	case errors.As(err, &failed):
		p.callFailed(failed)
	default:
		return false
	}
	return true
}

func (p *Peer) receive(r *jsontext.Reader, m *Message) {
	defer func() { m.Hold.Release() }() // unless a call has taken it
	if m.Kind == jsontext.Invalid {
		m.Kind = r.Message(m.Text, &m.Message)
	}
	switch m.Kind {
	case jsontext.Single, jsontext.Deep:
		p.dispatch(m)
	case jsontext.Array:
		if p.opts.Batches == nil || !p.opts.Batches() {
			p.badLine("array", m)
			return
		}
		// 2025-03-26 basic, "Batching": implementations must accept batches. Each answer is sent as a message of its own.
		empty := true
		jsontext.Elements(m.Text, func(element json.RawMessage) bool {
			empty = false
			one := Message{Text: element, Source: m.Source}
			if one.Kind = r.Message(element, &one.Message); one.Kind == jsontext.Single {
				p.dispatch(&one)
			} else {
				p.badLine("batch element", &one)
			}
			return true
		})
		if empty {
			p.badLine("empty array", m)
		}
	default:
		p.badLine("not JSON", m)
	}
}

// isDeep reports that the message is nested too deeply: only the names of the members and the id may be used.
func (m *Message) isDeep() bool { return m.Kind == jsontext.Deep }

func (p *Peer) dispatch(m *Message) {
	hasID := jsontext.IsID(m.ID)
	switch {
	case string(m.Version) != `"2.0"` && jsontext.String(m.Version) != "2.0":
		p.badLine("not JSON-RPC 2.0", m)
	case m.Method != nil:
		method := jsontext.String(m.Method)
		switch {
		case method == "":
			p.badLine("no method name", m)
		case m.isDeep() && m.ID != nil && hasID:
			p.badLine("nested too deeply", m)
			p.unread(ID{raw: string(m.ID)}, "the request is nested too deeply")
		case m.isDeep():
			p.badLine("nested too deeply", m)
		case m.ID == nil && method == "notifications/cancelled":
			p.peerCancelled(m.Params, len(m.Text))
		case m.ID == nil:
			p.notification(method, m.Params, len(m.Text))
		case hasID:
			p.request(method, m)
		default:
			p.badLine("request id", m)
		}
	case hasID && (m.Result != nil || m.Error != nil):
		p.response(m)
	case hasID && p.tracker.IsPending(Outgoing, ID{raw: string(m.ID)}):
		p.response(m)
	case !m.isDeep() && !hasID && (m.ID == nil || jsontext.IsNull(m.ID)) && m.Error != nil:
		// JSON-RPC 2.0 section 5: the form of an answer to an unreadable request. Since 2025-11-25 the id may be absent.
		e, _ := ReadError(m.Error)
		n := p.count.add(&p.count.PeerErrors)
		if e != nil && logged(n) {
			p.log.Warn("the peer reports an error for no request", "code", e.Code, "count", n)
		}
	default:
		p.badLine("neither request nor response", m)
	}
}

func (p *Peer) notification(method string, params []byte, size int) {
	if p.in.handle == nil {
		return
	}
	if p.opts.Direct != nil && p.in.idle() {
		p.direct = Notification{Method: method, Params: params, Size: size}
		if p.opts.Direct(&p.direct) {
			p.late = true
			return
		}
	}
	n := &Notification{Method: method, Params: bytes.Clone(params), Size: size}
	class, key := MustDeliver, ""
	if p.opts.Classify != nil {
		class, key = p.opts.Classify(n)
	}
	p.late = class != MustDeliver
	p.in.notify(n, class, key)
}

func (p *Peer) response(m *Message) {
	e, g, late := p.tracker.takeResponse(m.ID)
	if e == nil {
		if late {
			p.count.add(&p.count.LateResponses)
			result := m.Result
			if m.isDeep() {
				result = nil
			}
			p.tapResponse(&Tracked{ID: ID{raw: string(m.ID)}, Method: g.method, tag: g.tag}, m,
				Observed{Bytes: len(m.Text), Dropped: true})
			if p.opts.OnLateResponse != nil {
				p.opts.OnLateResponse(LateResponse{
					ID: ID{raw: string(m.ID)}, Method: g.method, Result: result, Quiet: g.quiet, Again: g.late, Tag: g.tag,
					Settle: g.settle,
				})
			}
		} else {
			p.count.add(&p.count.UnknownResponses)
		}
		return
	}
	c, ok := e.handle.(*Call)
	if !ok {
		return
	}
	p.tapResponse(e, m, Observed{Bytes: len(m.Text)})
	isError := m.Error != nil && !jsontext.IsNull(m.Error)
	switch {
	case m.isDeep():
		c.err = &InvalidResponseError{Detail: "nested more than " + strconv.Itoa(jsontext.MaxDepth) + " levels deep"}
	case isError && m.Result != nil && !jsontext.IsNull(m.Result):
		c.err = &InvalidResponseError{Detail: "both result and error"}
	case isError:
		own := p.opts.Results.Hold()
		if err := own.Grow(len(m.Error)); err != nil {
			c.err = &ResultTooLargeError{Size: int64(len(m.Text)), Err: err}
			break
		}
		wire, err := ReadError(m.Error)
		if err != nil {
			own.Release()
			c.err = err
			break
		}
		c.keep(own)
		c.err = wire
	case m.Result != nil:
		result := m.Result
		if !m.Owned || len(result) < largeResult || len(result) < len(m.Text)/2 {
			own := p.opts.Results.Hold()
			if err := own.Grow(len(result)); err != nil {
				c.err = &ResultTooLargeError{Size: int64(len(m.Text)), Err: err}
				break
			}
			result = bytes.Clone(result)
			c.keep(own)
		} else {
			c.keep(m.Hold)
			m.Hold = nil
		}
		c.result = m.ResultObject(result)
	default:
		c.err = &InvalidResponseError{Detail: "neither result nor error"}
	}
	p.in.settle(c)
}

// tapResponse reports a response to e to Options.Tap.
func (p *Peer) tapResponse(e *Tracked, m *Message, o Observed) {
	if p.opts.Tap == nil || e.tag == nil {
		return
	}
	o.Sender, o.Kind = Incoming, KindResponse
	if m.Error != nil && !jsontext.IsNull(m.Error) {
		o.Kind = KindError
		if m.isDeep() {
			p.tapped(e, o)
			return
		}
		if wire, err := ReadError(m.Error); err == nil {
			o.Code = wire.Code
		}
	}
	p.tapped(e, o)
}

// callFailed settles a call whose answer will not come. If the call was cancelled, it is settled already.
func (p *Peer) callFailed(f *CallFailedError) {
	e, g, late := p.tracker.takeResponse([]byte(f.ID.raw))
	if e == nil {
		switch {
		case !late:
			p.count.add(&p.count.UnknownFailures)
		case g.settle != nil:
			g.settle(f.Err)
		}
		return
	}
	if c, ok := e.handle.(*Call); ok {
		c.err = f.Err
		p.in.settle(c)
	}
}

func (p *Peer) badLine(kind string, m *Message) {
	p.bad = true
	if n := p.count.add(&p.count.BadLines); logged(n) {
		p.log.Warn("message ignored", "kind", kind, "bytes", len(m.Text), "count", n)
	}
}

// logged limits the log of an event that a broken peer can cause without end: it reports true for the first 32 times,
// then at each power of two.
func logged(n uint64) bool { return n <= 32 || n&(n-1) == 0 }

// oversize handles a message that was too long to be read. If it is certainly the answer to a call, that call fails. A
// log line that is too long has no effect.
func (p *Peer) oversize(long *jsontext.TooLongError) {
	n := p.count.add(&p.count.OversizeLines)
	if logged(n) {
		p.log.Warn("message too long, skipped", "bytes", long.Size, "limit", long.Limit, "noRoom", long.Err != nil,
			"count", n)
	}
	o := long.Outline()
	switch {
	case o.Method && o.Version && jsontext.IsID(o.ID):
		p.unread(ID{raw: string(o.ID)}, "the request is too long")
	case o.Answers():
		p.unreadAnswer(o.ID, long)
	}
}

// unread answers a request that was not read, because its sender would wait for ever.
func (p *Peer) unread(id ID, why string) {
	if (p.opts.NoServerRequests == nil || !p.opts.NoServerRequests()) && !p.tracker.IsPending(Incoming, id) {
		p.refuse(id, &Error{Code: CodeInvalidRequest, Message: why})
	}
}

func (p *Peer) unreadAnswer(id []byte, long *jsontext.TooLongError) {
	e, _, _ := p.tracker.takeResponse(id)
	if e == nil {
		return
	}
	if c, ok := e.handle.(*Call); ok {
		p.tapped(e, Observed{Sender: Incoming, Kind: KindResponse, Bytes: int(long.Size), Dropped: true})
		c.err = &ResultTooLargeError{Limit: long.Limit, Size: long.Size, Err: long.Err}
		p.in.settle(c)
	}
}

const (
	// stormTick is how long a reader pauses at most, and so the longest delay of an answer during a storm. All readers
	// wake at the same moments: processes that wake together cost the machine one wake-up.
	stormTick = 20 * time.Millisecond
	// A storm is stormRow messages in a row that may be delivered late, within stormRow times stormGap, repeated for at
	// least stormAfter. The few progress notifications of a tool before its answer are not a storm.
	stormRow   = 8
	stormGap   = 10 * time.Millisecond
	stormAfter = 200 * time.Millisecond
	// stormBytes is less than a pipe holds on any system. When as many bytes have come in one tick, the other side may be
	// blocked until the reader reads, and its next message would be more than a tick late.
	stormBytes = 4 << 10
)

// storm pauses the reading goroutine during a storm of messages that may be delivered late: it then reads all that has
// come in a tick at once, instead of being woken for each message. Only the reading goroutine uses it.
type storm struct {
	drained bool // of the last message; see Message

	row   int       // messages that may be late, since the last one that may not or that came slowly
	began time.Time // when the row began
	since time.Time // when the latest stormRow messages of it began
	on    bool

	bytes int       // bytes that came since woke
	woke  time.Time // when it last paused, or last reset bytes
}

// note counts a message of size bytes; late says that it may be delivered late. Any other message ends the storm, so a
// connection with other traffic is read without pauses.
func (s *storm) note(late bool, size int, drained bool) {
	s.drained = drained
	if !late {
		s.row, s.on = 0, false
		return
	}
	s.bytes += size
	if s.row++; s.row == 1 {
		s.began = time.Now()
		s.since = s.began
	} else if s.row%stormRow == 0 {
		now := time.Now()
		if now.Sub(s.since) >= stormRow*stormGap {
			s.row, s.on = 0, false
			return
		}
		s.since, s.on = now, now.Sub(s.began) >= stormAfter
	}
}

// wait pauses, if a storm goes on, until the next tick or the end of the connection.
func (s *storm) wait(end <-chan struct{}) {
	if !s.on || !s.drained {
		return
	}
	now := time.Now()
	switch {
	case now.Sub(s.since) >= stormRow*stormGap:
		s.row, s.on = 0, false
		return
	case s.bytes >= stormBytes:
		if now.Sub(s.woke) >= stormTick {
			s.bytes, s.woke = 0, now
		}
		return
	}
	tick := time.NewTimer(stormTick - time.Duration(now.UnixNano())%stormTick)
	defer tick.Stop()
	select {
	case <-tick.C:
	case <-end:
	}
	s.bytes, s.woke = 0, time.Now()
}

// inbound is one open incoming request.
type inbound struct {
	entry   Tracked
	request Request
	ctx     context.Context // the context of the handler; ends with its cause
	cancel  context.CancelCauseFunc
}

func (in *inbound) cancelWith(cause error) bool {
	in.cancel(cause)
	return true
}

// lingering is how many handlers may run for each request that may be open, most of them for withdrawn requests. A peer
// that sends and withdraws requests faster than the handlers end is refused beyond that.
const lingering = 16

// request starts the handling of an incoming request. Called by the reading goroutine.
func (p *Peer) request(method string, m *Message) {
	if p.opts.NoServerRequests != nil && p.opts.NoServerRequests() {
		if n := p.count.add(&p.count.DroppedRequests); logged(n) {
			p.log.Warn("request dropped: this protocol revision allows the peer none", "method", bounds.Printable(method),
				"count", n)
		}
		return
	}
	if method == "ping" {
		p.pong(ID{raw: string(m.ID)})
		return
	}
	in := &inbound{request: Request{ID: ID{raw: string(m.ID)}, Method: method, Params: m.Params, Source: m.Source}}
	if p.opts.OnRequest != nil {
		p.opts.OnRequest(&in.request)
	}
	if in.request.Withdrawn && p.tracker.table.cancellable(method) {
		p.count.add(&p.count.WithdrawnRequests)
		return
	}
	in.entry.ID, in.entry.Method, in.entry.handle, in.entry.tag, in.entry.aside = in.request.ID, method, in,
		in.request.Tag, in.request.Aside
	in.ctx, in.cancel = context.WithCancelCause(context.Background())
	open, err := p.tracker.add(Incoming, &in.entry)
	serving := &p.serving
	lingers := int64(lingering)
	if in.request.Aside {
		serving, lingers = &p.aside, 1
	}
	switch {
	case errors.Is(err, ErrDuplicateID):
		in.cancel(err)
		p.count.add(&p.count.DuplicateIDs)
		p.refuse(in.request.ID, &Error{Code: CodeInvalidRequest, Message: "a request with this id is pending"})
		return
	case errors.Is(err, errWithdrawnBefore):
		in.cancel(err)
		p.count.add(&p.count.WithdrawnRequests)
		return
	case err != nil:
		in.cancel(err)
		return
	case p.opts.HandleRequest == nil:
		p.refuseOpen(in, &Error{Code: CodeMethodNotFound, Message: "method not found"})
		return
	case open > p.opts.MaxIncoming || serving.Load() >= int64(p.opts.MaxIncoming)*lingers:
		p.count.add(&p.count.RefusedRequests)
		p.refuseOpen(in, &Error{Code: CodeTooManyRequests, Message: "too many open requests: wait until one ends"})
		return
	case p.out.backlog() > p.opts.WriteQueueBytes: // answers have no bound of their own
		p.count.add(&p.count.RefusedRequests)
		p.refuseOpen(in, &Error{Code: CodeTooManyRequests, Message: "too many answers wait to be read: read them first"})
		return
	}
	in.request.Params = bytes.Clone(m.Params)
	in.request.stepAside = func() bool { return p.tracker.stepAside(&in.entry, p.opts.MaxIncoming) }
	p.tapped(&in.entry, Observed{Sender: Incoming, Kind: KindRequest, Bytes: len(m.Text)})
	serving.Add(1)
	p.running.Go(func() {
		defer serving.Add(-1)
		p.serve(in)
	})
}

// pong answers a ping on the reading goroutine, whatever else is open, without registering it, and does not block
// (basic/utilities/ping, all legacy revisions: "The receiver MUST respond promptly with an empty response"). If the
// write queue is full, the answer is dropped: a peer that does not read gets none.
func (p *Peer) pong(id ID) {
	if p.tracker.IsPending(Incoming, id) {
		p.count.add(&p.count.DuplicateIDs)
		p.refuse(id, &Error{Code: CodeInvalidRequest, Message: "a request with this id is pending"})
		return
	}
	var full *QueueFullError
	if err := p.out.push(newFrame(appendResult(nil, id, nil)), bounded, OutgoingMessage{}); errors.As(err, &full) {
		p.count.add(&p.count.DroppedResponses)
	}
}

// serve runs the handler and sends the answer, unless the request was withdrawn or the connection has ended.
func (p *Peer) serve(in *inbound) {
	result, err := p.opts.HandleRequest(in.ctx, &in.request)
	if taken, cause := p.tracker.takeEntry(Incoming, &in.entry); !taken {
		if _, withdrawn := cause.(*WithdrawnError); withdrawn {
			p.count.add(&p.count.SuppressedResponses)
			p.tapped(&in.entry, Observed{Sender: Outgoing, Kind: KindResponse, Dropped: true})
		}
		return
	}
	in.cancel(errRequestOver)
	// Not bounded: there are at most MaxIncoming of these, and the peer would wait for ever for a lost answer.
	_ = p.out.push(p.answer(in, result, err), unbounded, OutgoingMessage{})
}

func (p *Peer) answer(in *inbound, result json.RawMessage, err error) *frame {
	message, refusal, hidden := Response(in.entry.ID, result, err)
	if hidden != nil {
		p.log.Error("a request could not be answered", "method", bounds.Printable(in.entry.Method),
			"id", bounds.Printable(in.entry.ID.raw), "error", bounds.Printable(hidden.Error()))
	}
	f := &frame{about: &in.entry, buf: message, kind: KindResponse}
	if refusal != nil {
		f.kind, f.code = KindError, refusal.Code
	}
	return f
}

// refuseOpen answers a request that was registered and gets no handler.
func (p *Peer) refuseOpen(in *inbound, e *Error) {
	in.cancel(e)
	if taken, _ := p.tracker.takeEntry(Incoming, &in.entry); taken {
		p.refuse(in.entry.ID, e)
	}
}

// refuse answers with an error, if the queue has room: a peer that floods us without reading must not fill our memory.
// An error is short, so errors may exceed the limit of the queue, up to twice that limit.
func (p *Peer) refuse(id ID, e *Error) {
	f := newFrame(appendError(nil, id, e))
	if p.out.backlog() < 2*p.opts.WriteQueueBytes {
		_ = p.out.push(f, unbounded, OutgoingMessage{})
		return
	}
	p.count.add(&p.count.DroppedResponses)
}

// peerCancelled handles notifications/cancelled. It is called by the reading goroutine, so that the request is gone
// when the next message is handled. Unknown, late and malformed ones are ignored (basic/utilities/cancellation, "Error
// Handling").
func (p *Peer) peerCancelled(params []byte, size int) {
	var rawID, rawReason []byte
	object := jsontext.Members(params, func(name []byte, value json.RawMessage) bool {
		switch string(name) {
		case "requestId":
			rawID = value
		case "reason":
			rawReason = value
		}
		return true
	})
	id, err := ParseID(rawID)
	if !object || err != nil {
		p.count.add(&p.count.MalformedCancels)
		return
	}
	reason := jsontext.String(rawReason) // optional, so a reason that is no string is treated as absent
	cause := &WithdrawnError{Reason: reason}
	if e := p.tracker.takeWithdrawn(id, cause); e != nil {
		// The entry was removed: from here on no answer to it can be written, and its id is free.
		p.count.add(&p.count.WithdrawnRequests)
		p.tapped(e, Observed{Sender: Incoming, Kind: KindNotification, Method: "notifications/cancelled", Bytes: size})
		e.handle.cancelWith(cause)
		if p.log.Enabled(context.Background(), slog.LevelDebug) {
			p.log.Debug("request cancelled", "direction", Incoming.String(), "id", bounds.Printable(id.raw),
				"method", bounds.Printable(e.Method), "reason", bounds.Printable(reason))
		}
		return
	}
	if p.opts.OnOutgoingCancelled == nil || !p.opts.OnOutgoingCancelled(id, reason) {
		p.count.add(&p.count.UnknownCancels)
		return
	}
	if e := p.tracker.take(Outgoing, id); e != nil {
		if c, ok := e.handle.(*Call); ok {
			c.err = cause
			p.in.settle(c)
		}
	}
}
