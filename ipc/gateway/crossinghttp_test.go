package gateway_test

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"

	"google.golang.org/grpc/test/bufconn"

	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/hub/mcpserver"
)

// web is the gateway over HTTP, on a network in memory.
type web struct {
	listener *bufconn.Listener
	server   *http.Server
	served   chan struct{}
}

const webToken = "the-token-of-the-script"

func newWeb(h http.Handler) *web {
	w := &web{listener: bufconn.Listen(1 << 16), server: &http.Server{Handler: h}, served: make(chan struct{})}
	go func() { // close waits for it
		defer close(w.served)
		_ = w.server.Serve(w.listener)
	}()
	return w
}

func (w *web) close() {
	_ = w.server.Close()
	<-w.served
}

// webClient sends each line that is written to it in a POST of its own, and reports to its party what comes, with the
// stream: "[1]" is the first POST, "[get]" the stream that was opened with "get". work owns its goroutines.
type webClient struct {
	party  *party
	client *http.Client
	work   *sync.WaitGroup

	mu       sync.Mutex
	posts    int
	session  string
	revision string
	last     map[string]string // by stream, the id of its last event
	leave    map[string]context.CancelCauseFunc
}

func (w *web) client(work *sync.WaitGroup, p *party) *webClient {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return w.listener.DialContext(ctx) }
	return &webClient{party: p, work: work, last: map[string]string{}, leave: map[string]context.CancelCauseFunc{},
		client: &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}
}

// Write sends one message.
func (c *webClient) Write(line []byte) (int, error) {
	c.mu.Lock()
	c.posts++
	stream := fmt.Sprint(c.posts)
	c.mu.Unlock()
	c.begin(stream, http.MethodPost, strings.TrimSpace(string(line)), nil)
	return len(line), nil
}

// Close ends every stream.
func (c *webClient) Close() error {
	c.mu.Lock()
	streams := c.leave
	c.leave = nil
	c.mu.Unlock()
	for _, leave := range streams {
		leave(errHungUp)
	}
	return nil
}

var errHungUp = errors.New("the script hangs up")

// act carries out a command of a "do" step for the client: "get [STREAM]", "resume STREAM", "hangup STREAM", "delete".
func (c *webClient) act(verb, stream string) {
	switch verb {
	case "get":
		c.begin(cmp.Or(stream, "get"), http.MethodGet, "", nil)
	case "delete":
		c.begin("delete", http.MethodDelete, "", nil)
	case "resume":
		c.mu.Lock()
		last := c.last[stream]
		c.mu.Unlock()
		c.begin(stream+" again", http.MethodGet, "", http.Header{"Last-Event-Id": {last}})
	case "hangup":
		c.mu.Lock()
		leave := c.leave[stream]
		c.mu.Unlock()
		leave(errHungUp)
	}
}

func (c *webClient) begin(stream, method, body string, header http.Header) {
	ctx, leave := context.WithCancelCause(context.Background())
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.leave == nil {
		leave(nil)
		return
	}
	c.leave[stream] = leave
	r, err := http.NewRequestWithContext(ctx, method, "http://127.0.0.1/mcp", strings.NewReader(body))
	if err != nil {
		panic(err) // the script's fault
	}
	if header != nil {
		r.Header = header
	}
	r.Header.Set("Authorization", "Bearer "+webToken)
	r.Header.Set("Accept", "application/json, text/event-stream")
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.session != "" {
		r.Header.Set("Mcp-Session-Id", c.session)
		r.Header.Set("MCP-Protocol-Version", c.revision)
	}
	message := []byte(body)
	params := jsontext.Get(message, "params")
	meta := jsontext.Get(params, "_meta")
	if version := jsontext.String(jsontext.Get(meta, "io.modelcontextprotocol/protocolVersion")); version != "" {
		r.Header.Set("MCP-Protocol-Version", version)
		r.Header.Set("Mcp-Method", jsontext.String(jsontext.Get(message, "method")))
		for _, key := range []string{"name", "uri"} {
			if name := jsontext.String(jsontext.Get(params, key)); name != "" {
				r.Header.Set("Mcp-Name", name)
			}
		}
	}
	c.work.Go(func() { c.exchange(stream, r) })
}

// exchange reads the answer to one request to its end.
func (c *webClient) exchange(stream string, r *http.Request) {
	say := func(text string) { c.party.heard("[" + stream + "] " + text) }
	response, err := c.client.Do(r)
	if err != nil {
		if !errors.Is(context.Cause(r.Context()), errHungUp) {
			say(err.Error())
		}
		return
	}
	defer response.Body.Close()
	if session := response.Header.Get("Mcp-Session-Id"); session != "" {
		c.mu.Lock()
		c.session = session
		c.mu.Unlock()
	}
	if response.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(response.Body)
		say(strings.TrimSpace(response.Status + " " + string(body)))
		return
	}
	if !strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		body, _ := io.ReadAll(response.Body)
		c.took(body)
		say(strings.TrimSpace(string(body)))
		return
	}
	lines := bufio.NewScanner(ear{c.party, response.Body})
	lines.Buffer(nil, 1<<20)
	id, data := "", ""
	for lines.Scan() { // an event is complete with its last line, which is empty
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "id":
			id = value
		case "data":
			data = value
		case "":
			c.mu.Lock()
			c.last[strings.TrimSuffix(stream, " again")] = id
			c.mu.Unlock()
			if data != "" {
				c.took([]byte(data))
				say(data)
			}
			data = ""
		}
	}
	if lines.Err() == nil {
		say("ends")
	}
}

// took keeps the protocol revision that the gateway has chosen.
func (c *webClient) took(message []byte) {
	if version := jsontext.String(jsontext.Get(jsontext.Get(message, "result"), "protocolVersion")); version != "" {
		c.mu.Lock()
		c.revision = version
		c.mu.Unlock()
	}
}

// byStream puts what came on several streams at once into an order that is always the same.
func byStream(lines []string) {
	slices.SortStableFunc(lines, func(a, b string) int {
		a, _, _ = strings.Cut(a, "]")
		b, _, _ = strings.Cut(b, "]")
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
}

// webGuard admits the script's clients.
var webGuard = mcpserver.Guard{Token: webToken}
