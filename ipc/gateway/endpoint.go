package gateway

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/mcpserver"
)

// Path at which clients reach a gateway over HTTP.
const Path = "/mcp"

// Limits of the HTTP server, which says nothing of what a message may hold: mcpserver.Bounds does.
const (
	headerTime  = 10 * time.Second // to send all headers of a request
	bodyTime    = time.Minute      // to send its body
	idleTime    = 2 * time.Minute  // between two requests of one connection
	headerBytes = 64 << 10
	// bodiesBytes is what the bodies that are being read may have in all. Who comes beyond it is refused and need not
	// wait for those who send slowly.
	bodiesBytes = 256 << 20
	smallBody   = 64 << 10        // has room beyond that
	stopTime    = 5 * time.Second // for answers on their way when it closes
)

// Endpoint is a gateway at an address of this machine.
type Endpoint struct {
	Gateway *Gateway
	URL     string
	Token   string // which clients must send

	server *http.Server
	ended  chan struct{}
}

// Listen opens an address for the clients of g, which it owns from then on; also when it fails, g is closed. The
// address must be one of the loopback: who listens for others hands his tools to the network. token "" makes one.
func Listen(g *Gateway, address, token string) (*Endpoint, error) {
	l, err := listen(address)
	if err != nil {
		g.Close(nil)
		return nil, err
	}
	if token == "" {
		token = rand.Text()
	}
	mux := http.NewServeMux()
	mux.Handle(Path, limitBodies(bodiesBytes, smallBody, g.HTTP(mcpserver.Guard{Token: token})))
	e := &Endpoint{Gateway: g, URL: "http://" + l.Addr().String() + Path, Token: token, ended: make(chan struct{}),
		server: &http.Server{Handler: mux, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime,
			MaxHeaderBytes: headerBytes, ConnState: bounds.NewConnections(bounds.GatewayConnections).Noted,
			ErrorLog: slog.NewLogLogger(g.log.Handler(), slog.LevelDebug)}}
	go func() { // Close waits for it
		defer close(e.ended)
		if err := e.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			g.log.Error("the gateway's address is served no more", "url", e.URL, "error", err.Error())
		}
	}()
	return e, nil
}

// ErrNotLoopback refuses an address that others could reach.
var ErrNotLoopback = errors.New("a gateway listens on this machine alone: the address must be 127.0.0.1:PORT, [::1]:PORT " +
	"or localhost:PORT")

// Loopback gives an address as Listen opens it, HOST:PORT with a number as host; it fails with ErrNotLoopback for one
// that others could reach.
func Loopback(address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", fmt.Errorf("the address %s is not HOST:PORT: %w", strconv.Quote(address), err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", ErrNotLoopback
	}
	if host == "localhost" { // whatever a name server or a hosts file says of it
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}

func listen(address string) (net.Listener, error) {
	address, err := Loopback(address)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("the gateway cannot listen: %w", err)
	}
	return l, nil
}

// Close disconnects all clients, ends their requests with the cause (nil: ErrClosed), and waits for that.
func (e *Endpoint) Close(cause error) {
	e.Gateway.Close(cause)
	ctx, stop := context.WithTimeoutCause(context.Background(), stopTime, errTooLong)
	defer stop()
	if e.server.Shutdown(ctx) != nil {
		_ = e.server.Close()
	}
	<-e.ended
}
