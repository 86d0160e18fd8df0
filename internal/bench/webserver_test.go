package main

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
)

func post(t *testing.T, ctx context.Context, url, body string, header ...string) (*http.Response, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp, string(text), err
}

// TestWebServer: the server answers in both eras with the id of the request, and reports when a client gives up a call.
func TestWebServer(t *testing.T) {
	s := newWebServer()
	url, stop, err := listenHTTP(s)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	for _, tt := range []struct {
		body, method, want string
		status             int
	}{
		{`{"jsonrpc":"2.0","id":1,"method":"initialize"}`, "",
			`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"`, 200},
		{`{"id":2,"method":"server/discover"}`, "server/discover", `"resultType":"complete"}}`, 200},
		{`{"method":"tools/list","id":3}`, "", `"id":3,"result":{"tools":[`, 200},
		{`{"id":"x","method":"tools/call","params":{"name":"echo"}}`, "", `"id":"x","result":{"content":[`, 200},
		{`{"id":4,"method":"other"}`, "", "", 400},
		{`{"method":"notifications/initialized"}`, "", "", 202},
	} {
		var header []string
		if tt.method != "" {
			header = []string{"Mcp-Method", tt.method}
		}
		resp, text, err := post(t, t.Context(), url, tt.body, header...)
		if err != nil || resp.StatusCode != tt.status || !strings.Contains(text, tt.want) ||
			strings.Contains(text, "resultType") != (tt.method != "") {
			t.Errorf("%s: %v, %v, %s", tt.body, resp, err, text)
		}
		if session := resp.Header.Get("Mcp-Session-Id"); (session != "") != strings.Contains(tt.body, "initialize\"") {
			t.Errorf("%s: session %q", tt.body, session)
		}
	}
	const cancelled = `{"method":"notifications/cancelled","params":{"requestId":4}}`
	if _, _, err := post(t, t.Context(), url, cancelled); err != nil {
		t.Error(err)
	}
	if len(s.cancelled) != 1 {
		t.Errorf("%d cancels were read", len(s.cancelled))
	}
	s.early = true // so that the client knows when the call has begun
	ctx, cancel := context.WithCancelCause(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url,
		strings.NewReader(`{"id":5,"method":"tools/call","params":{"name":"hang"}}`))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	cancel(errBenchOver)
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("a call of hang was answered")
	}
	_ = resp.Body.Close()
	<-s.reset
}
