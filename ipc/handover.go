package ipc

import (
	"context"

	"github.com/mcphub-go/mcphub/hub"
)

// countedResult is from how many bytes on a result counts: below it, ten thousand at once are no matter.
const countedResult = 64 << 10

// handOver takes the bytes of a result from what its server, and all servers, may have in flight, until the call is over: gRPC ends its context once the answer is
// written, or nobody wants it any more. The error is the call's own loss.
func (c *counter) handOver(ctx context.Context, server string, r *hub.CallResult) error {
	n := len(r.Result)
	if e := r.Error; e != nil {
		n += len(e.Message) + len(e.Data)
	}
	if n < countedResult {
		return nil
	}
	release, err := c.domain.HoldResult(server, r.RequestID, n)
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, release)
	return nil
}
