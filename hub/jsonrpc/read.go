package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
)

// read is the reading goroutine. It handles each message before it reads the next, and nothing that it does can block.
func (p *Peer) read() {
	var s scanner
	for {
		msg, err := p.conn.ReadMessage()
		switch {
		case err == nil:
			p.receive(&s, msg)
		case !p.missing(err):
			p.end(err, true)
			return
		}
	}
}

// missing handles an error that stands for one message, and tells whether it was one.
func (p *Peer) missing(err error) bool {
	var long *LineTooLongError
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

func (p *Peer) receive(s *scanner, msg []byte) {
	var env envelope
	switch s.message(msg, &env) {
	case kindObject:
		p.dispatch(s, &env, len(msg))
	case kindArray:
		if p.opts.Batches == nil || !p.opts.Batches() {
			p.badLine("array", len(msg))
			return
		}
		// 2025-03-26 basic, "Batching": implementations must accept batches. Answers go out one by one.
		empty := true
		var inner scanner
		s.elements(msg, func(element []byte) {
			empty = false
			if inner.message(element, &env) == kindObject {
				p.dispatch(&inner, &env, len(element))
			} else {
				p.badLine("batch element", len(element))
			}
		})
		if empty {
			p.badLine("empty array", len(msg))
		}
	default:
		p.badLine("not JSON", len(msg))
	}
}

func (p *Peer) dispatch(s *scanner, env *envelope, size int) {
	hasID := isIDToken(env.id)
	switch {
	case string(env.version) != `"2.0"` && unquote(env.version) != "2.0":
		p.badLine("not JSON-RPC 2.0", size)
	case env.method != nil:
		method := methodName(env.method)
		switch {
		case method == "":
			p.badLine("no method name", size)
		case env.id == nil && method == "notifications/cancelled":
			p.peerCancelled(s, env.params, size)
		case env.id == nil:
			p.notification(method, env.params, size)
		case hasID:
			p.request(method, env, size)
		default:
			p.badLine("request id", size)
		}
	case hasID && (env.result != nil || env.err != nil):
		p.response(s, env, size)
	case hasID && p.tracker.IsPending(Outgoing, ID{raw: string(env.id)}):
		p.response(s, env, size)
	case !hasID && (env.id == nil || string(env.id) == "null") && env.err != nil:
		// JSON-RPC 2.0 section 5: what an answer to an unreadable request looks like. Since 2025-11-25 the id may be absent.
		e, _ := decodeError(s, env.err)
		n := p.count.peerErrors.Add(1)
		if e != nil && logged(n) {
			p.log.Warn("the peer reports an error for no request", "code", e.Code, "count", n)
		}
	default:
		p.badLine("neither request nor response", size)
	}
}

func (p *Peer) notification(method string, params []byte, size int) {
	if p.in.handle == nil {
		return
	}
	n := &Notification{Method: method, Params: bytes.Clone(params), Size: size}
	class, key := MustDeliver, ""
	if p.opts.Classify != nil {
		class, key = p.opts.Classify(n)
	}
	p.in.notify(n, class, key)
}

func (p *Peer) response(s *scanner, env *envelope, size int) {
	e, g, late := p.tracker.takeResponse(env.id)
	if e == nil {
		if late {
			p.count.lateResponses.Add(1)
			p.answered(&tracked{id: ID{raw: string(env.id)}, method: g.method, tag: g.tag}, s, env, Observed{Bytes: size, Dropped: true})
			if p.opts.OnLateResponse != nil {
				p.opts.OnLateResponse(LateResponse{ID: ID{raw: string(env.id)}, Method: g.method, Result: env.result, Quiet: g.quiet, Tag: g.tag})
			}
		} else {
			p.count.unknownResponses.Add(1)
		}
		return
	}
	c, ok := e.handle.(*Call)
	if !ok {
		return
	}
	p.answered(e, s, env, Observed{Bytes: size})
	isError := env.err != nil && string(env.err) != "null"
	switch {
	case isError && env.result != nil && string(env.result) != "null":
		c.err = &InvalidResponseError{Detail: "both result and error"}
	case isError:
		wire, err := decodeError(s, env.err)
		if err != nil {
			c.err = err
		} else {
			c.err = wire
		}
	case env.result != nil:
		c.result = bytes.Clone(env.result)
	default:
		c.err = &InvalidResponseError{Detail: "neither result nor error"}
	}
	p.in.settle(c)
}

// answered tells the tap of a response to e.
func (p *Peer) answered(e *tracked, s *scanner, env *envelope, o Observed) {
	if p.opts.Tap == nil || e.tag == nil {
		return
	}
	o.Sender, o.Kind = Incoming, KindResponse
	if env.err != nil && string(env.err) != "null" {
		o.Kind = KindError
		if wire, err := decodeError(s, env.err); err == nil {
			o.Code = wire.Code
		}
	}
	p.tapped(e, o)
}

// callFailed settles a call whose answer will not come. One that was cancelled is settled already, and its failure is no news.
func (p *Peer) callFailed(f *CallFailedError) {
	e, _, late := p.tracker.takeResponse([]byte(f.ID.raw))
	if e == nil {
		if !late {
			p.count.unknownFailures.Add(1)
		}
		return
	}
	if c, ok := e.handle.(*Call); ok {
		c.err = f.Err
		p.in.settle(c)
	}
}

// decodeError reads an error object. What is not understood of it is left out, except that it must be an object with an
// integer code.
func decodeError(s *scanner, text []byte) (*Error, error) {
	e := &Error{}
	hasCode := false
	end := s.object(text, 0, func(name, value []byte) {
		switch string(name) {
		case "code":
			e.Code, hasCode = integer(value)
		case "message":
			e.Message = unquote(value)
		case "data":
			e.Data = bytes.Clone(value)
		}
	})
	switch {
	case end < 0:
		return nil, &InvalidResponseError{Detail: "the error is no object"}
	case !hasCode:
		return nil, &InvalidResponseError{Detail: "the error has no integer code"}
	}
	return e, nil
}

// integer reads a number that is integral, however it is spelled.
func integer(text []byte) (int64, bool) {
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return n, true
	}
	f, err := json.Number(text).Float64()
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<63 {
		return 0, false
	}
	return int64(f), true
}

// methodName decodes a method; "" when it is no string. The common ones cost no allocation.
func methodName(token []byte) string {
	switch string(token) {
	case `"notifications/progress"`:
		return "notifications/progress"
	case `"notifications/message"`:
		return "notifications/message"
	case `"notifications/cancelled"`:
		return "notifications/cancelled"
	}
	return unquote(token)
}

func (p *Peer) badLine(kind string, size int) {
	if n := p.count.badLines.Add(1); logged(n) {
		p.log.Warn("message ignored", "kind", kind, "bytes", size, "count", n)
	}
}

// logged thins out the log of something that a broken peer can do without end: the first 32 times, then at each power
// of two.
func logged(n uint64) bool { return n <= 32 || n&(n-1) == 0 }
