package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"time"
)

// Handler answers the requests of a Server's clients. Its methods are called by several goroutines at once.
type Handler interface {
	// Request answers one request of a client: every method of the protocol that the package does not answer itself. The
	// result is written as it is, and so is a *jsonrpc.Error; any other error becomes -32603 with a fixed text. For an
	// unknown method it must return ErrUnknownMethod. It must return soon after ctx has ended.
	//
	// Subscriptions come as resources/subscribe and resources/unsubscribe in both eras. When a session ends, its
	// subscriptions end, too, without an unsubscribe.
	Request(ctx context.Context, c *Call) (json.RawMessage, error)
	// Notified is called with the notifications of a client, except its cancels: one after the other for each session. It
	// must not block for long: the responses of the client wait until it returns.
	Notified(s *Session, method string, params json.RawMessage)
	// Ended is called once for each session, whether or not another method was called with it, when the session has ended
	// and none of its requests runs any more.
	Ended(s *Session, cause error)
}

// Options of a Server.
type Options struct {
	// Info is the serverInfo, a JSON object.
	Info json.RawMessage
	// Capabilities are the capabilities of the server, a JSON object, for both eras.
	Capabilities json.RawMessage
	// Instructions are for the model; "" is left out.
	Instructions string
	Handler      Handler
	// Logger; nil discards. Payloads are never logged.
	Logger *slog.Logger
	Bounds Bounds
}

// Bounds limit what clients may use. A zero field means its default.
type Bounds struct {
	// Message is the longest message in bytes. Default 64 MiB.
	Message int
	// OpenPerSession and OpenInAll bound the open requests; the answer to more is -32000. Calls of 2026-07-28 over HTTP
	// that have the same clientInfo count as one session, and all sessions over HTTP that have it may use half of
	// OpenInAll. Defaults 64 and 1,024.
	OpenPerSession, OpenInAll int
	// OpenBytes bounds the params of all open requests, half of it for one client; the answer to more is -32000. Params
	// below 64 KiB do not count: their number is bounded. A request is always accepted if no other is counted. Default
	// 128 MiB.
	OpenBytes int
	// Sessions bounds the sessions of legacy clients and of clients on stdio. Beyond it a session over HTTP of the client
	// that has most of them gives way, which is that with the same clientInfo: the one that was not used for longest.
	// Where no client has two, the new one is refused. Default 1,000.
	Sessions int
	// Parked and ParkedBytes bound all modern requests that wait for their client's retry. Those of one client (one
	// session on stdio, one clientInfo over HTTP) are bounded by OpenPerSession and a quarter of ParkedBytes. Beyond it
	// the oldest of the same client end with ErrGaveWay; if it has none, the new one with ErrNotParked. Defaults 1,024
	// and 64 MiB.
	Parked, ParkedBytes int
	// Retry is how long a modern client that was asked has for its retry. Default 10 minutes.
	Retry time.Duration
	// Stall is how long a client may read nothing while data waits for it. Default 30 s.
	Stall time.Duration
	// Queue is how many bytes may wait for a client that does not read. Default 64 MiB.
	Queue int
	// QueueInAll is the same for all clients over HTTP together. Beyond it a session, or a call of 2026-07-28, of the
	// client for which most waits gives way. Default 256 MiB.
	QueueInAll int
	// Idle is how long a legacy session over HTTP may have no open exchange. Default 30 minutes.
	Idle time.Duration
	// Events and EventBytes bound how many sent events of a legacy session over HTTP are kept, so that a lost stream can
	// be resumed. Defaults 1,000 and 4 MiB.
	Events, EventBytes int
	// EventBytesInAll is the same for all sessions together. Beyond it each keeps no more than 64 KiB. Default 64 MiB.
	EventBytesInAll int
	// Subscriptions bounds the resources to which a session may subscribe. Default 1,024.
	Subscriptions int
}

func (b Bounds) filled() Bounds {
	b.Message = cmp.Or(b.Message, 64<<20)
	b.OpenPerSession = cmp.Or(b.OpenPerSession, 64)
	b.OpenInAll = cmp.Or(b.OpenInAll, 1024)
	b.OpenBytes = cmp.Or(b.OpenBytes, 128<<20)
	b.Sessions = cmp.Or(b.Sessions, 1000)
	b.Parked = cmp.Or(b.Parked, 1024)
	b.ParkedBytes = cmp.Or(b.ParkedBytes, 64<<20)
	b.Retry = cmp.Or(b.Retry, 10*time.Minute)
	b.Stall = cmp.Or(b.Stall, 30*time.Second)
	b.Queue = cmp.Or(b.Queue, 64<<20)
	b.QueueInAll = cmp.Or(b.QueueInAll, 256<<20)
	b.Idle = cmp.Or(b.Idle, 30*time.Minute)
	b.Events = cmp.Or(b.Events, 1000)
	b.EventBytes = cmp.Or(b.EventBytes, 4<<20)
	b.EventBytesInAll = cmp.Or(b.EventBytesInAll, 64<<20)
	b.Subscriptions = cmp.Or(b.Subscriptions, 1024)
	return b
}
