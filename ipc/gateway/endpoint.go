package gateway

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/mcpserver"
)

// Path is the path at which clients reach a gateway over HTTP.
const Path = "/mcp"

// Limits of the HTTP server. The limits of messages are in mcpserver.Bounds.
const (
	headerTime  = 10 * time.Second // for all headers of a request
	bodyTime    = time.Minute      // for the body of a request
	idleTime    = 2 * time.Minute  // between two requests of one connection
	headerBytes = 64 << 10
	// bodiesBytes is the maximum number of bytes of all bodies that are being read. A body beyond it is refused at once,
	// instead of waiting for clients that send slowly.
	bodiesBytes = 128 << 20
	smallBody   = 64 << 10        // a body of this size is always accepted
	stopTime    = 5 * time.Second // for answers that are being sent when the endpoint closes
)

// Endpoint is a gateway at an address of this machine.
type Endpoint struct {
	Gateway *Gateway
	URL     string
	Token   string // clients must send it

	server   *http.Server
	released *bounds.Releases
	ended    chan struct{}
}

// Listen opens an address for the clients of g. From then on it owns g, and closes g if it fails. The address must be
// on the loopback interface, since any other one would offer the user's tools to the network. For token "" it creates a
// token.
func Listen(g *Gateway, address, token string) (*Endpoint, error) {
	l, err := listen(address)
	if err != nil {
		g.Close(nil)
		return nil, err
	}
	return serve(g, l, token), nil
}

// serve serves the clients of g that connect to l. It owns both.
func serve(g *Gateway, l net.Listener, token string) *Endpoint {
	if token == "" {
		token = rand.Text()
	}
	connections := bounds.NewTokenConnections(bounds.GatewayConnections, bounds.GatewayStrangers)
	guard := mcpserver.Guard{Token: token, Admitted: connections.Admit}
	released := bounds.NewReleases(debug.FreeOSMemory)
	mux := http.NewServeMux()
	mux.Handle(Path, g.HTTP(guard))
	e := &Endpoint{Gateway: g, URL: "http://" + l.Addr().String() + Path, Token: token, ended: make(chan struct{}),
		released: released,
		server: &http.Server{Handler: limitBodies(bodiesBytes, smallBody, released.Note, mux), ReadHeaderTimeout: headerTime,
			IdleTimeout: idleTime, MaxHeaderBytes: headerBytes, ConnState: connections.Noted,
			ErrorLog: slog.NewLogLogger(g.log.Handler(), slog.LevelDebug)}}
	go func() { // Close waits for it
		defer close(e.ended)
		if err := e.server.Serve(mcpserver.Watch(e.server, l)); !errors.Is(err, http.ErrServerClosed) {
			g.log.Error("the gateway's address is served no more", "url", e.URL, "error", err.Error())
		}
	}()
	return e
}

// ErrNotLoopback is returned for an address that other machines could reach.
var ErrNotLoopback = errors.New("a gateway listens on this machine alone: the address must be 127.0.0.1:PORT, [::1]:PORT " +
	"or localhost:PORT")

// Loopback returns the address that Listen opens: HOST:PORT with a number as host. It returns ErrNotLoopback for an
// address that other machines could reach.
func Loopback(address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", fmt.Errorf("the address %s is not HOST:PORT: %w", strconv.Quote(address), err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", ErrNotLoopback
	}
	if host == "localhost" { // independent of name servers and the hosts file
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

// Close disconnects all clients, ends their requests with the cause (nil means ErrClosed), and waits until they have
// ended.
func (e *Endpoint) Close(cause error) {
	e.Gateway.Close(cause)
	ctx, stop := context.WithTimeoutCause(context.Background(), stopTime, errTooLong)
	defer stop()
	if e.server.Shutdown(ctx) != nil {
		_ = e.server.Close()
	}
	<-e.ended
	e.released.Close()
}

// tooMuchError ends the body of a request that has no room.
type tooMuchError struct{}

func (tooMuchError) Error() string { return "too much is being sent to this gateway at the moment" }

// Answered tells the reader of the body that the request has been answered.
func (tooMuchError) Answered() {}

// limitBodies bounds the memory of the bodies that are being read at the same time, and the time for each, for a
// handler that reads a body completely before it does anything else. Only bytes that were received count, not the
// announced length, and none count before next reads the body, which it does after it has checked the token. A body of
// up to small bytes is always accepted, so that clients with large bodies cannot block ordinary requests.
//
// released is called with the number of bytes of each body that is over.
func limitBodies(total, small int64, released func(bytes int), next http.Handler) http.Handler {
	var taken atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		b := &body{ReadCloser: r.Body, w: w, taken: &taken, total: total, small: small, over: released}
		b.deadline(time.Now().Add(bodyTime))
		defer b.release()
		r.Body = b
		next.ServeHTTP(w, r)
	})
}

// body is the body of one request. One goroutine reads it.
type body struct {
	io.ReadCloser
	w            http.ResponseWriter
	taken        *atomic.Int64 // by all bodies
	total, small int64
	mine         int64
	over         func(bytes int)
	released     bool
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.released {
		return n, err
	}
	b.mine += int64(n)
	if b.taken.Add(int64(n)) > b.total && n > 0 && b.mine > b.small {
		b.release()
		b.w.Header().Set("Retry-After", "1")
		http.Error(b.w, tooMuchError{}.Error(), http.StatusServiceUnavailable)
		return 0, tooMuchError{}
	}
	if err != nil {
		b.release()
	}
	if err == io.EOF {
		b.deadline(time.Time{})
	}
	return n, err
}

// release gives back the bytes that the body has taken. The deadline stays for what is not read yet: net/http takes it
// in after the answer.
func (b *body) release() {
	if !b.released {
		b.released = true
		b.taken.Add(-b.mine)
		b.over(int(b.mine))
	}
}

func (b *body) deadline(t time.Time) {
	// an error is ignored: a writer without deadlines has no network connection either
	_ = http.NewResponseController(b.w).SetReadDeadline(t)
}
