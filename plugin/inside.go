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
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/transport"
	"github.com/mcphub-go/mcphub/ipc/gateway"
	"github.com/mcphub-go/mcphub/plugin/handshake"
)

// InsideOptions are the options of a hub inside its own process.
type InsideOptions struct {
	Version  string
	StateDir string       // "" = nowhere
	Logger   *slog.Logger // nil = discard
	// Guard holds the arguments with which this executable becomes the guard of the hub's servers; see ServeHub.
	Guard []string
	// LeaveOut returns why the hub does without an entry of the config; see hub.Options. It may be nil.
	LeaveOut func(config.Server) (why string)
}

// Inside is a hub in this process, for a program that is not a plugin. Its services are reached in memory.
type Inside struct {
	Conn *grpc.ClientConn // to the services of the contract

	hub    realHub
	server *grpc.Server
	served chan struct{}
}

// memoryBuffer is the size in bytes of the buffer of the connection in memory.
const memoryBuffer = 64 << 10

// OpenInside opens a hub in this process. Like Serve it hides the environment of the process from the hub's servers,
// and prevents them from inheriting anything. The caller must close it.
func OpenInside(o InsideOptions) (*Inside, error) {
	l := o.Logger
	if l == nil {
		l = slog.New(slog.DiscardHandler)
	}
	slog.SetDefault(l)
	transport.InheritNothing()
	if os.Getenv(handshake.EnvDumpable) != "1" {
		if err := transport.Hide(); err != nil {
			l.Warn("the servers can read this process's environment in /proc", "error", err)
		}
	}
	i := &Inside{hub: newRealHub(hub.Options{Version: o.Version, StateDir: o.StateDir, Logger: l,
		LeaveOut: o.LeaveOut}, o.Guard), served: make(chan struct{})}
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
