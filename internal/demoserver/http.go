package demoserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"
)

// The paths of the HTTP server.
const (
	PathMCP = "/mcp" // Streamable HTTP: sessions for legacy clients, single exchanges for modern ones
	PathSSE = "/sse" // HTTP with SSE (2024-11-05)
)

var (
	// ErrRemote is wrapped by the error for an address that other machines can reach.
	ErrRemote = errors.New("other machines could reach it, call its tools, and end it")
	// ErrAddress is wrapped by the error for an invalid address.
	ErrAddress = errors.New("not HOST:PORT")
)

// HTTPOptions configures [RunHTTP]. In and Out of Options are not used.
type HTTPOptions struct {
	Options
	// Addr is the address to listen on, HOST:PORT; "" means a free port of 127.0.0.1.
	Addr string
	// AllowRemote permits an address that is not loopback. It also permits any name in the Host header, since the names of
	// this host are not known here.
	AllowRemote bool
	// Ready is called once the server listens, with the URL of the server without a path. It may be nil.
	Ready func(url string)
}

// headerTime limits the time in which a client must send its headers. Bodies of answers have no time limit.
const headerTime = 10 * time.Second

// RunHTTP serves all clients until ctx ends. Then it ends all their sessions, and waits for the running tools as Run
// does. It returns nil if ctx ended it.
func RunHTTP(ctx context.Context, o HTTPOptions) (err error) {
	o.Options = o.withDefaults()
	if o.Addr == "" {
		o.Addr = "127.0.0.1:0"
	}
	if err := checkAddress(o.Addr); err != nil && !(o.AllowRemote && errors.Is(err, ErrRemote)) {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.Addr)
	if err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("demo server: %w", err)
	}
	j, err := OpenJournal(o.Log, o.Record)
	if err != nil {
		_ = listener.Close()
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	if o.Ready != nil {
		o.Ready("http://" + listener.Addr().String())
	}
	return serveHTTP(ctx, listener, o, j)
}

// serveHTTP serves as RunHTTP does, on a listener that it closes.
func serveHTTP(ctx context.Context, listener net.Listener, o HTTPOptions, j *Journal) error {
	h := NewHandler(o, j)
	server := &http.Server{Handler: h, ReadHeaderTimeout: headerTime, ErrorLog: log.New(io.Discard, "", 0)}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	j.note(Event{Event: EventReady})
	select {
	case <-ctx.Done():
	case err := <-served:
		served <- err
	}
	// The tools are cancelled before the connections close. Otherwise a client could see only the broken connection, and
	// resume.
	h.stop(context.Cause(ctx))
	_ = server.Close()
	h.Close()
	err := <-served
	j.note(Event{Event: EventClosed})
	if err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("demo server: %w", err)
	}
	return nil
}

// checkAddress refuses an address that may not be loopback. It looks no names up, because the answer may change later.
func checkAddress(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("%q is %w, 127.0.0.1:8080 say", addr, ErrAddress)
	}
	if !loopbackHost(host) {
		return fmt.Errorf("will not listen on %q: %w; use 127.0.0.1", addr, ErrRemote)
	}
	return nil
}
