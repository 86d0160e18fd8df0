package hub_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcp"
)

// unfinished is how many bytes the servers of this file send of a result that they do not finish. The server "b" sends
// a small result, and the server "whole" a large one to its end.
const unfinished = 256 << 10

// unfinishedAnswer returns what a server answers to a message; more reports that it does not send the end.
func unfinishedAnswer(server string, message []byte) (answer string, more bool) {
	var id, method string
	for _, member := range strings.Split(strings.Trim(string(message), "{}\n"), ",") {
		switch name, value, _ := strings.Cut(member, ":"); name {
		case `"id"`:
			id = value
		case `"method"`:
			method = strings.Trim(value, `"`)
		}
	}
	result := func(text string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":` + text + `}` }
	switch {
	case id == "":
		return "", false
	case method == "initialize":
		return result(`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`),
			false
	case method == "tools/list":
		return result(`{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`), false
	case method != "tools/call":
		return result(`{}`), false
	case server == "b":
		return result(`{"content":[]}`), false
	case server == "whole":
		return result(`{"content":[{"type":"text","text":"` + strings.Repeat("x", unfinished) + `"}]}`), false
	}
	whole := result(`{"content":[{"type":"text","text":"` + strings.Repeat("x", unfinished) + `"}]}`)
	return whole[:unfinished], true
}

// openUnfinished opens such servers over pipes. The goroutine of a server ends when its pipes are closed.
func openUnfinished(s config.Server, _ func(string)) mcp.Opener {
	return func(context.Context) (*mcp.Link, error) {
		hubOut, stdin := io.Pipe()
		stdout, hubIn := io.Pipe()
		go func() {
			defer func() { _ = hubIn.Close() }()
			for lines := bufio.NewScanner(hubOut); lines.Scan(); {
				answer, more := unfinishedAnswer(s.Command, lines.Bytes())
				if answer == "" {
					continue
				}
				if !more {
					answer += "\n"
				}
				if _, err := io.WriteString(hubIn, answer); err != nil {
					return
				}
			}
		}()
		return &mcp.Link{Conn: jsonrpc.NewLineConn(stdout, stdin, jsonrpc.LineConnOptions{})}, nil
	}
}

// unfinishedWeb plays such servers at URLs, http://KIND.NAME/. KIND is how the body comes: as JSON of known or unknown
// length, or as a stream of events.
type unfinishedWeb struct{}

func (unfinishedWeb) RoundTrip(r *http.Request) (*http.Response, error) {
	kind, server, _ := strings.Cut(r.URL.Host, ".")
	resp := &http.Response{
		StatusCode: http.StatusAccepted, Header: http.Header{"Content-Type": {"application/json"}}, Body: http.NoBody,
		Request: r, ContentLength: -1,
	}
	if r.Method != http.MethodPost {
		resp.StatusCode = http.StatusMethodNotAllowed
		return resp, nil
	}
	message, err := io.ReadAll(r.Body)
	answer, more := unfinishedAnswer(server, message)
	if err != nil || answer == "" {
		return resp, err
	}
	resp.StatusCode = http.StatusOK
	switch {
	case kind == "stream":
		resp.Header.Set("Content-Type", "text/event-stream")
		answer = "data: " + answer
		if !more {
			answer += "\n\n"
		}
	case kind == "known":
		resp.ContentLength = int64(len(answer))
		if more {
			resp.ContentLength += 1000
		}
	}
	body := io.Reader(strings.NewReader(answer))
	if more {
		body = io.MultiReader(body, silence{r.Context()})
	}
	resp.Body = io.NopCloser(body)
	return resp, nil
}

// silence is the rest of a body that never comes: Read waits until the request is given up.
type silence struct{ until context.Context }

func (s silence) Read([]byte) (int, error) {
	<-s.until.Done()
	return 0, context.Cause(s.until)
}

// Servers send almost all of a large result and then nothing. What they have sent counts and is bounded, and a call of
// another server is not affected. Finding A15.
func TestResultsCountWhileTheyAreRead(t *testing.T) {
	t.Parallel()
	const total, each, servers = 2 << 20, 1 << 20, 10
	entries := map[string]func(name string) string{
		"stdio": func(name string) string { return fmt.Sprintf(`"command":%q,"era":"legacy"`, name) },
	}
	for _, kind := range []string{"known", "unknown", "stream"} {
		entries["HTTP "+kind] = func(name string) string {
			return fmt.Sprintf(`"type":"http","url":"http://%s.%s/","era":"legacy"`, kind, name)
		}
	}
	for way, entry := range entries {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := hub.Options{Open: openUnfinished}
				if way != "stdio" {
					o = hub.Options{RoundTripper: unfinishedWeb{}}
				}
				w := newWorldWith(t, o, nil)
				w.hub.BoundResults(total, each)
				var config bytes.Buffer
				config.WriteString(`{"mcpServers":{"b":{` + entry("b") + `}`)
				for i := range servers {
					name := fmt.Sprintf("s%d", i)
					config.WriteString(`,"` + name + `":{` + entry(name) + `}`)
				}
				config.WriteString(`}}`)
				sources := []hub.ConfigSource{{Path: "test.json", Scope: "host", JSON: config.String()}}
				if _, problems, _, err := w.hub.LoadConfig(t.Context(), sources); err != nil || len(problems) > 0 {
					t.Fatal(err, problems)
				}

				var open []*pendingCall
				ctx, giveUp := context.WithCancelCause(t.Context())
				defer giveUp(nil)
				for i := range servers {
					open = append(open, w.callContext(ctx, hub.CallRequest{ID: fmt.Sprint("c", i), Server: fmt.Sprint("s", i),
						Tool: "t", Preapproved: true}))
					synctest.Wait()
				}
				held := w.hub.ResultsInFlight()
				if held < unfinished || held > total {
					t.Errorf("%d bytes of unfinished results count, and may be %d", held, total)
				}
				refused := 0
				for i, c := range open {
					select {
					case <-c.done:
						e, ok := errors.AsType[*event.Error](c.err)
						if !ok || e.Code != event.CodeResourceExhausted || e.Reason != event.ReasonBoundExceeded ||
							!strings.Contains(e.Message, fmt.Sprintf("%q", fmt.Sprint("s", i))) {
							t.Errorf("call %d: %v", i, c.err)
						}
						refused++
					default:
					}
				}
				// A line and an event have to be skipped to their end before it is known whose answer they were.
				if bodies := way == "HTTP known" || way == "HTTP unknown"; bodies && refused == 0 {
					t.Errorf("%d results of %d bytes are read with room for %d", servers, unfinished, total)
				}
				if _, err := w.hub.CallTool(t.Context(), hub.CallRequest{Server: "b", Tool: "t", Preapproved: true}); err != nil {
					t.Errorf("the call of another server: %v", err)
				}

				giveUp(nil)
				for _, c := range open {
					<-c.done
				}
				for i := range servers {
					if _, err := w.hub.StopServer(t.Context(), fmt.Sprint("s", i), ""); err != nil {
						t.Error(err)
					}
				}
				synctest.Wait()
				if held := w.hub.ResultsInFlight(); held != 0 {
					t.Errorf("%d bytes count when all is over", held)
				}
			})
		})
	}
}

// A large result counts until its caller has it, which is when the context of the call ends: gRPC ends it when the
// answer is written. Finding A15.
func TestALargeResultCountsUntilItsCallerHasIt(t *testing.T) {
	for way, entry := range map[string]string{
		"stdio": `"command":"whole"`, "known": `"type":"http","url":"http://known.whole/"`,
		"unknown": `"type":"http","url":"http://unknown.whole/"`, "stream": `"type":"http","url":"http://stream.whole/"`,
	} {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := hub.Options{RoundTripper: unfinishedWeb{}}
				if way == "stdio" {
					o = hub.Options{Open: openUnfinished}
				}
				w := newWorldWith(t, o, nil)
				w.hub.BoundResults(2<<20, 1<<20)
				sources := []hub.ConfigSource{{Path: "test.json", Scope: "host", JSON: `{"mcpServers":{"s":{"era":"legacy",` +
					entry + `}}}`}}
				if _, _, _, err := w.hub.LoadConfig(t.Context(), sources); err != nil {
					t.Fatal(err)
				}
				call := hub.CallRequest{Server: "s", Tool: "t", Preapproved: true}
				ctx, handedOver := context.WithCancelCause(t.Context())
				if _, err := w.hub.CallTool(ctx, call); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if held := w.hub.ResultsInFlight(); held < unfinished {
					t.Errorf("%d bytes count of a result of %d", held, unfinished)
				}
				handedOver(nil)
				synctest.Wait()
				if held := w.hub.ResultsInFlight(); held != 0 {
					t.Errorf("%d bytes count after the caller has the result", held)
				}
				if _, err := w.hub.CallTool(context.Background(), call); err != nil {
					t.Fatal(err)
				}
				synctest.Wait() // a kept result counts until it is in its file
				if held := w.hub.ResultsInFlight(); held != 0 {
					t.Errorf("%d bytes count for a caller of whom nothing more is known", held)
				}

				w.hub.FillResults()
				_, err := w.hub.CallTool(t.Context(), call)
				e, ok := errors.AsType[*event.Error](err)
				if !ok || e.Code != event.CodeResourceExhausted || e.Reason != event.ReasonBoundExceeded {
					t.Errorf("a result without room: %v", err)
				}
			})
		})
	}
}
