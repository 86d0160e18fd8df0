package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// clientAttack is one kind of misbehaviour by the clients of a gateway. Each of several clients repeats it; i counts
// the repetitions.
type clientAttack struct {
	about string
	do    func(ctx context.Context, c *hostileClient, i int)
}

// garbage has texts that are not messages, or are far too long for one.
var garbage = []string{"{", strings.Repeat("[", 200_000), strings.Repeat("\xff\x00", 1<<19),
	`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("m", 1<<20) + `"}`}

const greeting = `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25",` +
	`"capabilities":{},"clientInfo":{"name":"hostile","version":"1"}}}`

var clientAttacks = []clientAttack{
	{"clients without a token", func(ctx context.Context, c *hostileClient, _ int) {
		c.post(ctx, "", "Bearer guessed", greeting)
	}},
	{"clients that send garbage", func(ctx context.Context, c *hostileClient, i int) {
		c.post(ctx, c.session, c.authorization, garbage[i%len(garbage)])
	}},
	{"clients that call as fast as they can", func(ctx context.Context, c *hostileClient, i int) {
		c.post(ctx, c.session, c.authorization, fmt.Sprintf(
			`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"e__echo","arguments":%s}}`, i, echoArguments))
	}},
	{"clients that ask for 1 MiB and do not read it", func(ctx context.Context, c *hostileClient, i int) {
		c.leave(ctx, fmt.Sprintf(
			`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"e__large","arguments":{"count":1048576}}}`, i))
	}},
	{"clients that open sessions", func(ctx context.Context, c *hostileClient, _ int) {
		c.post(ctx, "", c.authorization, greeting)
	}},
}

const hostileClients = 32

// hostileClient is used by one goroutine.
type hostileClient struct {
	endpoint
	session string
	http    *http.Client
}

// openHostileClients opens the clients, each with a session: without one they could do nothing.
func openHostileClients(ctx context.Context, at endpoint) (clients []*hostileClient, err error) {
	for range hostileClients {
		c := &hostileClient{endpoint: at, http: &http.Client{Transport: &http.Transport{}}}
		clients = append(clients, c)
		response := c.begin(ctx, "", c.authorization, greeting)
		if response == nil {
			return clients, errors.New("a hostile client got no answer")
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		if c.session = response.Header.Get("Mcp-Session-Id"); c.session == "" {
			return clients, fmt.Errorf("a hostile client got no session: status %d", response.StatusCode)
		}
	}
	return clients, nil
}

// post sends a message, then reads and ignores the response.
func (c *hostileClient) post(ctx context.Context, session, authorization, body string) {
	if response := c.begin(ctx, session, authorization, body); response != nil {
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
	}
}

// leave sends a message, waits without reading the response, and closes the connection.
func (c *hostileClient) leave(ctx context.Context, body string) {
	if response := c.begin(ctx, c.session, c.authorization, body); response != nil {
		_ = pause(ctx, 50*time.Millisecond)
		_ = response.Body.Close()
	}
}

func (c *hostileClient) begin(ctx context.Context, session, authorization, body string) *http.Response {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, strings.NewReader(body))
	if err != nil {
		return nil
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", authorization)
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	response, err := c.http.Do(r)
	if err != nil {
		return nil
	}
	return response
}
