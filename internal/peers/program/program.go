// Package program holds what the programs of package peers that are written in Go have in common: how they are run,
// where they serve, the journal of a server in the format of ../journal.mjs, and what a client does, as ../scenario.mjs
// does: the outcome of each step is one line of JSON.
//
// What must not live here: any knowledge of the hub or of an SDK.
package program

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

// Server is one server, made with any SDK.
type Server struct {
	Name string
	// Stdio serves on stdin and stdout.
	Stdio func(*Journal) error
	// HTTP serves Streamable HTTP at /mcp and the transport of 2024-11-05 at /sse. base is the origin.
	HTTP func(j *Journal, base string) http.Handler
	// Client plays the scenario as a client of the target.
	Client func(Target) error
}

// Target is what a client connects to: a URL with the value of the header Authorization, or a command.
type Target struct {
	Prefix, Era        string
	URL, Authorization string
	Command            []string
}

// Main runs the server according to its command line, and ends the process.
func Main(s Server) {
	if err := s.run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", s.Name, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func (s Server) run(args []string) error {
	switch {
	case len(args) == 6 && args[0] == "client" && args[3] == "http":
		return s.Client(Target{Prefix: args[1], Era: args[2], URL: args[4], Authorization: args[5]})
	case len(args) > 4 && args[0] == "client" && args[3] == "stdio":
		return s.Client(Target{Prefix: args[1], Era: args[2], Command: args[4:]})
	case len(args) != 1:
		return fmt.Errorf("usage: %s stdio|http, or %[1]s client PREFIX legacy|auto stdio COMMAND...|http URL AUTHORIZATION",
			s.Name)
	}
	j, err := openJournal(os.Getenv("PEER_JOURNAL"))
	if err != nil {
		return err
	}
	switch args[0] {
	case "stdio":
		return s.Stdio(j)
	case "http":
		return s.serveHTTP(j)
	}
	return fmt.Errorf("unknown transport %q", args[0])
}

// serveHTTP serves on a free port, prints its addresses as one line on stdout, and ends with its stdin, so that no
// server outlives the process that started it.
func (s Server) serveHTTP(j *Journal) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	base := "http://" + listener.Addr().String()
	handler := j.Watch(s.HTTP(j, base))
	at := map[string]string{"url": base + "/mcp", "sseUrl": base + "/sse"}
	if err := json.NewEncoder(os.Stdout).Encode(at); err != nil {
		return err
	}
	h := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = h.Close() // makes Serve return
	}()
	if err := h.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
