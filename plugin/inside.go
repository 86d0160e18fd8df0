package plugin

import (
	"context"
	"log/slog"
	"math"
	"net"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/process"
	"github.com/mcphub-go/mcphub/ipc/gateway"
	"github.com/mcphub-go/mcphub/plugin/handshake"
)

// Inside is a hub in this process, for a program that is not a plugin. Its services are reached in memory.
type Inside struct {
	Conn *grpc.ClientConn // to the services of the contract

	hub    realHub
	server *grpc.Server
	served chan struct{}
}

// memoryBuffer is the size in bytes of the buffer of the connection in memory.
const memoryBuffer = 64 << 10

// OpenInside opens a hub in this process. The options are those of the caller, with what ServeHub adds to them; guard
// is as for ServeHub. Like Serve it hides the environment of the process from the hub's servers, and prevents them from
// inheriting anything. The caller must close it.
func OpenInside(o hub.Options, guard ...string) (*Inside, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	l := o.Logger
	slog.SetDefault(l)
	process.InheritNothing()
	if os.Getenv(handshake.EnvDumpable) != "1" {
		if err := process.Hide(); err != nil {
			l.Warn("the servers can read this process's environment in /proc", "error", err)
		}
	}
	i := &Inside{hub: newRealHub(o, guard), served: make(chan struct{})}
	i.server = grpc.NewServer(i.hub.ServerOptions()...)
	i.hub.Register(i.server)
	listener := bufconn.Listen(memoryBuffer)
	go func() { // Close waits for it
		defer close(i.served)
		_ = i.server.Serve(listener) // returns only after Close
	}()
	var err error
	i.Conn, err = grpc.NewClient("passthrough:///memory", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	if err != nil {
		_ = i.Close(context.Background())
		return nil, err
	}
	return i, nil
}

// OpenGateway opens a gateway to the hub. The caller must close it before the hub.
func (i *Inside) OpenGateway(o gateway.Options) (*gateway.Gateway, error) {
	o.Logger = i.hub.hub.Logger()
	return gateway.New(i.hub.hub, o)
}

// Close ends the hub and everything that it has started, as Hub.Close does.
func (i *Inside) Close(ctx context.Context) error {
	err := i.hub.Close(ctx)
	if i.Conn != nil {
		_ = i.Conn.Close()
	}
	i.server.Stop()
	<-i.served
	return err
}
