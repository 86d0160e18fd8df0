package mcpserver

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"
)

// Handler is whoever the server is made for. Its methods are called by several goroutines at once.
type Handler interface {
	// Request answers one request of a client: every method of the protocol that the engine does not answer itself. The
	// result is written as it is, and so is a *jsonrpc.Error; any other error becomes -32603 with a fixed text. A method
	// that it does not know it answers with ErrUnknownMethod. It must return soon after ctx has ended.
	//
	// Subscriptions come as resources/subscribe and resources/unsubscribe in both eras; those of a session that ends
	// end with it.
	Request(ctx context.Context, c *Call) (json.RawMessage, error)
	// Notified hears the notifications of a client, but for its cancels: one after the other for each session. It must
	// not block for long: the responses of the client wait behind it.
	Notified(s *Session, method string, params json.RawMessage)
	// Ended is called once for each session that was seen by one of the other methods or not, when it is over and none of
	// its requests runs any more.
	Ended(s *Session, cause error)
}

// Options of a Server.
type Options struct {
	// Info is the serverInfo, a JSON object.
	Info json.RawMessage
	// Capabilities are those of the server, a JSON object: the same for both eras.
	Capabilities json.RawMessage
	// Instructions for the model; "" are left out.
	Instructions string
	Handler      Handler
	// Logger; nil discards. Payloads are never logged.
	Logger *slog.Logger
	Bounds Bounds
}

// Bounds on what clients may take. A zero field is its default.
type Bounds struct {
	// Message is the longest message in bytes. Default 64 MiB.
	Message int
	// OpenPerSession and OpenInAll bound the open requests; beyond them -32000 is answered. Calls of 2026-07-28 over HTTP
	// count as of one session when they have one clientInfo. Defaults 64 and 1,024.
	OpenPerSession, OpenInAll int
	// OpenBytes bounds the params of open requests in all, one client having half of it; beyond it -32000 is answered.
	// Those below 64 KiB do not count: their number is bounded. What is alone has room in any case. Default 256 MiB.
	OpenBytes int
	// Sessions bounds the sessions of legacy clients and of those on stdio. The next is refused, and none is ended for
	// it: a client that opens many must not push out one that is at work. Default 1,000.
	Sessions int
	// Parked and ParkedBytes bound the modern requests that wait for their client's retry, in all. Those of one
	// clientInfo may be OpenPerSession, with a quarter of the bytes. Beyond it the request fails with -32000. Defaults
	// 1,024 and 64 MiB.
	Parked, ParkedBytes int
	// Retry is how long a modern client that was asked may take to come back. Default 10 minutes.
	Retry time.Duration
	// Stall is how long a client may take nothing of what waits for it. Default 30 s.
	Stall time.Duration
	// Queue is how many bytes may wait for a client that does not read. Default 64 MiB.
	Queue int
	// Idle is how long a legacy session over HTTP may be without any exchange. Default 30 minutes.
	Idle time.Duration
	// Events and EventBytes bound what is kept of what a legacy session over HTTP was sent, so that a lost stream can be
	// resumed. Defaults 1,000 and 4 MiB.
	Events, EventBytes int
	// Subscriptions bounds the resources that a session is subscribed to. Default 1,024.
	Subscriptions int
}

func (b Bounds) filled() Bounds {
	b.Message = or(b.Message, 64<<20)
	b.OpenPerSession = or(b.OpenPerSession, 64)
	b.OpenInAll = or(b.OpenInAll, 1024)
	b.OpenBytes = or(b.OpenBytes, 256<<20)
	b.Sessions = or(b.Sessions, 1000)
	b.Parked = or(b.Parked, 1024)
	b.ParkedBytes = or(b.ParkedBytes, 64<<20)
	b.Retry = or(b.Retry, 10*time.Minute)
	b.Stall = or(b.Stall, 30*time.Second)
	b.Queue = or(b.Queue, 64<<20)
	b.Idle = or(b.Idle, 30*time.Minute)
	b.Events = or(b.Events, 1000)
	b.EventBytes = or(b.EventBytes, 4<<20)
	b.Subscriptions = or(b.Subscriptions, 1024)
	return b
}

func or[T int | time.Duration](v, otherwise T) T {
	if v == 0 {
		return otherwise
	}
	return v
}
