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

	"github.com/mcphub-go/mcphub/hub/mcp"
)

// measureWeb measures sessions of both eras over Streamable HTTP, and the floor with the same server.
func measureWeb(ctx context.Context, o options, f figures) error {
	web, err := startHTTP(o.bin.self, webRole)
	if err != nil {
		return err
	}
	defer web.stop()
	call := mcp.CallRequest{Name: "echo", Arguments: echoArguments, OnProgress: func(mcp.Progress) {}}
	one, many, err := compare(ctx, o, openPostLoop(web.url),
		openSession(mcp.EraLegacy, overHTTP(web.url, ""), mcp.EraLegacy, call),
		openSession(mcp.EraModern, overHTTP(web.url, ""), mcp.EraModern, call))
	if err != nil {
		return err
	}
	f.put("HTTP, legacy / POST loop, sequential", one.against(mcp.EraLegacy, postLoopName), "%v", one)
	f.put("HTTP, legacy / POST loop, 64 at once", many.against(mcp.EraLegacy, postLoopName), "%v", many)
	f.put("HTTP, modern / POST loop, sequential", one.against(mcp.EraModern, postLoopName), "")
	f.put("HTTP, modern / POST loop, 64 at once", many.against(mcp.EraModern, postLoopName), "")
	return nil
}

const postLoopName = "POST loop"

// openPostLoop opens the floor: a POST with net/http in the way its documentation shows, with the headers of
// 2025-11-25, and a check that the answer is the right one.
func openPostLoop(url string) opener {
	return func(context.Context, options) (subject, error) {
		// The default transport of net/http keeps two idle connections, and opens a new one for every other call.
		transport := &http.Transport{MaxIdleConnsPerHost: 2 * together}
		client := &http.Client{Transport: transport}
		var last atomic.Int64
		return subject{
			name: postLoopName,
			call: func(ctx context.Context) error {
				id := last.Add(1)
				body := appendCall(make([]byte, 0, 256), id)
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
}
