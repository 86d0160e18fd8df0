package fakeeditor

import (
	"context"
	"errors"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"
)

// Serve serves s in memory until the end of the test, and returns a connection to it. If through is not nil, it sees
// what the client reads and writes.
func Serve(tb interface {
	TB
	Cleanup(f func())
}, s *grpc.Server, through func(net.Conn) net.Conn) *grpc.ClientConn {
	tb.Helper()
	l := bufconn.Listen(1 << 16)
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	conn, err := grpc.NewClient("passthrough:///memory", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(1<<30)),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			c, err := l.DialContext(ctx)
			if err == nil && through != nil {
				c = through(c)
			}
			return c, err
		}))
	if err != nil {
		tb.Fatalf("a connection in memory: %v", err)
	}
	tb.Cleanup(func() {
		_ = conn.Close()
		s.Stop()
		if err := <-served; err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			tb.Errorf("serve: %v", err)
		}
	})
	return conn
}
