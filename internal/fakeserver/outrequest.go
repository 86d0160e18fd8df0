package fakeserver

import (
	"encoding/json"
)

// OutRequest is one request from the server to the client.
type OutRequest struct {
	ID json.RawMessage // exact JSON text, as sent

	conn     *conn
	call     *CallContext // the call that asked, which over HTTP has the stream; nil for the server itself
	response chan Message // the first response, then closed; closed without one if the connection ends
}

// Response returns a channel that gets the first response and is then closed. It is closed without one if the
// connection ends first. Further responses can be seen by [Server.Count] with [ResponseTo].
func (o *OutRequest) Response() <-chan Message { return o.response }

// Cancel withdraws the request with notifications/cancelled. An empty reason is left out. It may be called repeatedly,
// and after the response: nothing is checked.
func (o *OutRequest) Cancel(reason string) {
	params := map[string]any{"requestId": o.ID}
	if reason != "" {
		params["reason"] = reason
	}
	_ = o.conn.notify(o.call, methodCancelled, marshal(params))
}
