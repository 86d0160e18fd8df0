package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// largeResult is the size from which on a result in bytes that the Peer owns is not copied.
const largeResult = 64 << 10

// incomingMessage is one message that is being handled. All of it is valid until the next one is read, unless owned is
// set.
type incomingMessage struct {
	jsontext.Message
	size   int
	source ID
	deep   bool // nested too deeply: only the members' names and the id may be used
	owned  bool // the Peer owns the bytes
	hold   *bounds.Hold
}

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

func (p *Peer) receive(r *jsontext.Reader, read *Message) {
	msg, kind := read.Text, read.Kind
	m := incomingMessage{Message: read.Parsed, size: len(msg), source: read.Source, owned: read.Owned, hold: read.Hold}
	defer func() { m.hold.Release() }() // unless a call has taken it
	if kind == jsontext.Invalid {
		kind = r.Message(msg, &m.Message)
	}
	switch kind {
	case jsontext.Single, jsontext.Deep:
		m.deep = kind == jsontext.Deep
		p.dispatch(&m)
	case jsontext.Array:
		if p.opts.Batches == nil || !p.opts.Batches() {
			p.badLine("array", len(msg))
			return
		}
		// 2025-03-26 basic, "Batching": implementations must accept batches. Each answer is sent as a message of its own.
		empty := true
		jsontext.Elements(msg, func(element json.RawMessage) bool {
			empty = false
			one := incomingMessage{size: len(element), source: read.Source}
			if r.Message(element, &one.Message) == jsontext.Single {
				p.dispatch(&one)
			} else {
				p.badLine("batch element", len(element))
			}
			return true
		})
		if empty {
			p.badLine("empty array", len(msg))
		}
	default:
		p.badLine("not JSON", len(msg))
	}
}

func (p *Peer) dispatch(m *incomingMessage) {
	hasID := jsontext.IsID(m.ID)
	switch {
	case string(m.Version) != `"2.0"` && jsontext.String(m.Version) != "2.0":
		p.badLine("not JSON-RPC 2.0", m.size)
	case m.Method != nil:
		method := methodName(m.Method)
		switch {
		case method == "":
			p.badLine("no method name", m.size)
		case m.deep && m.ID != nil && hasID:
			p.badLine("nested too deeply", m.size)
			p.unread(ID{raw: string(m.ID)}, "the request is nested too deeply")
		case m.deep:
			p.badLine("nested too deeply", m.size)
		case m.ID == nil && method == "notifications/cancelled":
			p.peerCancelled(m.Params, m.size)
		case m.ID == nil:
			p.notification(method, m.Params, m.size)
		case hasID:
			p.request(method, m)
		default:
			p.badLine("request id", m.size)
		}
	case hasID && (m.Result != nil || m.Error != nil):
		p.response(m)
	case hasID && p.tracker.IsPending(Outgoing, ID{raw: string(m.ID)}):
		p.response(m)
	case !m.deep && !hasID && (m.ID == nil || jsontext.IsNull(m.ID)) && m.Error != nil:
		// JSON-RPC 2.0 section 5: the form of an answer to an unreadable request. Since 2025-11-25 the id may be absent.
		e, _ := ReadError(m.Error)
		n := p.count.add(&p.count.PeerErrors)
		if e != nil && logged(n) {
			p.log.Warn("the peer reports an error for no request", "code", e.Code, "count", n)
		}
	default:
		p.badLine("neither request nor response", m.size)
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

func (p *Peer) response(m *incomingMessage) {
	e, g, late := p.tracker.takeResponse(m.ID)
	if e == nil {
		if late {
			p.count.add(&p.count.LateResponses)
			result := m.Result
			if m.deep {
				result = nil
			}
			p.tapResponse(&tracked{id: ID{raw: string(m.ID)}, method: g.method, tag: g.tag}, m,
				Observed{Bytes: m.size, Dropped: true})
			if p.opts.OnLateResponse != nil {
				p.opts.OnLateResponse(LateResponse{
					ID: ID{raw: string(m.ID)}, Method: g.method, Result: result, Quiet: g.quiet, Tag: g.tag, Told: g.told,
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
	p.tapResponse(e, m, Observed{Bytes: m.size})
	isError := m.Error != nil && !jsontext.IsNull(m.Error)
	switch {
	case m.deep:
		c.err = &InvalidResponseError{Detail: "nested more than " + strconv.Itoa(jsontext.MaxDepth) + " levels deep"}
	case isError && m.Result != nil && !jsontext.IsNull(m.Result):
		c.err = &InvalidResponseError{Detail: "both result and error"}
	case isError:
		own := p.opts.Results.Hold()
		if err := own.Grow(len(m.Error)); err != nil {
			c.err = &ResultTooLargeError{Size: int64(m.size), Err: err}
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
		if !m.owned || len(result) < largeResult || len(result) < m.size/2 {
			own := p.opts.Results.Hold()
			if err := own.Grow(len(result)); err != nil {
				c.err = &ResultTooLargeError{Size: int64(m.size), Err: err}
				break
			}
			result = bytes.Clone(result)
			c.keep(own)
		} else {
			c.keep(m.hold)
			m.hold = nil
		}
		c.result = m.ResultObject(result)
	default:
		c.err = &InvalidResponseError{Detail: "neither result nor error"}
	}
	p.in.settle(c)
}

// tapResponse reports a response to e to Options.Tap.
func (p *Peer) tapResponse(e *tracked, m *incomingMessage, o Observed) {
	if p.opts.Tap == nil || e.tag == nil {
		return
	}
	o.Sender, o.Kind = Incoming, KindResponse
	if m.Error != nil && !jsontext.IsNull(m.Error) {
		o.Kind = KindError
		if m.deep {
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
		case g.told != nil:
			g.told(f.Err)
		}
		return
	}
	if c, ok := e.handle.(*Call); ok {
		c.err = f.Err
		p.in.settle(c)
	}
}

// methodName decodes a method. It returns "" if the token is no string. The common methods cost no allocation.
func methodName(token []byte) string {
	switch string(token) {
	case `"notifications/progress"`:
		return "notifications/progress"
	case `"notifications/message"`:
		return "notifications/message"
	case `"notifications/cancelled"`:
		return "notifications/cancelled"
	}
	return jsontext.String(token)
}

func (p *Peer) badLine(kind string, size int) {
	p.bad = true
	if n := p.count.add(&p.count.BadLines); logged(n) {
		p.log.Warn("message ignored", "kind", kind, "bytes", size, "count", n)
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
