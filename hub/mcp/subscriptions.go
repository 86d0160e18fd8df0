package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/protocol"
)

const (
	// The delay before a listen stream that has ended is opened again. It doubles until a stream has lasted as long as
	// listenMaxDelay.
	listenDelay    = time.Second
	listenMaxDelay = time.Minute
	// listenSettle is how long to wait for an answer to a stream that we have cancelled before another stream is opened.
	listenSettle = 250 * time.Millisecond
)

var errListenReplaced = errors.New("another set of subscriptions takes its place")

// listener keeps one subscriptions/listen stream of a modern server open, as long as there is something to subscribe
// to. A server may end it by a result, by an error, by notifications/cancelled with the id of the listen request, or
// with the link (over HTTP with that one stream): the texts disagree (2026-07-28 basic/patterns/subscriptions,
// basic/patterns/cancellation, schema.ts), and each of these is a normal end. The stream is no call of a user, so the
// handler is told only about the changes.
//
// The set of subscriptions of a stream is fixed. Another set needs another stream, and there are never two at a time:
// servers with one session for all streams of a link (go-sdk 1.8.0 on stdio) lose the registrations of the second
// stream when the first one ends, without reporting it. So the first stream is cancelled and its answer awaited for a
// short time. Then the second is opened, and when it is acknowledged, everything that it is about is reported as
// changed.
type listener struct {
	running sync.WaitGroup // the goroutine
	// mu guards the fields below. It is held while the listen request is queued, which never blocks, so that its id is
	// known before an answer is handled.
	mu     sync.Mutex
	end    context.CancelCauseFunc // nil: not started
	look   chan struct{}           // capacity 1: the set of subscriptions may have changed
	open   *stream                 // nil if no stream is open
	opened int                     // streams opened so far
	gone   error                   // why no stream can be opened any more; nil while one can
	left   jsonrpc.ID              // the last stream that we have cancelled
	answer chan struct{}           // closed when that stream is answered; nil afterwards
}

// stream is one open listen request.
type stream struct {
	call         *jsonrpc.Call
	filter       filter
	acknowledged bool
	honoured     []string // URIs that the server named in its acknowledgement
}

var errNotHonoured = &ProtocolError{Text: "the server does not honour the subscription to this resource"}

func (l *listener) start(s *Session) {
	ctx, end := context.WithCancelCause(context.Background())
	l.mu.Lock()
	l.end, l.look = end, make(chan struct{}, 1)
	l.mu.Unlock()
	l.running.Go(func() { l.keepOpen(ctx, s) })
}

// stop cancels the open stream in the way of its transport, and waits for the goroutine.
func (l *listener) stop(cause error) {
	l.mu.Lock()
	end := l.end
	l.mu.Unlock()
	if end != nil {
		end(cause)
		l.running.Wait()
	}
}

// changed makes the goroutine check the subscriptions. It returns why no stream can be opened any more, or nil.
func (l *listener) changed() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.look <- struct{}{}:
	default:
	}
	return l.gone
}

func (l *listener) keepOpen(ctx context.Context, s *Session) {
	delay := listenDelay
	for {
		want := s.toHear()
		if want.empty() {
			select {
			case <-l.look:
			case <-ctx.Done():
				return
			}
			continue
		}
		began := time.Now()
		acknowledged, replaced, err := l.hold(ctx, s, want)
		switch {
		case ctx.Err() != nil, errors.Is(err, jsonrpc.ErrClosed):
			return
		case replaced:
			continue
		}
		if !acknowledged {
			again, hopeless := l.refused(s, want, err)
			if hopeless {
				return
			}
			if again {
				continue
			}
		}
		if time.Since(began) >= listenMaxDelay {
			delay = listenDelay
		}
		s.log.Debug("the listen stream has ended and is opened anew", "delay", delay)
		timer := time.NewTimer(delay)
		select {
		case <-timer.C:
		case <-l.look: // a caller waits for a subscription
			timer.Stop()
		case <-ctx.Done():
			timer.Stop()
			return
		}
		delay = min(2*delay, listenMaxDelay)
	}
}

// hold opens one stream and waits until it ends, or until another set of subscriptions is wanted.
func (l *listener) hold(ctx context.Context, s *Session, want filter) (acknowledged, replaced bool, err error) {
	params := s.plainParams("notifications", want.json())
	l.mu.Lock()
	call, err := s.peer.Begin(protocol.MethodListen, params)
	if err != nil {
		l.mu.Unlock()
		return false, false, err
	}
	l.open = &stream{call: call, filter: want}
	l.opened++
	l.mu.Unlock()
	for {
		select {
		case <-call.Done():
			acknowledged := l.close()
			_, err := call.Wait(ctx)
			return acknowledged, false, err
		case <-ctx.Done():
			return false, false, l.endStream(ctx, call)
		case <-l.look:
			if l.suits(s) {
				continue
			}
			ended, end := context.WithCancelCause(ctx)
			end(errListenReplaced)
			err := l.endStream(ended, call)
			l.settle(ctx, err)
			return false, true, err
		}
	}
}

// suits reports whether the open stream is for the wanted set. If a URI was removed and is wanted again while the
// stream is still open, the acknowledgement that has come already settles it.
func (l *listener) suits(s *Session) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil || !l.open.filter.equal(s.toHear()) {
		return false
	}
	if l.open.acknowledged {
		l.agree(s, l.open)
	}
	return true
}

// agree settles the subscriptions of an acknowledged stream. Called with mu held.
func (l *listener) agree(s *Session, st *stream) (updated, missing, refused []string) {
	for _, uri := range st.filter.uris {
		if !slices.Contains(st.honoured, uri) {
			missing = append(missing, uri)
			continue
		}
		if first, known := s.subs.agree(uri); known && !first {
			updated = append(updated, uri)
		}
	}
	return updated, missing, s.subs.refuse(missing, false, errNotHonoured)
}

// close removes the stream that has ended, and reports whether it had been acknowledged: if it was, an error ended the
// stream and did not refuse it.
func (l *listener) close() (acknowledged bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	acknowledged = l.open.acknowledged
	l.open = nil
	return acknowledged
}

// carries reports whether a notification belongs to the open stream, by the subscriptionId that each of them must have.
// Changes of an earlier stream are reported anyway once the next one is acknowledged. A notification without an id is
// accepted, as an error of the server.
func (l *listener) carries(params json.RawMessage) bool {
	raw := member(member(params, "_meta"), protocol.MetaSubscriptionID)
	if raw == nil {
		return true
	}
	id, err := jsonrpc.ParseID(raw)
	l.mu.Lock()
	defer l.mu.Unlock()
	return err == nil && l.open != nil && id == l.open.call.ID()
}

// acknowledged handles the server's acknowledgement, which comes first on each stream and names the stream and the
// honoured subscriptions. If the stream follows an earlier one, everything that it is about is reported as changed,
// because changes between the two were not reported. Called on the delivery goroutine.
func (l *listener) acknowledged(s *Session, params json.RawMessage) {
	id, err := jsonrpc.ParseID(member(member(params, "_meta"), protocol.MetaSubscriptionID))
	if err != nil {
		return
	}
	honoured := member(params, "notifications")
	uris := versions(member(honoured, uriListName))

	l.mu.Lock()
	if l.open == nil || id != l.open.call.ID() || l.open.acknowledged {
		l.mu.Unlock()
		return
	}
	l.open.acknowledged, l.open.honoured = true, uris
	asked, again := l.open.filter, l.opened > 1
	updated, missing, refused := l.agree(s, l.open)
	// What was just refused is not wanted any more, so it is no reason to open another stream.
	l.open.filter.uris = slices.DeleteFunc(slices.Clone(asked.uris), func(uri string) bool {
		return slices.Contains(refused, uri)
	})
	l.mu.Unlock()

	if len(missing) > 0 {
		s.log.Warn("the server does not honour subscriptions to resources", "count", len(missing))
	}
	for about, name := range listNames {
		if !asked.topics[about] {
			continue
		}
		if string(member(honoured, name)) != "true" {
			s.log.Warn("the server does not honour the subscription to changes that it declared", "list", name)
		}
		if again {
			s.tellChanged(topic(about))
		}
	}
	if again {
		for _, uri := range updated {
			s.tellUpdated(uri)
		}
	}
}

// endStream cancels a stream, with a context that has ended.
func (l *listener) endStream(ended context.Context, call *jsonrpc.Call) error {
	l.mu.Lock()
	l.open = nil
	l.left, l.answer = call.ID(), make(chan struct{})
	l.mu.Unlock()
	_, err := call.Wait(ended)
	return err
}

// settle waits a short time for the answer to a stream that was just cancelled. Servers should send none, but some
// clean up before they send one.
func (l *listener) settle(ctx context.Context, err error) {
	if cancelled, ok := errors.AsType[*jsonrpc.CancelledError](err); !ok || !cancelled.Sent {
		return // it was answered before, or the server has never seen it
	}
	l.mu.Lock()
	answer := l.answer
	l.mu.Unlock()
	if answer == nil {
		return
	}
	timer := time.NewTimer(listenSettle)
	defer timer.Stop()
	select {
	case <-answer:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// answeredLate handles the late answer to a stream that was cancelled, and reports whether id is that stream. Called by
// the reading goroutine.
func (l *listener) answeredLate(id jsonrpc.ID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left.IsZero() || id != l.left {
		return false
	}
	if l.answer != nil {
		close(l.answer)
		l.answer = nil
	}
	return true
}

// refused handles the end of a stream that was never acknowledged. An error that answers new subscriptions is the error
// of these subscriptions, and again says to open the stream without them. hopeless says that the server has no listen
// stream, or refuses one without any subscription.
func (l *listener) refused(s *Session, want filter, err error) (again, hopeless bool) {
	refusal := rpcError(err)
	if refusal == nil {
		return false, false
	}
	unknown, invalid := refusal.Code == jsonrpc.CodeMethodNotFound, refusal.Code == jsonrpc.CodeInvalidParams
	refused := s.subs.refuse(want.uris, unknown || invalid, refusal)
	switch {
	case unknown, invalid && len(want.uris) == 0:
		s.log.Warn("the server offers no listen stream for what it declares", "code", refusal.Code)
		l.mu.Lock()
		l.gone = refusal
		l.mu.Unlock()
		s.subs.refuse(s.subs.uris(false), true, refusal) // the subscriptions that were added before gone was set
		return false, true
	case len(refused) > 0:
		s.log.Warn("the server refuses subscriptions to resources", "code", refusal.Code, "count", len(refused))
	}
	return len(refused) > 0, false
}

// endedByServer reports to jsonrpc whether a server may cancel this request of ours. Called by the reading goroutine.
func (l *listener) endedByServer(id jsonrpc.ID, _ string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open != nil && id == l.open.call.ID()
}

// filter is the set of subscriptions of a listen stream.
type filter struct {
	topics [topics]bool // changes of the lists
	uris   []string     // URIs of resources, sorted
}

// listNames are the members of the filter on the wire.
var listNames = [topics]string{aboutTools: "toolsListChanged", aboutPrompts: "promptsListChanged",
	aboutResources: "resourcesListChanged"}

const uriListName = "resourceSubscriptions"

func (f filter) equal(g filter) bool { return f.topics == g.topics && slices.Equal(f.uris, g.uris) }

func (f filter) empty() bool { return f.topics == [topics]bool{} && len(f.uris) == 0 }

func (f filter) json() string {
	o := newObject(128)
	for about, name := range listNames {
		if f.topics[about] {
			o.raw(name, []byte("true"))
		}
	}
	if len(f.uris) > 0 {
		list := []byte{'['}
		for i, uri := range f.uris {
			if i > 0 {
				list = append(list, ',')
			}
			list = jsontext.AppendString(list, uri)
		}
		o.raw(uriListName, append(list, ']'))
	}
	return string(o.end())
}

// toHear returns the filter that is wanted at this moment.
func (s *Session) toHear() filter {
	info := s.Info()
	return filter{
		topics: [topics]bool{aboutTools: info.ToolsListChanged, aboutPrompts: info.PromptsListChanged,
			aboutResources: info.ResourcesListChanged},
		uris: s.subs.uris(false),
	}
}

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
