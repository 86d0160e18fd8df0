package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/transport"
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

var clientAttacks = []clientAttack{
	{"clients without a token", func(ctx context.Context, c *hostileClient, _ int) {
		c.post(ctx, "", "Bearer guessed", c.greeting())
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
	{"clients that cancel what is not theirs", func(ctx context.Context, c *hostileClient, i int) {
		c.post(ctx, c.session, c.authorization, fmt.Sprintf(
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":"mine"}}`, i))
	}},
	{"clients that open sessions", func(ctx context.Context, c *hostileClient, _ int) {
		c.post(ctx, "", c.authorization, c.greeting())
	}},
}

// measureGatewayBystander measures the calls of an honest client to one server, while hostile clients attack the same
// gateway and use another server. All of them share the machine. The config file is written to dir.
func measureGatewayBystander(ctx context.Context, o options, dir string) (rows []row, err error) {
	entry := map[string]any{"command": o.bin.echo, "era": "legacy", "alwaysAllow": []string{"*"}}
	file := filepath.Join(dir, "crowded.json")
	text, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"e": entry, "honest": entry}})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, err
	}
	address, authorization, end, err := startGatewayHTTP(o, file)
	if err != nil {
		return nil, err
	}
	defer end()
	session, err := mcp.Connect(ctx, mcp.Options{
		Server: "gateway", Open: mcp.HTTP(transport.HTTPOptions{URL: address,
			Header: http.Header{"Authorization": {authorization}}}),
		Era: mcp.EraLegacy, Client: mcp.Implementation{Name: "bench", Version: "1"}, Handler: mcp.NoHandler{},
	})
	if err != nil {
		return nil, err
	}
	defer func() { _ = session.Close(errBenchOver) }()
	alone, err := honestCalls(ctx, session, pick(o, 2*time.Second, time.Second/2))
	if err != nil {
		return nil, err
	}
	for _, a := range clientAttacks {
		honest, times, err := a.beside(ctx, o, address, authorization, session)
		if err != nil {
			return nil, fmt.Errorf("an honest call beside %s: %w", a.about, err)
		}
		rows = append(rows, number(fmt.Sprintf("HTTP, worst call beside %d %s", hostileClients, a.about),
			millis(honest.worst), "ms", "%s; %s; they came %d times", honest.text("call"), alone.text("alone"),
			times).atMost(bystanderLimit))
	}
	return rows, nil
}

// honestCalls repeats a call for the time d.
func honestCalls(ctx context.Context, session *mcp.Session, d time.Duration) (honest spent, err error) {
	for until := time.Now().Add(d); time.Now().Before(until) && err == nil; {
		start := time.Now()
		_, err = session.CallTool(ctx, &mcp.CallRequest{Name: "honest__echo", Arguments: echoArguments})
		honest.add(time.Since(start))
	}
	return honest, err
}

const hostileClients = 32

// beside measures honest calls during the attack, and counts what the hostile clients did.
func (a clientAttack) beside(ctx context.Context, o options, address, authorization string,
	session *mcp.Session) (honest spent, times int, err error) {
	attack, stop := context.WithCancelCause(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer stop(errBenchOver)
	did := make([]int, hostileClients)
	for n := range did {
		c := &hostileClient{address: address, authorization: authorization,
			http: &http.Client{Transport: &http.Transport{}}}
		if c.session = c.open(ctx); c.session == "" {
			return honest, 0, errors.New("a hostile client got no session, so it could do nothing")
		}
		all.Go(func() {
			for ; attack.Err() == nil; did[n]++ {
				a.do(attack, c, did[n])
			}
			c.http.CloseIdleConnections()
		})
	}
	honest, err = honestCalls(ctx, session, pick(o, 5*time.Second, time.Second))
	stop(errBenchOver)
	all.Wait()
	for _, n := range did {
		times += n
	}
	return honest, times, err
}

// hostileClient is used by one goroutine.
type hostileClient struct {
	address, authorization, session string
	http                            *http.Client
}

func (c *hostileClient) greeting() string {
	return `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
		`"clientInfo":{"name":"hostile","version":"1"}}}`
}

// open opens a session and returns its id, or "" if the gateway refuses.
func (c *hostileClient) open(ctx context.Context) string {
	response := c.begin(ctx, "", c.authorization, c.greeting())
	if response == nil {
		return ""
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.Header.Get("Mcp-Session-Id")
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
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
		_ = response.Body.Close()
	}
}

func (c *hostileClient) begin(ctx context.Context, session, authorization, body string) *http.Response {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address, strings.NewReader(body))
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
