package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync/atomic"

	gosdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const postLoopName = "POST loop"

// webTransport keeps as many idle connections as there are calls at once. The default transport of net/http keeps two,
// and opens a new connection for every other call.
func webTransport() *http.Transport { return &http.Transport{MaxIdleConnsPerHost: 2 * together} }

// openPostLoop is the floor: a POST with net/http in the way its documentation shows, with the headers of 2025-11-25,
// and a check that the answer is the right one.
func openPostLoop(url string) (subject, error) {
	transport := webTransport()
	client := &http.Client{Transport: transport}
	var last atomic.Int64
	return subject{
		name: postLoopName,
		call: func(ctx context.Context) error {
			id := last.Add(1)
			body := append(make([]byte, 0, 256), callHead...)
			body = strconv.AppendInt(body, id, 10)
			body = append(append(append(body, callMiddle...), callParams...), '}')
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
			if err != nil {
				return err
			}
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			req.Header.Set("Mcp-Session-Id", "bench")
			req.Header.Set("MCP-Protocol-Version", revision)
			resp, err := client.Do(req)
			if err != nil {
				return err
			}
			answer, err := io.ReadAll(resp.Body)
			if err := errors.Join(err, resp.Body.Close()); err != nil {
				return err
			}
			if got := webID(answer); resp.StatusCode != http.StatusOK || string(got) != strconv.FormatInt(id, 10) {
				return fmt.Errorf("status %d with an answer to %q, not to %d", resp.StatusCode, got, id)
			}
			return nil
		},
		close: transport.CloseIdleConnections,
	}, nil
}

// openWebSDK is the official SDK's client, with a transport that keeps connections.
func openWebSDK(ctx context.Context, url string) (subject, error) {
	transport := webTransport()
	client := gosdk.NewClient(&gosdk.Implementation{Name: "bench", Version: "1"}, nil)
	session, err := client.Connect(ctx, &gosdk.StreamableClientTransport{Endpoint: url,
		HTTPClient: &http.Client{Transport: transport}},
		&gosdk.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		return subject{}, err
	}
	return subject{
		name: goSDKName,
		call: func(ctx context.Context) error {
			_, err := session.CallTool(ctx, &gosdk.CallToolParams{Name: "echo", Arguments: echoArguments})
			return err
		},
		close: func() {
			_ = session.Close()
			transport.CloseIdleConnections()
		},
	}, nil
}
