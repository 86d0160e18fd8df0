package fakeserver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

// CancelledError is the cause with which a call's context ends when the client cancelled the call.
type CancelledError struct {
	Reason string // as sent; "" when absent
	// Closed means that the client closed the stream of the call, which is the cancel of 2026-07-28 over HTTP
	// (basic/patterns/cancellation).
	Closed bool
}

func (e *CancelledError) Error() string { return fmt.Sprintf("cancelled by the client: %q", e.Reason) }

// CallContext is one request of the client, which its behaviour handles. Its methods may be called at any time and from
// any goroutine, also after the cancel, after an answer, and repeatedly: a test can make all the mistakes of real
// servers. Sending on an ended connection does nothing.
type CallContext struct {
	ID     json.RawMessage // exact JSON text
	Method string
	Params json.RawMessage

	conn      *conn
	reply     *stream // the stream of the answer over HTTP; nil for a pair of streams
	ctx       context.Context
	cancel    context.CancelCauseFunc
	cancelled chan string // holds the first reason, then closed
	once      sync.Once
}

// Context ends with a [*CancelledError] when the client cancels the call, and with another cause when the connection
// ends or the behaviour has returned.
func (c *CallContext) Context() context.Context { return c.ctx }

// Param returns one member of the params as JSON text, or nil if it is absent.
func (c *CallContext) Param(key string) json.RawMessage { return member(c.Params, key) }

// Arguments returns params.arguments of a tool call, or nil if it is absent.
func (c *CallContext) Arguments() json.RawMessage { return c.Param("arguments") }

// ProgressToken returns params._meta.progressToken as JSON text, or nil if the client asked for no progress.
func (c *CallContext) ProgressToken() json.RawMessage {
	return member(c.Param("_meta"), "progressToken")
}

// Progress sends notifications/progress if the call has a progress token. A total of 0 and an empty message are left
// out.
func (c *CallContext) Progress(progress, total float64, message string) {
	token := c.ProgressToken()
	if token == nil {
		return
	}
	params := map[string]any{"progressToken": token, "progress": progress}
	if total != 0 {
		params["total"] = total
	}
	if message != "" {
		params["message"] = message
	}
	_ = c.conn.notify(c, methodProgress, marshal(params))
}

// Notify sends a notification in the course of the call; over HTTP it goes to the call's stream. Empty params are left
// out.
func (c *CallContext) Notify(method, params string) {
	_ = c.conn.notify(c, method, json.RawMessage(params))
}

// Log sends notifications/message with the text as data, regardless of the level that was set.
func (c *CallContext) Log(level, text string) {
	_ = c.conn.notify(c, methodMessage, marshal(map[string]any{"level": level, "logger": c.conn.server.cfg.name,
		"data": text}))
}

// Result answers with this JSON text, byte for byte.
func (c *CallContext) Result(raw string) {
	_ = c.conn.answer(c, around(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":`, c.ID), raw))
}

// Text answers a tool call with one text block, and on a modern connection with the resultType.
func (c *CallContext) Text(text string) {
	res := map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}}
	if c.conn.modern() {
		res["resultType"] = "complete"
	}
	c.Result(string(marshal(res)))
}

// InputRequired answers with a modern input_required result. requests is the JSON text of inputRequests and state the
// requestState; each is left out if it is "". The client's retry is a new call that has inputResponses and requestState
// among its params.
func (c *CallContext) InputRequired(requests, state string) {
	res := map[string]any{"resultType": "input_required"}
	if requests != "" {
		res["inputRequests"] = json.RawMessage(requests)
	}
	if state != "" {
		res["requestState"] = state
	}
	c.Result(string(marshal(res)))
}

// Error answers with a JSON-RPC error.
func (c *CallContext) Error(code int64, message string) { c.ErrorData(code, message, "") }

// ErrorData is Error with the JSON text of data; "" leaves it out.
func (c *CallContext) ErrorData(code int64, message, data string) {
	e := Error{Code: code, Message: message, Data: json.RawMessage(data)}
	_ = c.conn.answer(c, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":%s}`+"\n", c.ID, marshal(e)))
}

// Cancelled returns a channel that gets the reason of the first notifications/cancelled for this call ("" if it has
// none) and is closed after that. If the connection ends without a cancel, the channel is neither filled nor closed.
func (c *CallContext) Cancelled() <-chan string { return c.cancelled }

// Hang waits until the call is cancelled or the connection ends, and returns the cause: a [*CancelledError] for a
// cancel.
func (c *CallContext) Hang() error {
	<-c.ctx.Done()
	return context.Cause(c.ctx)
}

// Request sends a request to the client on the call's connection. It is not withdrawn with the call: use
// [OutRequest.Cancel].
func (c *CallContext) Request(method, params string) *OutRequest {
	o, _ := c.conn.request(c, nil, method, params)
	return o
}

// Disconnect ends the call's connection at once, like a server that crashes during the call.
func (c *CallContext) Disconnect() { c.conn.end(errDisconnected) }

func (c *CallContext) cancelBy(e *CancelledError) {
	c.once.Do(func() {
		c.cancelled <- e.Reason
		close(c.cancelled)
		c.cancel(e)
	})
}

// Subscription is one open subscriptions/listen of a modern client. The four ways in which a server may end one are
// EndWithResult, EndWithCancel, EndWithError and [Server.Disconnect] (revision 2026-07-28,
// basic/patterns/subscriptions, basic/patterns/cancellation and schema.ts disagree on the form).
type Subscription struct {
	ID     json.RawMessage // the id of the listen request
	Filter json.RawMessage // params.notifications of the request

	call *CallContext
	done chan struct{} // closed by end
}

// Subscriptions returns the open ones of all connections, oldest first.
func (s *Server) Subscriptions() []*Subscription {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.subs)
}

// WaitForSubscription waits until at least one subscription is open and returns the newest.
func (s *Server) WaitForSubscription(ctx context.Context) (*Subscription, error) {
	for {
		s.mu.Lock()
		n, changed := len(s.subs), s.changed
		var sub *Subscription
		if n > 0 {
			sub = s.subs[n-1]
		}
		s.mu.Unlock()
		if sub != nil {
			return sub, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Notify sends a notification that has the subscription's id in its _meta. params is the JSON text of an object without
// _meta; "" means none.
func (sub *Subscription) Notify(method, params string) error {
	o := map[string]any{}
	if params != "" {
		var given map[string]json.RawMessage
		if err := json.Unmarshal([]byte(params), &given); err != nil {
			return err
		}
		for k, v := range given {
			o[k] = v
		}
	}
	o["_meta"] = map[string]any{metaSubscriptionID: sub.ID}
	return sub.call.conn.notify(sub.call, method, marshal(o))
}

// EndWithResult ends the subscription with a normal result.
func (sub *Subscription) EndWithResult() {
	if sub.take() {
		sub.call.Result(string(marshal(map[string]any{
			"resultType": "complete", "_meta": map[string]any{metaSubscriptionID: sub.ID},
		})))
	}
}

// EndWithCancel ends the subscription with notifications/cancelled for the listen request. An empty reason is left out.
func (sub *Subscription) EndWithCancel(reason string) {
	if sub.take() {
		(&OutRequest{ID: sub.ID, conn: sub.call.conn, call: sub.call}).Cancel(reason)
	}
}

// EndWithError ends the subscription with an error response.
func (sub *Subscription) EndWithError(code int64, message string) {
	if sub.take() {
		sub.call.Error(code, message)
	}
}

// take removes the subscription. Only a caller that gets true may end it.
func (sub *Subscription) take() bool {
	s := sub.call.conn.server
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.subs, sub)
	if i < 0 {
		return false
	}
	s.subs = slices.Delete(s.subs, i, i+1)
	close(sub.done)
	return true
}

// listen is the behaviour of subscriptions/listen: it acknowledges the whole filter and runs until one side ends it.
func listen(c *CallContext) {
	if !c.conn.modern() {
		c.Error(codeMethodNotFound, "method not found: "+c.Method)
		return
	}
	filter := c.Param("notifications")
	if filter == nil {
		c.Error(codeInvalidParams, "notifications is missing")
		return
	}
	sub := &Subscription{ID: c.ID, Filter: filter, call: c, done: make(chan struct{})}
	// The acknowledgement has to come first on the stream (2026-07-28, basic/patterns/subscriptions), so it is sent before
	// tests can find the subscription.
	_ = sub.Notify(methodSubscriptionAck, string(marshal(map[string]any{"notifications": filter})))
	s := c.conn.server
	s.mu.Lock()
	s.subs = append(s.subs, sub)
	s.announce()
	s.mu.Unlock()
	select {
	case <-sub.done:
	case <-c.ctx.Done():
		sub.take()
	}
}
