package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

const (
	// drainTime is the time that the hub gets to end calls and servers in order, if the context does not end before.
	drainTime = 5 * time.Second
	// shutdownTime is how long the shutdown call may take. A hub that takes longer is no longer able to react.
	shutdownTime = time.Second
	// exitTime is how long the process may then take to exit.
	exitTime = 2 * time.Second
	// shutdownMethod is go-plugin's own method. Its message is empty, and its generated code is in an internal package.
	shutdownMethod = "/plugin.GRPCController/Shutdown"
)

// ErrKilled is returned if the hub did not end in order and was killed. What its MCP servers did then is up to them.
var ErrKilled = errors.New("mcphub: the hub did not end in order and was killed")

// Close ends the hub. It drains it (calls are cancelled, windows are told, servers are stopped), shuts it down, and
// kills the process if that does not help. When ctx ends, draining ends, and Close returns at most 3 s later whatever
// the hub does, even if its process is stopped. Further calls wait for the first one, or for their own ctx, and return
// the same error.
//
// The error is nil if the hub had ended by itself before.
func (c *Client) Close(ctx context.Context) error {
	select {
	case <-c.closing:
		c.closeErr = c.end(ctx)
		c.cleanUp()
		close(c.closed)
		return c.closeErr
	case <-c.closed:
		return c.closeErr
	default:
	}
	select {
	case <-c.closed:
		return c.closeErr
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// end ends the process and returns when it has ended.
func (c *Client) end(ctx context.Context) error {
	select {
	case <-c.proc.ended:
		return nil
	default:
	}
	draining, cancelDrain := context.WithTimeoutCause(ctx, drainTime,
		errors.New("draining took longer than "+drainTime.String()))
	_, _ = c.Hub.Drain(draining, &mcphubv1.DrainRequest{Reason: "the host closes the hub"})
	cancelDrain() // the result does not matter: the shutdown closes what is left

	if c.shutdown(context.WithoutCancel(ctx)) {
		patience := time.NewTimer(exitTime)
		defer patience.Stop()
		select {
		case <-c.proc.ended:
			return nil
		case <-patience.C:
		}
	}
	c.proc.kill()
	<-c.proc.ended
	return fmt.Errorf("%w (process %d)", ErrKilled, c.PID())
}

// shutdown asks the hub to shut down, and reports whether the hub got the call. The answer is usually lost, since the
// server stops while it answers.
func (c *Client) shutdown(ctx context.Context) (heard bool) {
	ctx, cancel := context.WithTimeoutCause(ctx, shutdownTime, errors.New("the hub did not hear its shutdown within "+
		shutdownTime.String()))
	defer cancel()
	err := c.conn.Invoke(ctx, shutdownMethod, &emptypb.Empty{}, &emptypb.Empty{})
	return status.Code(err) != codes.DeadlineExceeded
}

// cleanUp frees what belongs to a process that has ended or is being killed: go-plugin's goroutines, the connection,
// and the socket's directory.
func (c *Client) cleanUp() {
	<-c.proc.read
	c.plugin.Kill() // only cleans up, since the process is dead; otherwise it might never return
	if c.conn != nil {
		_ = c.conn.Close()
	}
	if c.proc.socketDir != "" {
		_ = os.RemoveAll(c.proc.socketDir) // if the process was killed, go-plugin may not have removed it
	}
}
