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

	"github.com/mcphub-go/mcphub/internal/peers/journal"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gosdk:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: gosdk stdio|http")
	}
	j, err := journal.Open(os.Getenv("PEER_JOURNAL"))
	if err != nil {
		return err
	}
	switch args[0] {
	case "stdio":
		return newServer(j).Run(context.Background(), &mcp.StdioTransport{})
	case "http":
		return serveHTTP(j)
	}
	return fmt.Errorf("unknown transport %q", args[0])
}

// serveHTTP serves on a free port, says where in one line on stdout, and ends with its stdin: no server outlives the process that
// started it.
func serveHTTP(j *journal.Journal) error {
	server := newServer(j)
	get := func(*http.Request) *mcp.Server { return server }
	mux := http.NewServeMux()
	// The SDK offers 2026-07-28 in its stateless handler alone; a legacy client's questions and its GET stream need the other.
	modern := mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true})
	legacy := mcp.NewStreamableHTTPHandler(get, nil)
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= "2026-07-28" {
			modern.ServeHTTP(w, r)
		} else {
			legacy.ServeHTTP(w, r)
		}
	})
	mux.Handle("/sse", mcp.NewSSEHandler(get, nil))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	base := "http://" + listener.Addr().String()
	if err := json.NewEncoder(os.Stdout).Encode(map[string]string{"url": base + "/mcp", "sseUrl": base + "/sse"}); err != nil {
		return err
	}
	s := &http.Server{Handler: j.Watch(mux), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = s.Close() // makes Serve return
	}()
	if err := s.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
