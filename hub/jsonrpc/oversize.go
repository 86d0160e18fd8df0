package jsonrpc

import "github.com/mcphub-go/mcphub/hub/jsontext"

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
