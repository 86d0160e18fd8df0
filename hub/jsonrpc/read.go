package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"time"

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
			p.tapResponse(&tracked{id: ID{raw: string(m.ID)}, method: g.method, tag: g.tag}, m,
				Observed{Bytes: len(m.Text), Dropped: true})
			if p.opts.OnLateResponse != nil {
				p.opts.OnLateResponse(LateResponse{
					ID: ID{raw: string(m.ID)}, Method: g.method, Result: result, Quiet: g.quiet, Tag: g.tag, Settle: g.settle,
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
func (p *Peer) tapResponse(e *tracked, m *Message, o Observed) {
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
