package main

import (
	"context"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcphub-go/mcphub/internal/peers/journal"
	"github.com/mcphub-go/mcphub/internal/peers/program"
)

func main() {
	program.Main(program.Server{Name: "gosdk", Stdio: serveStdio, HTTP: handler, Client: play})
}

func serveStdio(j *journal.Journal) error {
	return newServer(j).Run(context.Background(), &mcp.StdioTransport{})
}

func handler(j *journal.Journal, _ string) http.Handler {
	server := newServer(j)
	get := func(*http.Request) *mcp.Server { return server }
	mux := http.NewServeMux()
	// The SDK offers 2026-07-28 only in its stateless handler; a legacy client's questions and its GET stream need the
	// other handler.
	modern := mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: true,
		PropagateRequestCancellation: true})
	legacy := mcp.NewStreamableHTTPHandler(get, nil)
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= "2026-07-28" {
			modern.ServeHTTP(w, r)
		} else {
			legacy.ServeHTTP(w, r)
		}
	})
	mux.Handle("/sse", mcp.NewSSEHandler(get, nil))
	return mux
}
