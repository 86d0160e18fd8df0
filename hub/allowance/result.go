package allowance

import (
	"context"
	"sync/atomic"
)

// ResultHold ends the counting of the result that a request has in hand: it counts from the first part that was read of
// it. The zero value is ready to use; safe for concurrent use.
type ResultHold struct{ release atomic.Pointer[func()] }

// Set takes over what ends it. A result before it, of a round that asked for something, is over.
func (k *ResultHold) Set(release func()) {
	if before := k.release.Swap(&release); before != nil {
		(*before)()
	}
}

func (k *ResultHold) end() {
	if release := k.release.Swap(nil); release != nil {
		(*release)()
	}
}

// Share lets the result in hand count until what it returns has been called, too. It is called by whoever has the
// request in hand, before Until.
func (k *ResultHold) Share() (release func()) {
	of := k.release.Load()
	if of == nil {
		return func() {}
	}
	var users atomic.Int32
	users.Store(2)
	one := func() {
		if users.Add(-1) == 0 {
			(*of)()
		}
	}
	if !k.release.CompareAndSwap(of, &one) { // it has ended meanwhile
		return func() {}
	}
	return one
}

// Until ends it with ctx, the caller's, if a result is handed to the caller: gRPC ends the context of a call once it
// has queued the answer, or nobody wants it any more; a host that reads slowly lets it lie there, uncounted. A context
// that never ends tells nothing of that.
func (k *ResultHold) Until(ctx context.Context, handed bool) {
	switch {
	case k.release.Load() == nil:
	case handed && ctx.Done() != nil:
		context.AfterFunc(ctx, k.end)
	default:
		k.end()
	}
}
