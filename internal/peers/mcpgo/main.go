package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/mark3labs/mcp-go/server"
	"github.com/mcphub-go/mcphub/internal/peers/journal"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "mcpgo:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: mcpgo stdio|http")
	}
	j, err := journal.Open(os.Getenv("PEER_JOURNAL"))
	if err != nil {
		return err
	}
	switch args[0] {
	case "stdio":
		s := server.NewStdioServer(newServer(j))
		// As many at once as it allows: a cancel of a call that still waits for a worker is lost on it.
		server.WithWorkerPoolSize(100)(s)
		return s.Listen(context.Background(), os.Stdin, os.Stdout)
	case "http":
		return serveHTTP(j)
	}
	return fmt.Errorf("unknown transport %q", args[0])
}

// serveHTTP serves on a free port, says where in one line on stdout, and ends with its stdin: no server outlives the process that started it.
func serveHTTP(j *journal.Journal) error {
	s := newServer(j)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	base := "http://" + listener.Addr().String()
	mux := http.NewServeMux()
	mux.Handle("/mcp", server.NewStreamableHTTPServer(s, server.WithStateful(true)))
	sse := server.NewSSEServer(s, server.WithBaseURL(base))
	mux.Handle("/sse", sse.SSEHandler())
	mux.Handle("/message", sse.MessageHandler())
	if err := json.NewEncoder(os.Stdout).Encode(map[string]string{"url": base + "/mcp", "sseUrl": base + "/sse"}); err != nil {
		return err
	}
	h := &http.Server{Handler: j.Watch(mux), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = h.Close() // makes Serve return
	}()
	if err := h.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
