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
	// drainTime is what the hub gets to end calls and servers in order, if the context does not end before.
	drainTime = 5 * time.Second
	// shutdownTime is how long the hub may take to hear of its shutdown. One that takes longer hears nothing any more.
	shutdownTime = time.Second
	// exitTime is how long the process may live on after that.
	exitTime = 2 * time.Second
	// shutdownMethod is go-plugin's own. Its message is empty; the generated code is internal there.
	shutdownMethod = "/plugin.GRPCController/Shutdown"
)

// ErrKilled says that the hub did not end in order and was killed. What its MCP servers did then is up to them.
var ErrKilled = errors.New("mcphub: the hub did not end in order and was killed")

// Close ends the hub: it drains it (calls are cancelled, windows told, servers stopped), shuts it down, and kills the
// process if that does not help. When ctx ends, draining ends; Close returns at most 3 s later whatever the hub does, a
// stopped process included. Further calls wait for the first, or for their own ctx, and return the same.
//
// The error is nil for a hub that had ended before, by itself.
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
	cancelDrain() // whatever came of it: the hub closes what is left when it is shut down

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

// shutdown asks for the end and tells whether the hub heard it. The answer itself is lost as a rule, since the
// server stops while it answers.
func (c *Client) shutdown(ctx context.Context) (heard bool) {
	ctx, cancel := context.WithTimeoutCause(ctx, shutdownTime, errors.New("the hub did not hear its shutdown within "+
		shutdownTime.String()))
	defer cancel()
	err := c.conn.Invoke(ctx, shutdownMethod, &emptypb.Empty{}, &emptypb.Empty{})
	return status.Code(err) != codes.DeadlineExceeded
}

// cleanUp ends what belongs to a process that has ended or is being killed: go-plugin's goroutines, the connection, the
// socket's directory.
func (c *Client) cleanUp() {
	<-c.proc.read
	c.plugin.Kill() // finds the process dead, so that it only tidies up; it has no bound otherwise
	if c.conn != nil {
		_ = c.conn.Close()
	}
	if c.proc.socketDir != "" {
		_ = os.RemoveAll(c.proc.socketDir) // the process may have been killed, and go-plugin may not have come that far
	}
}
