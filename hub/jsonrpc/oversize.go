package jsonrpc

import "bytes"

// oversize handles a message that was too long to be read. If it can be told which call it answers, that call fails;
// if only one call is open, it was most likely that one.
func (p *Peer) oversize(long *LineTooLongError) {
	n := p.count.oversizeLines.Add(1)
	if logged(n) {
		p.log.Warn("message too long, skipped", "bytes", long.Size, "limit", long.Limit, "count", n)
	}
	id, method := headMembers(long.Head)
	if method {
		// Not an answer to us. A request is told that it was not read; its sender would wait for ever.
		if !id.IsZero() && (p.opts.NoServerRequests == nil || !p.opts.NoServerRequests()) && !p.tracker.IsPending(Incoming, id) {
			p.refuse(id, &Error{Code: CodeInvalidRequest, Message: "the request is too long"})
		}
		return
	}
	if id.IsZero() {
		id = tailID(long.Tail)
	}
	var e *tracked
	if id.IsZero() {
		e = p.tracker.takeOnly()
	} else {
		e, _, _ = p.tracker.takeResponse([]byte(id.raw))
	}
	if e == nil {
		return
	}
	if c, ok := e.handle.(*Call); ok {
		p.tapped(e, Observed{Sender: Incoming, Kind: KindResponse, Bytes: int(long.Size), Dropped: true})
		c.err = &ResultTooLargeError{Limit: long.Limit, Size: long.Size}
		p.in.settle(c)
	}
}

// headMembers reads the members of a truncated object as far as they go: its id, and whether it has a method.
func headMembers(b []byte) (id ID, method bool) {
	var s scanner
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	i := skipBlanks(b, 0)
	if i == len(b) || b[i] != '{' {
		return ID{}, false
	}
	for i++; ; i++ {
		if i = skipBlanks(b, i); i == len(b) || b[i] != '"' {
			return id, method
		}
		from := i
		end, _ := scanString(b, i+1)
		if end < 0 {
			return id, method
		}
		name := unquote(b[from:end])
		if i = skipBlanks(b, end); i == len(b) || b[i] != ':' {
			return id, method
		}
		method = method || name == "method"
		from = skipBlanks(b, i+1)
		// A number at the end of the excerpt may go on behind it, so a value counts only when something follows it.
		if i = s.value(b, from, 1); i < 0 || i == len(b) {
			return id, method
		}
		if name == "id" {
			id, _ = ParseID(b[from:i])
		}
		if i = skipBlanks(b, i); i == len(b) || b[i] != ',' {
			return id, method
		}
	}
}

// tailID reads the id of a message that ends with it, or with it and the version: {..., "id": 7, "jsonrpc": "2.0"}. An
// "id" deeper inside is followed by more brackets, and one inside a string by an escaped quote, so neither is mistaken.
func tailID(b []byte) ID {
	at := bytes.LastIndex(b, []byte(`"id"`))
	if at <= 0 || b[at-1] == '\\' {
		return ID{}
	}
	i := skipBlanks(b, at+len(`"id"`))
	if i == len(b) || b[i] != ':' {
		return ID{}
	}
	from := skipBlanks(b, i+1)
	var s scanner
	if i = s.value(b, from, 1); i < 0 {
		return ID{}
	}
	id, err := ParseID(b[from:i])
	if err != nil {
		return ID{}
	}
	if i = skipBlanks(b, i); i < len(b) && b[i] == ',' {
		if i = scanName(b, i+1); i < 0 {
			return ID{}
		}
		if i = s.value(b, i, 1); i < 0 {
			return ID{}
		}
		i = skipBlanks(b, i)
	}
	if i == len(b) || b[i] != '}' || skipBlanks(b, i+1) != len(b) {
		return ID{}
	}
	return id
}
