package jsonrpc

import "encoding/json"

// Request is an incoming request. It belongs to the handler.
type Request struct {
	ID     ID
	Method string
	Params json.RawMessage // the exact text that came; nil when there was none
	Source ID              // the own request in whose answer it came; zero when that is not known (see Sourced)
	Behind any             // what OnRequest found out; nil without it
	Tag    any             // set by OnRequest: what Options.Tap is given with its messages; nil: those are not told
	// Aside is set by OnRequest for a request that nobody will be asked about: it takes none of the places of
	// Options.MaxIncoming. As many again may be open aside.
	Aside bool

	stepAside func() bool
}

// StepAside gives the place of an open request back: nobody is asked about it any more, and what is left to do is to
// answer it. It counts among those that are Aside from then on. false: these are as many as may be, and it keeps its
// place until it is answered.
func (r *Request) StepAside() bool { return r.stepAside == nil || r.stepAside() }

// Notification is an incoming notification. It belongs to the handler.
type Notification struct {
	Method string
	Params json.RawMessage // the exact text that came; nil when there was none
	Size   int             // of the whole message, in bytes
}

// Class tells how a notification may be treated while the handler is behind.
type Class int

const (
	// MustDeliver notifications are all delivered (up to 65,536 waiting ones, far beyond any well-behaved peer).
	MustDeliver Class = iota
	// Coalesce notifications replace a waiting one with the same key, at its place in the queue: the newest wins.
	Coalesce
	// Lossy notifications are dropped, and counted, while 1,024 of them wait.
	Lossy
)

func (c Class) String() string {
	switch c {
	case MustDeliver:
		return "must-deliver"
	case Coalesce:
		return "coalesce"
	case Lossy:
		return "lossy"
	}
	return "unknown"
}
