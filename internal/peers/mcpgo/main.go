package main

import (
	"context"
	"net/http"
	"os"

	"github.com/mark3labs/mcp-go/server"
	"github.com/mcphub-go/mcphub/internal/peers/journal"
	"github.com/mcphub-go/mcphub/internal/peers/program"
)

func main() {
	program.Main(program.Server{Name: "mcpgo", Stdio: serveStdio, HTTP: handler, Client: play})
}

func serveStdio(j *journal.Journal) error {
	s := server.NewStdioServer(newServer(j))
	// The maximum that it allows: mcp-go loses the cancel of a call that still waits for a worker.
	server.WithWorkerPoolSize(100)(s)
	return s.Listen(context.Background(), os.Stdin, os.Stdout)
}

func handler(j *journal.Journal, base string) http.Handler {
	s := newServer(j)
	mux := http.NewServeMux()
	mux.Handle("/mcp", server.NewStreamableHTTPServer(s, server.WithStateful(true)))
	sse := server.NewSSEServer(s, server.WithBaseURL(base))
	mux.Handle("/sse", sse.SSEHandler())
	mux.Handle("/message", sse.MessageHandler())
	return mux
}
