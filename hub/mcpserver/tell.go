package mcpserver

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

// Log sends a log message that belongs to no call, if the client has asked for its level. A modern client gets only log
// messages that belong to its calls.
func (s *Session) Log(level string, params json.RawMessage) {
	s.mu.Lock()
	client, least := s.client, s.level
	s.mu.Unlock()
	// For a client that has set no level the server decides (server/utilities/logging, all legacy revisions).
	if client.Revision == "" || client.Modern || least != "" && !passes(level, least) {
		return
	}
	s.tell(protocol.MethodMessage, params)
}

// ListChanged notifies the client of a change: method is one of notifications/tools/list_changed,
// notifications/prompts/list_changed and notifications/resources/list_changed. A modern client gets it if it listens.
func (s *Session) ListChanged(method string) {
	s.told(method, nil, func(l *listening) bool { return l.lists[method] })
}

// ResourceUpdated notifies the client of a change of a resource to which it is subscribed. params are those of
// notifications/resources/updated.
func (s *Session) ResourceUpdated(uri string, params json.RawMessage) {
	s.mu.Lock()
	_, subscribed := s.subscribed[uri]
	modern := s.client.Modern
	s.mu.Unlock()
	if !modern && !subscribed {
		return
	}
	s.told(protocol.MethodResourceUpdated, params, func(l *listening) bool { return l.uris[uri] })
}

// ElicitationComplete notifies a legacy client that the page of an elicitation is done. 2026-07-28 has no such
// notification.
func (s *Session) ElicitationComplete(id string) {
	if s.Client().Modern {
		return
	}
	params := append(jsontext.AppendString([]byte(`{"elicitationId":`), id), '}')
	s.tell(protocol.MethodElicitationComplete, params)
}

// told sends a notification to a legacy client, or on those streams of a modern one that want it.
func (s *Session) told(method string, params json.RawMessage, wanted func(*listening) bool) {
	s.mu.Lock()
	client := s.client
	var to []*listening
	for _, l := range s.listening {
		if wanted(l) {
			to = append(to, l)
		}
	}
	s.mu.Unlock()
	if client.Revision != "" && !client.Modern {
		s.tell(method, params)
		return
	}
	for _, l := range to {
		_ = l.link.tell(l.id, method, withSubscription(params, l.id)) // a client that listens learns of the end of its stream
	}
}

// tell sends a notification that belongs to no request. A client that does not read is ended by the stall limit, not
// here.
func (s *Session) tell(method string, params json.RawMessage) {
	if s.link != nil { // a modern call over HTTP has a link of its own
		_ = s.link.tell(jsonrpc.ID{}, method, params)
	}
}

// listening is one subscriptions/listen request.
type listening struct {
	id    jsonrpc.ID
	link  link
	lists map[string]bool // by method
	uris  map[string]bool
}

// listFilters are the members of the filter (2026-07-28 basic/patterns/subscriptions).
var listFilters = map[string]string{
	"toolsListChanged": protocol.MethodToolsChanged, "promptsListChanged": protocol.MethodPromptsChanged,
	"resourcesListChanged": protocol.MethodResourcesChanged,
}

// listen handles one subscriptions/listen until it ends. It subscribes to the resources one by one, as for a legacy
// client.
func (s *Session) listen(ctx context.Context, c *Call) (json.RawMessage, error) {
	x := c.via.Load()
	l := &listening{id: x.id, link: x.link, lists: map[string]bool{}, uris: map[string]bool{}}
	filter := jsontext.Get(c.Params, "notifications")
	if !jsontext.IsObject(filter) {
		return nil, invalid("notifications must be an object")
	}
	granted := []byte{'{'}
	jsontext.Members(filter, func(name []byte, value json.RawMessage) bool {
		if method := listFilters[string(name)]; method != "" && string(value) == "true" {
			l.lists[method] = true
			granted = append(jsontext.AppendString(granted, string(name)), ":true,"...)
		}
		return true
	})
	granted = append(granted, `"resourceSubscriptions":[`...)
	jsontext.Elements(jsontext.Get(filter, "resourceSubscriptions"), func(value json.RawMessage) bool {
		uri := jsontext.String(value)
		if uri == "" || l.uris[uri] || len(l.uris) >= s.server.o.Bounds.Subscriptions || ctx.Err() != nil {
			return true
		}
		if _, err := s.server.o.Handler.Request(ctx, s.subscription(protocol.MethodSubscribe, value, c)); err != nil {
			return true
		}
		if len(l.uris) > 0 {
			granted = append(granted, ',')
		}
		l.uris[uri], granted = true, append(granted, value...)
		return true
	})
	defer func() {
		for uri := range l.uris {
			if s.ctx.Err() != nil {
				return // Handler.Ended means the end of all subscriptions
			}
			value := jsontext.AppendString(nil, uri)
			_, _ = s.server.o.Handler.Request(s.ctx, s.subscription(protocol.MethodUnsubscribe, value, c))
		}
	}()
	s.mu.Lock()
	s.listening[l.id] = l
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.listening, l.id)
		s.mu.Unlock()
	}()
	granted = append(append([]byte(`{"notifications":`), granted...), "]}}"...)
	_ = x.link.tell(l.id, protocol.MethodAcknowledged, withSubscription(granted, l.id))
	<-ctx.Done()
	if ended := (*SessionEndedError)(nil); errors.As(context.Cause(ctx), &ended) {
		return withSubscription(json.RawMessage(`{"resultType":"complete"}`), l.id), nil
	}
	return nil, context.Cause(ctx)
}

func (s *Session) subscription(method string, uri json.RawMessage, of *Call) *Call {
	params := append(append([]byte(`{"uri":`), uri...), '}')
	return &Call{Session: s, Method: method, Params: params, Client: of.Client}
}

// withSubscription adds the id of the subscriptions/listen to which a message belongs. The id keeps its JSON type.
func withSubscription(params json.RawMessage, id jsonrpc.ID) json.RawMessage {
	b := []byte(`{"_meta":{"` + protocol.MetaSubscriptionID + `":` + id.String())
	b, _ = appendOthers(b, jsontext.Get(params, "_meta"), protocol.MetaSubscriptionID)
	b, _ = appendOthers(append(b, '}'), params, "_meta")
	return append(b, '}')
}

// appendOthers appends the members of an object but one to another, each behind a comma, and reports whether it is one.
func appendOthers(b []byte, members json.RawMessage, but string) (_ []byte, object bool) {
	object = jsontext.Members(members, func(name []byte, value json.RawMessage) bool {
		if string(name) != but {
			b = append(append(jsontext.AppendString(append(b, ','), string(name)), ':'), value...)
		}
		return true
	})
	return b, object
}

// handle passes a call to the handler, and keeps the list of subscriptions.
func (s *Session) handle(ctx context.Context, c *Call) (json.RawMessage, error) {
	uri := ""
	if c.Method == protocol.MethodSubscribe {
		if uri = jsontext.String(jsontext.Get(c.Params, "uri")); uri == "" {
			return nil, invalid("uri must be a string")
		}
		if !s.subscribe(uri) {
			return nil, errTooMany
		}
	}
	result, err := s.server.o.Handler.Request(ctx, c)
	switch {
	case c.Method == protocol.MethodSubscribe && err != nil:
		s.unsubscribe(uri)
	case c.Method == protocol.MethodUnsubscribe && err == nil:
		s.unsubscribe(jsontext.String(jsontext.Get(c.Params, "uri")))
	}
	return result, err
}

func (s *Session) subscribe(uri string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, old := s.subscribed[uri]; !old && len(s.subscribed) >= s.server.o.Bounds.Subscriptions {
		return false
	}
	s.subscribed[uri] = struct{}{}
	return true
}

func (s *Session) unsubscribe(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.subscribed, uri)
}
