package fakeserver

import (
	"context"
	"encoding/json"
	"slices"
)

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
