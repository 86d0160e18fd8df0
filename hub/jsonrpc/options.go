package jsonrpc

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// Options of a Peer. The zero value is usable: it answers every request with "method not found" and ignores every
// notification. Functions must be safe for concurrent use unless their comment says who calls them.
type Options struct {
	// Server names the other side in tracker entries and logs.
	Server string
	// Logger; nil discards. Payloads are never logged.
	Logger *slog.Logger

	// HandleRequest answers one incoming request, in a goroutine of its own that the Peer owns. An *Error is sent as it
	// is, any other error as CodeInternalError with a fixed text. ctx ends, with its cause, when the peer withdraws the
	// request (*WithdrawnError; what the handler returns is then discarded), when the connection ends (*ClosedError) and
	// when RequestTracker.Cancel is called for it. The handler must return soon after that: Close waits for it.
	// nil answers CodeMethodNotFound.
	HandleRequest func(ctx context.Context, r *Request) (json.RawMessage, error)
	// OnRequest sees each request before HandleRequest does, and before anything that came after it is acted on: what led
	// to it can be looked up here, and kept in its Behind, while the answer that follows has ended nothing yet. Called by
	// the reading goroutine: it must not block, and must not keep the params, which are good until it returns. It sees
	// requests, too, that are refused then. nil does nothing.
	OnRequest func(r *Request)
	// Answer answers requests whose answer is always the same, such as pings: at once, whatever else is open, and without
	// being counted. Called by the reading goroutine: it must not block. ok is false for all others, which go to
	// HandleRequest. nil: there are none.
	Answer func(method string) (result json.RawMessage, ok bool)
	// HandleNotification sees the notifications one after the other, in order. Responses that came after a notification
	// wait until it has returned. It must not call Close. nil ignores them.
	HandleNotification func(n *Notification)
	// Direct, if not nil, is given each notification first, when none waits to be handled: what it takes (true) goes no
	// further, and costs neither a copy nor another goroutine. It is for what may come late and comes in storms. Called by
	// the reading goroutine: it must not block, and must not keep the notification or its params, which are good until it
	// returns.
	Direct func(n *Notification) bool
	// Classify gives the class of a notification, and the key of Coalesce. It is called by the reading goroutine, so it
	// must be quick. nil: MustDeliver.
	Classify func(n *Notification) (Class, string)
	// OnDropped hears of notifications that were dropped since the last call, by class name. It is called between
	// notifications, by the goroutine that calls HandleNotification.
	OnDropped func(class string, n int)
	// OnOutgoingCancelled is asked when the peer sends notifications/cancelled for an id that is not one of its own
	// pending requests. Returning true ends the own pending call with that id: it fails with a *WithdrawnError and
	// nothing is sent. This is one way in which a server ends subscriptions/listen (2026-07-28
	// basic/patterns/cancellation). Called by the reading goroutine: it must not block.
	OnOutgoingCancelled func(id ID, reason string) bool

	// OnBadLine hears of what came and is no message, or none that can be used: it is counted and ignored. Called by the
	// reading goroutine: it must not block, and must not keep the line. nil does nothing.
	OnBadLine func(line []byte)

	// OnLateResponse hears of a response to a call that was cancelled, which is then dropped: a result can name something
	// that goes on at the other side. Called by the reading goroutine: it must not block.
	OnLateResponse func(r LateResponse)

	// Tap, if not nil, is told of every message that belongs to a request with a tag (How.Tag, Request.Tag): of one that
	// leaves just before the connection is given it, in the order of the wire; of one that came before it is acted on.
	// Notifications of the peer other than notifications/cancelled name their request in ways of their own, and are told
	// by whoever knows those. Tap may be called with locks of the Peer held: it must not block and must not call the Peer.
	Tap func(tag any, o Observed)

	// Route of outgoing cancels; nil: NotifyRoute.
	Route CancelRoute
	// Uncancellable lists the methods that are never cancelled on the wire; nil: initialize and server/discover.
	Uncancellable []string

	// Results is the account of large messages: of one that is read, and of a result until its caller has it (or longer:
	// How.Keep). nil: nothing is counted.
	Results *bounds.Account

	// MaxIncoming bounds the open incoming requests; beyond it CodeTooManyRequests is answered. Default 64.
	MaxIncoming int
	// WriteQueueBytes bounds the bytes that wait to be written; beyond it Begin and Notify fail with *QueueFullError, and
	// requests of the peer are refused.
	// Default 64 MiB.
	WriteQueueBytes int
	// StallLimit is how long the other side may take no byte while some wait. Default 30 s; negative: no limit.
	StallLimit time.Duration
	// Stalled is called once, on a goroutine of its own, when StallLimit has passed; the owner then ends the process.
	// nil: the Peer ends with ErrStalled.
	Stalled func()

	// Batches tells whether JSON arrays are accepted, as protocol revision 2025-03-26 demands. It is asked for each
	// array by the reading goroutine. nil: never.
	Batches func() bool
	// NoServerRequests tells whether the other side must not send requests, as since 2026-07-28 (basic/patterns/mrtr):
	// they are then dropped, counted and logged, and never answered. Asked for each request by the reading goroutine. nil:
	// never.
	NoServerRequests func() bool
}

// LateResponse is a response to a call that was cancelled before.
type LateResponse struct {
	ID     ID
	Method string
	Result json.RawMessage // as it came, nil for an error; valid until OnLateResponse returns
	Quiet  bool            // the call was begun with How.Quiet, so the peer has not heard of the cancel
	Tag    any             // of the call
	// Told settles the delivery of the CancelledError that the call ended with, when it was begun with How.Quiet; else
	// nil. It is called as CancelRoute says, by who sends the cancel that the protocol has for such a call, now that the
	// response says what to cancel.
	Told func(error)
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
