package jsonrpc

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// Options of a Peer. The zero value is usable: it answers every request with "method not found" and ignores every
// notification. Functions must be safe for concurrent use unless their comment says which goroutine calls them.
type Options struct {
	// Server names the other side in tracker entries and logs.
	Server string
	// Logger; nil discards. Payloads are never logged.
	Logger *slog.Logger

	// HandleRequest answers one incoming request but ping, in a goroutine of its own that the Peer owns. An *Error is
	// sent as it is, any other error as CodeInternalError with a fixed text. ctx ends, with its cause, when the peer
	// withdraws the request (*WithdrawnError; the handler's result is then discarded), when the connection ends
	// (*ClosedError) and when RequestTracker.Cancel is called for it. The handler must return soon after that: Close
	// waits for it. If HandleRequest is nil, the answer is CodeMethodNotFound.
	HandleRequest func(ctx context.Context, r *Request) (json.RawMessage, error)
	// OnRequest is called with each request before HandleRequest, and before anything that came after the request is
	// handled: it can find out which call led to the request, and store that in Behind, while no later response has ended
	// that call yet. It is also called for requests that are refused afterwards. Called by the reading goroutine: it must
	// not block, and must not retain the params, which are valid until it returns. May be nil.
	OnRequest func(r *Request)
	// HandleNotification is called with the notifications one after the other, in order. Responses that came after a
	// notification wait until it has returned. It must not call Close. nil ignores notifications.
	HandleNotification func(n *Notification)
	// Direct, if not nil, is called with each notification first, when none waits to be handled. If it returns true, the
	// notification is not handled further, and costs neither a copy nor another goroutine. It is meant for notifications
	// that may be delivered late and come in storms. Called by the reading goroutine: it must not block, and must not
	// retain the notification or its params, which are valid until it returns.
	Direct func(n *Notification) bool
	// Classify returns the class of a notification, and the key for Coalesce. It is called by the reading goroutine, so it
	// must be quick. nil: MustDeliver.
	Classify func(n *Notification) (Class, string)
	// OnOutgoingCancelled is called when the peer sends notifications/cancelled for an id that is not one of its own
	// pending requests. If it returns true, our own pending call with that id ends: it fails with a *WithdrawnError and
	// nothing is sent. This is one way in which a server ends subscriptions/listen (2026-07-28
	// basic/patterns/cancellation). Called by the reading goroutine: it must not block.
	OnOutgoingCancelled func(id ID, reason string) bool

	// OnBadLine is called with data that is not a message, or not a usable one; it is counted and ignored. Called by the
	// reading goroutine: it must not block, and must not retain the line. May be nil.
	OnBadLine func(line []byte)

	// OnLateResponse is called with a response to a call that was cancelled, which is then dropped: its result may name
	// something that continues at the other side. Called by the reading goroutine: it must not block.
	OnLateResponse func(r LateResponse)

	// Tap, if not nil, is called with every message that belongs to a request with a tag (How.Tag, Request.Tag): with an
	// outgoing message just before it is written, in the order of the wire, and with an incoming message before it is
	// handled. Notifications of the peer other than notifications/cancelled refer to their request in different ways; the
	// Peer does not report those. Tap may be called with locks of the Peer held: it must not block and must not call the
	// Peer.
	Tap func(tag any, o Observed)

	// Route sends the cancels of outgoing requests; nil: NotifyRoute.
	Route CancelRoute
	// Uncancellable lists the methods that are never cancelled on the wire; nil: initialize and server/discover.
	Uncancellable []string

	// Overtaken says that a notifications/cancelled of the peer may be read before its request, as over HTTP, where they
	// may come on two streams. Such a request is neither handled nor answered. The last 256 ids are remembered.
	Overtaken bool

	// Results is the account to which large messages are charged while they are read, and results until their caller has
	// them (or longer: How.Keep). nil: nothing is charged.
	Results *bounds.Account

	// MaxIncoming bounds the open incoming requests; the answer to more is CodeTooManyRequests. Default 64.
	MaxIncoming int
	// WriteQueueBytes bounds the bytes that wait to be written; beyond it Begin and Notify fail with *QueueFullError, and
	// requests of the peer are refused. Default 64 MiB.
	WriteQueueBytes int
	// StallLimit is how long the other side may accept no byte while some wait. Default 30 s; negative: no limit.
	StallLimit time.Duration
	// Stalled is called once, on a goroutine of its own, when StallLimit has passed; the owner is expected to end the
	// process. nil: the Peer ends with ErrStalled.
	Stalled func()

	// Batches reports whether JSON arrays are accepted, as protocol revision 2025-03-26 demands. The reading goroutine
	// calls it for each array. nil: never.
	Batches func() bool
	// NoServerRequests reports whether the other side must not send requests, as since 2026-07-28 (basic/patterns/mrtr):
	// they are then dropped, counted and logged, and never answered. The reading goroutine calls it for each request. nil:
	// it may send requests.
	NoServerRequests func() bool
}

// LateResponse is a response to a call that was cancelled before.
type LateResponse struct {
	ID     ID
	Method string
	Result json.RawMessage // as it came, nil for an error; valid until OnLateResponse returns
	Quiet  bool            // the call was begun with How.Quiet, so the peer was not told of the cancel
	Again  bool            // another response to the call came late before
	Tag    any             // of the call; nil if it was cancelled long ago: see maxTags
	// Settle is set if the call was begun with How.Quiet, else nil. It settles the delivery of the CancelledError with
	// which the call ended. The receiver of the response now knows what to cancel: it sends the cancel that the protocol
	// has for such a call, and calls Settle as CancelRoute says.
	Settle func(error)
}

const (
	defaultMaxIncoming     = 64
	defaultWriteQueueBytes = 64 << 20
	defaultStallLimit      = 30 * time.Second
)

// defaultUncancellable are the requests that open a session; see ErrUncancellable.
var defaultUncancellable = []string{"initialize", "server/discover"}

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Server != "" {
		o.Logger = o.Logger.With("server", o.Server)
	}
	if o.Route == nil {
		o.Route = NotifyRoute{}
	}
	if o.Uncancellable == nil {
		o.Uncancellable = defaultUncancellable
	}
	if o.MaxIncoming <= 0 {
		o.MaxIncoming = defaultMaxIncoming
	}
	if o.WriteQueueBytes <= 0 {
		o.WriteQueueBytes = defaultWriteQueueBytes
	}
	if o.StallLimit == 0 {
		o.StallLimit = defaultStallLimit
	}
	return o
}

// How holds the options of a request. The zero value is what Begin uses.
type How struct {
	// Extra is passed to the Sender unchanged, and is used nowhere else.
	Extra any
	// Quiet is for a request that the protocol cancels in another way than by its id, or not at all. If it is cancelled
	// after it was written, the route is not used and the peer is not told. Its late response is passed to
	// Options.OnLateResponse with Quiet set, and the receiver there reports what becomes of the cancel. Until then, the
	// delivery is Pending, unless the request had not been written. It is Failed if the connection ends first.
	Quiet bool
	// Tag is passed to Options.Tap with every message that belongs to the request; nil: the tap is not called for them.
	Tag any
	// Keep is called with the function that ends the charge of a large result on Options.Results, and owns that charge
	// then: the result is charged until release is called. Keep is called by the reading goroutine before Wait can return
	// the result; it must not block. nil: the result is charged until the caller of Wait is woken.
	Keep func(release func())
}

// Request is an incoming request. It belongs to the handler.
type Request struct {
	ID     ID
	Method string
	Params json.RawMessage // the exact text that came; nil when there was none
	Source ID              // our request in whose answer it came; zero if that is not known (see Message)
	Behind any             // set by OnRequest
	Tag    any             // set by OnRequest: the tag with which Options.Tap is called; nil: the tap is not called
	// Aside is set by OnRequest for a request for which no user will be asked: it does not count against
	// Options.MaxIncoming. As many requests again may be open aside.
	Aside bool
	// Withdrawn is set by OnRequest for a request that the peer has cancelled before it sent it, as may happen over HTTP:
	// it is neither handled nor answered, unless it may not be cancelled at all (Options.Uncancellable).
	Withdrawn bool

	stepAside func() bool
}

// StepAside frees the place of an open request for which no user is asked any more and which only has to be answered.
// From then on it is Aside. StepAside returns false if Options.MaxIncoming requests are aside already: the request then
// keeps its place until it is answered.
func (r *Request) StepAside() bool { return r.stepAside == nil || r.stepAside() }

// Notification is an incoming notification. It belongs to the handler.
type Notification struct {
	Method string
	Params json.RawMessage // the exact text that came; nil when there was none
	Size   int             // of the whole message, in bytes
}

// Class says how a notification may be treated while the handler is behind.
type Class int

const (
	// MustDeliver notifications are all delivered (up to 65,536 waiting ones, far beyond any well-behaved peer).
	MustDeliver Class = iota
	// Coalesce notifications replace a waiting one with the same key, at its place in the queue: the newest wins.
	Coalesce
	// Lossy notifications are dropped, and counted, while 1,024 of them wait.
	Lossy
)
