package jsonrpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// inbound is one open incoming request.
type inbound struct {
	entry   tracked
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
	if in.request.Withdrawn && p.tracker.cancellable(method) {
		p.count.add(&p.count.WithdrawnRequests)
		return
	}
	in.entry.id, in.entry.method, in.entry.handle, in.entry.tag, in.entry.aside = in.request.ID, method, in,
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
	message, refusal, hidden := Response(in.entry.id, result, err)
	if hidden != nil {
		p.log.Error("a request could not be answered", "method", bounds.Printable(in.entry.method),
			"id", bounds.Printable(in.entry.id.raw), "error", bounds.Printable(hidden.Error()))
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
		p.refuse(in.entry.id, e)
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
				"method", bounds.Printable(e.method), "reason", bounds.Printable(reason))
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
