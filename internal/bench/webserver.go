package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

// webServer is an MCP server over Streamable HTTP for both eras, built on net/http alone. It parses no JSON: it finds
// what it needs by a search for bytes, so that the benchmark measures the client.
type webServer struct {
	early     bool           // it sends the headers of an answer to hang at once
	reset     chan time.Time // of each call of hang, when net/http reported that the client is gone
	cancelled chan time.Time // of each notifications/cancelled, when it was read
	hanging   atomic.Int64   // calls of hang that wait
}

func newWebServer() *webServer {
	return &webServer{reset: make(chan time.Time, 1<<16), cancelled: make(chan time.Time, 1<<16)}
}

var (
	webJSON     = []string{"application/json"}
	webStream   = []string{"text/event-stream"}
	webSession  = []string{"bench"}
	callHang    = []byte(`"name":"hang"`)
	initialize  = []byte(`"method":"initialize"`)
	discover    = []byte(`"method":"server/discover"`)
	listTools   = []byte(`"method":"tools/list"`)
	callEcho    = []byte(`"name":"echo"`)
	helloResult = `{"protocolVersion":"` + revision +
		`","capabilities":{"tools":{}},"serverInfo":{"name":"web","version":"1"}`
	aboutResult  = `{"supportedVersions":["` + modernRevision + `"],"capabilities":{"tools":{}}`
	toolsResult  = `{"tools":[{"name":"echo","inputSchema":{"type":"object"}},{"name":"hang","inputSchema":{"type":"object"}}]`
	echoedResult = `{"content":[{"type":"text","text":"the quick brown fox jumps over the lazy dog"}],"isError":false`
)

const modernRevision = "2026-07-28"

func (s *webServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost:
	case http.MethodDelete:
		return
	default:
		w.WriteHeader(http.StatusMethodNotAllowed) // no standalone stream
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	id := webID(body)
	if id == nil { // a notification
		if isCancel(body) {
			s.cancelled <- time.Now()
		}
		w.WriteHeader(http.StatusAccepted)
		return
	}
	result, end := "", "}"
	if r.Header["Mcp-Method"] != nil {
		end = `,"resultType":"complete"}`
	}
	switch {
	case bytes.Contains(body, callEcho):
		result = echoedResult
	case bytes.Contains(body, callHang):
		if s.early {
			w.Header()["Content-Type"] = webStream
			_ = http.NewResponseController(w).Flush() // an error means that the client has gone
		}
		s.hanging.Add(1)
		<-r.Context().Done()
		s.reset <- time.Now()
		s.hanging.Add(-1)
		return
	case bytes.Contains(body, initialize):
		w.Header()["Mcp-Session-Id"] = webSession
		result = helloResult
	case bytes.Contains(body, discover):
		result = aboutResult
	case bytes.Contains(body, listTools):
		result = toolsResult
	default:
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.Header()["Content-Type"] = webJSON
	answer := make([]byte, 0, 512)
	answer = append(append(append(answer, `{"jsonrpc":"2.0","id":`...), id...), `,"result":`...)
	answer = append(append(append(answer, result...), end...), '}')
	_, _ = w.Write(answer) // an error means that the client has gone
}

// webID returns the JSON text of a request's id, or nil for a notification.
func webID(body []byte) []byte {
	at := bytes.Index(body, idKey)
	if at < 0 {
		return nil
	}
	id := body[at+len(idKey):]
	return id[:max(0, bytes.IndexAny(id, ",}"))]
}

// listenHTTP serves on the loopback interface until stop is called.
func listenHTTP(h http.Handler) (url string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	srv := &http.Server{Handler: h}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l) // ends by Close
	}()
	return "http://" + l.Addr().String() + "/mcp", func() {
		_ = srv.Close()
		<-done
	}, nil
}

// serveHTTP serves until the input of this program ends. It prints the same two lines as `mcphub mcp --http`.
func serveHTTP(h http.Handler, token string) int {
	url, stop, err := listenHTTP(h)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	fmt.Printf("%s\nAuthorization: Bearer %s\n", url, token)
	_, _ = io.Copy(io.Discard, os.Stdin)
	stop()
	return 0
}

// endpoint is a program that serves over HTTP, and what its clients must know.
type endpoint struct {
	url, authorization string
	stop               func()
}

// startHTTP starts a program that prints its address and the value for the Authorization header of its clients.
func startHTTP(path string, args ...string) (e endpoint, err error) {
	server, err := startChild(4096, path, args...)
	if err != nil {
		return e, err
	}
	e.stop = func() {
		_ = server.cmd.Process.Signal(os.Interrupt) // mcphub does not end with its input
		server.close()
	}
	at, err1 := server.out.ReadString('\n')
	allowed, err2 := server.out.ReadString('\n')
	if err := errors.Join(err1, err2); err != nil {
		e.stop()
		return e, fmt.Errorf("%s %v did not start: %w", path, args, err)
	}
	e.url, e.authorization = strings.TrimSpace(at), strings.TrimSpace(strings.TrimPrefix(allowed, "Authorization:"))
	return e, nil
}
