package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

var errUnsubscribed = errors.New("the subscription was taken back before the server agreed to it")

// subscriptions holds the resources whose changes are wanted. It is changed by Subscribe and Unsubscribe, and, in the
// modern era, by the results of the listen stream. The zero value is ready to use. All methods are safe for concurrent
// use, and none of them blocks.
type subscriptions struct {
	mu     sync.Mutex // guards what follows
	wanted map[string]*wish
	// forsaken holds the URIs of subscribe requests that were given up after they were sent, by their ids: a server may
	// agree late.
	forsaken map[jsonrpc.ID]string
}

// wish is one wanted URI. The goroutine that removes it from subscriptions.wanted or marks it as agreed closes settled.
type wish struct {
	settled chan struct{} // closed once the URI is agreed or was removed
	err     error         // why it was removed; set before settled is closed
	agreed  bool          // guarded by subscriptions.mu
	waiters int           // callers of Subscribe that wait for settled; guarded by subscriptions.mu
}

// want adds a URI and a caller that waits for it. agreed reports that there is nothing to wait for.
func (b *subscriptions) want(uri string) (sub *wish, agreed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.wanted == nil {
		b.wanted = make(map[string]*wish)
	}
	sub = b.wanted[uri]
	if sub == nil {
		sub = &wish{settled: make(chan struct{})}
		b.wanted[uri] = sub
	}
	sub.waiters++
	return sub, sub.agreed
}

// stopWaiting removes a caller. With the last one it also removes the URI, unless the server has agreed to it.
func (b *subscriptions) stopWaiting(uri string, sub *wish, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if sub.waiters--; sub.waiters == 0 && !sub.agreed && b.wanted[uri] == sub {
		b.remove(uri, sub, err)
	}
}

// remove removes a URI. Called with mu held.
func (b *subscriptions) remove(uri string, sub *wish, err error) {
	delete(b.wanted, uri)
	if !sub.agreed {
		sub.err = err
		close(sub.settled)
	}
}

// agree records that the server will report changes of a URI. first reports that it had not agreed before. known is
// false if the URI is not wanted any more.
func (b *subscriptions) agree(uri string) (first, known bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	sub := b.wanted[uri]
	if sub == nil {
		return false, false
	}
	if sub.agreed {
		return false, true
	}
	sub.agreed = true
	close(sub.settled)
	return true, true
}

// refuse removes those of the URIs to which the server has not agreed before, or all of them. It returns the removed
// URIs.
func (b *subscriptions) refuse(uris []string, all bool, err error) (refused []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, uri := range uris {
		if sub := b.wanted[uri]; sub != nil && (all || !sub.agreed) {
			b.remove(uri, sub, err)
			refused = append(refused, uri)
		}
	}
	return refused
}

// drop removes a URI. It reports whether it was there.
func (b *subscriptions) drop(uri string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	sub := b.wanted[uri]
	if sub != nil {
		b.remove(uri, sub, errUnsubscribed)
	}
	return sub != nil
}

// maxForsaken bounds how many subscribe requests are stored that were given up before the server agreed to them.
const maxForsaken = 1024

// forsake records that nobody waits for the answer to a subscribe request any more.
func (b *subscriptions) forsake(id jsonrpc.ID, uri string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.forsaken == nil {
		b.forsaken = make(map[jsonrpc.ID]string)
	}
	if len(b.forsaken) < maxForsaken {
		b.forsaken[id] = uri
	}
}

// agreedLate returns the URI whose changes the server reports from now on although that is not wanted, or "" if there
// is none.
func (b *subscriptions) agreedLate(id jsonrpc.ID) (uri string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	uri = b.forsaken[id]
	delete(b.forsaken, id)
	if b.wanted[uri] != nil {
		return ""
	}
	return uri
}

// uris returns the wanted URIs, sorted: all of them, or only those to which the server has agreed.
func (b *subscriptions) uris(agreed bool) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []string
	for _, uri := range slices.Sorted(maps.Keys(b.wanted)) {
		if !agreed || b.wanted[uri].agreed {
			list = append(list, uri)
		}
	}
	return list
}

// Subscribe asks the server to report changes of a resource to Handler.ResourceUpdated. It returns once the server has
// agreed, and does nothing for a URI that is subscribed to already. A legacy server is asked by resources/subscribe.
// For a modern one the listen stream is opened again with the URI in it (2026-07-28 basic/patterns/subscriptions).
// After that everything that the stream is about is reported as changed, because changes in between are not known.
// Several URIs that are subscribed to at once share one such stream.
//
// Errors: *CapabilityError; *ProtocolError if a modern server does not honour the URI; those of CallTool. After an
// error there is no subscription.
func (s *Session) Subscribe(ctx context.Context, uri string) (err error) {
	if err := s.maySubscribe(uri); err != nil {
		return err
	}
	if err := s.interrupted(ctx); err != nil {
		return err
	}
	sub, agreed := s.subs.want(uri)
	defer func() {
		s.subs.stopWaiting(uri, sub, err)
		if err != nil && s.Era() == Modern {
			_ = s.listen.changed() // the stream then ends for URIs that are not wanted any more
		}
	}()
	if agreed {
		return nil
	}
	if s.Era() == Legacy {
		call, err := s.peer.Begin(protocol.MethodSubscribe, s.plainParams("uri", string(jsontext.AppendString(nil, uri))))
		if err != nil {
			return err
		}
		if _, err := call.Wait(ctx); err != nil {
			if call.GivenUp() {
				s.subs.forsake(call.ID(), uri)
			}
			return err
		}
		if _, known := s.subs.agree(uri); !known {
			// The server may have processed the unsubscribe first: send it once more, now that it has processed the subscribe.
			_, _ = s.peer.Call(ctx, protocol.MethodUnsubscribe, s.plainParams("uri", string(jsontext.AppendString(nil, uri))))
			return errUnsubscribed
		}
		return nil
	}
	if err := s.listen.changed(); err != nil {
		return err
	}
	select {
	case <-sub.settled:
		return sub.err
	case <-ctx.Done():
		return &jsonrpc.CancelledError{Cause: context.Cause(ctx)}
	case <-s.over.Done():
		return closedError(context.Cause(s.over))
	}
}

// Unsubscribe removes a subscription, and does nothing if there is none. Errors are those of CallTool; the subscription
// is removed in any case. A modern server is told a little later.
func (s *Session) Unsubscribe(ctx context.Context, uri string) error {
	if err := s.maySubscribe(uri); err != nil {
		return err
	}
	if !s.subs.drop(uri) {
		return nil
	}
	if s.Era() == Modern {
		_ = s.listen.changed() // if no stream can be opened any more, it needs no change
		return nil
	}
	_, err := s.peer.Call(ctx, protocol.MethodUnsubscribe, s.plainParams("uri", string(jsontext.AppendString(nil, uri))))
	return err
}

// unsubscribeLate ends a subscription to which a server has agreed after it was given up. It runs on the reading
// goroutine.
func (s *Session) unsubscribeLate(id jsonrpc.ID, result json.RawMessage) {
	uri := s.subs.agreedLate(id)
	if uri == "" || result == nil {
		return
	}
	call, err := s.peer.BeginAs(protocol.MethodUnsubscribe, s.plainParams("uri", string(jsontext.AppendString(nil, uri))),
		jsonrpc.How{Quiet: true})
	if err != nil {
		return
	}
	s.errands.start(func() {
		ctx, stop := context.WithTimeoutCause(s.over, cancelPatience, errUnsubscribed)
		defer stop()
		_, err := call.Wait(ctx)
		s.log.Debug("a subscription that was given up was taken back", "failed", err != nil)
	})
}

func (s *Session) maySubscribe(uri string) error {
	switch {
	case !s.Info().ResourcesSubscribe:
		return &CapabilityError{Server: s.o.Server, Capability: "resources.subscribe"}
	case uri == "":
		return &ArgumentsError{Text: "a subscription is to a URI, and there is none"}
	}
	return nil
}
