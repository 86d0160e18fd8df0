package fakeserver

import (
	"cmp"
	"net/http"
)

// openSSE serves the only stream of HTTP with SSE (2024-11-05 basic/transports). The connection ends with the stream.
func (x *exchange) openSSE() {
	s := x.http.open(x.http.ctx, true, true)
	defer s.end(errInputEnded)
	x.events(s.own, 0, s.conn, cmp.Or(x.http.o.Endpoint, PathMessages+"?sessionId="+s.id))
}

// postSSE takes a message. Its answer comes on the stream.
func (x *exchange) postSSE() {
	s := x.http.session(x.r.URL.Query().Get("sessionId"))
	if s == nil || !s.sse {
		x.plain(http.StatusNotFound, "text/plain", "Session not found")
		return
	}
	s.conn.take([]byte(x.seen.Body), nil)
	if x.act.answers() {
		x.actOut()
		return
	}
	x.plain(http.StatusAccepted, "text/plain", "Accepted")
}
