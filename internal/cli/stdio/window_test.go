package stdio

import (
	"context"
	"io"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// TestUnreadOutput: a host that stops reading ends the command, and not only what it asked for.
func TestUnreadOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancelCause(t.Context())
		defer end(nil)
		unread, to := io.Pipe()
		nothing, from := io.Pipe()
		defer unread.Close()
		defer from.Close()
		w := &window{lines: jsonrpc.NewLineConn(nothing, to, jsonrpc.LineConnOptions{}), end: end}
		defer context.AfterFunc(ctx, func() { _ = w.lines.Close() })()
		w.say(new(mcphubv1.AttachResponse)) // returns once the lines are closed
		if cause := context.Cause(ctx); cause != errUnread {
			t.Errorf("the cause is %v", cause)
		}
	})
}
