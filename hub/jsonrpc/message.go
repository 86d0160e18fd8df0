package jsonrpc

import "encoding/json"

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

func (c Class) String() string { return [...]string{"must-deliver", "coalesce", "lossy"}[c] }
