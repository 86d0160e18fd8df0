package allowance

import (
	"context"
	"sync/atomic"
)

// ResultHold ends the accounting of a request's current result, which counts from the first part on that was read of
// it. The zero value is ready to use. It is safe for concurrent use.
type ResultHold struct{ release atomic.Pointer[func()] }

// Set stores the function that ends the accounting of a new result. It ends that of the result before, which is of an
// earlier round that asked a question.
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

// Until ends the accounting. If the result is handed to the caller, the accounting ends with ctx, the caller's context:
// gRPC ends the context of a call once it has queued the answer, or once nobody wants it any more. An answer that waits
// there for a slow host is not counted. Otherwise, and if ctx never ends, the accounting ends at once.
func (k *ResultHold) Until(ctx context.Context, handed bool) {
	switch {
	case k.release.Load() == nil:
	case handed && ctx.Done() != nil:
		context.AfterFunc(ctx, k.end)
	default:
		k.end()
	}
}
