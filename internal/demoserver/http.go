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
	// ErrAddress is wrapped by the error for what is no address.
	ErrAddress = errors.New("not HOST:PORT")
)

// HTTPOptions configures [RunHTTP]. In and Out of Options are not used.
type HTTPOptions struct {
	Options
	// Addr is where to listen, HOST:PORT; "" is a free port of 127.0.0.1.
	Addr string
	// AllowRemote permits an address that is not loopback, and names of this host in the Host header that nobody can know
	// here.
	AllowRemote bool
	// Ready is called once it listens, with the URL of the server without a path; nil is fine.
	Ready func(url string)
}

// headerTime bounds how long a client may take to send its headers; bodies of answers have no limit of time.
const headerTime = 10 * time.Second

// RunHTTP serves all clients until ctx ends, then ends all their sessions and waits for the tools that still run, as
// Run does. The error is nil when ctx has ended it.
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

// serveHTTP is RunHTTP on a listener, which it closes.
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
	// First the tools hear of it, then the connections break, else a client could take the break for a reason to resume.
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

// checkAddress refuses what is not surely loopback: a name is not looked up, because the answer may change.
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
