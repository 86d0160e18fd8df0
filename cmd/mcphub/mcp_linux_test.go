package main

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcphub-go/mcphub/internal/doortest"
	"github.com/mcphub-go/mcphub/internal/faketime"
)

// TestMCPOverHTTP_real: the Go SDK's client calls with the address that is printed and the token of the file; without
// the token a request is refused.
func TestMCPOverHTTP_real(t *testing.T) {
	t.Parallel()
	p := build(t)
	file, record := p.gatewayConfig("allow")
	token := p.config("token", "a-token-of-this-test\n")
	r := p.start("mcp", file, "--http", "127.0.0.1:0", "--token-file", token)
	lines := bufio.NewReader(r.stdout)
	url, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err, r.stderr.String())
	}
	url = strings.TrimSpace(url)
	answer, err := http.Post(url, "application/json", strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("without the token: %s", answer.Status)
	}
	running := make(chan struct{}, 1000)
	client := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) { running <- struct{}{} }})
	ctx, done := context.WithTimeoutCause(t.Context(), faketime.Long, errors.New("the bound of the test"))
	defer done()
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: url,
		HTTPClient: &http.Client{Transport: bearer("a-token-of-this-test")}}, nil)
	if err != nil {
		t.Fatal(err, r.stderr.String())
	}
	echo := &mcp.CallToolParams{Name: "demo__echo", Arguments: map[string]any{"text": "hi"}}
	result, err := session.CallTool(ctx, echo)
	if err != nil || result.IsError || result.Content[0].(*mcp.TextContent).Text != "hi" {
		t.Errorf("echo: %+v, %v", result, err)
	}
	calling, cancel := context.WithCancelCause(ctx)
	ended := make(chan error, 1)
	go func() {
		params := &mcp.CallToolParams{Name: "demo__sleep", Arguments: map[string]any{"seconds": 10}}
		params.SetProgressToken("t")
		_, err := session.CallTool(calling, params)
		ended <- err
	}()
	<-running
	cancel(errors.New("enough"))
	if err := <-ended; err == nil {
		t.Error("the cancelled call has a result")
	}
	if _, err := session.CallTool(ctx, echo); err != nil {
		t.Errorf("after the cancel: %v", err)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	if err := r.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if status := r.wait(); status != exitOK {
		t.Errorf("status %d\n%s", status, r.stderr.String())
	}
	if n := cancelsHeard(t, record, "the client closed the stream"); n != 1 {
		text, _ := os.ReadFile(record)
		t.Errorf("the server heard of it %d times\n%s", n, text)
	}
}

// bearer sends a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// TestMCPClientKilled_real: when a client is killed during a call, its ends of both pipes close while the server sends
// progress: the server is sent a cancel, and no process is left.
func TestMCPClientKilled_real(t *testing.T) {
	t.Parallel()
	p := build(t)
	file, record := p.gatewayConfig("allow")
	s := p.speak(file)
	s.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"demo__sleep","arguments":{"seconds":60},` +
		`"_meta":{"progressToken":"t"}}}`)
	for {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			t.Fatal(err, s.stderr.String())
		}
		if strings.Contains(line, `"method":"notifications/progress"`) {
			break
		}
	}
	var deaths []*doortest.Death
	for _, pid := range p.Running(p.path) {
		deaths = append(deaths, doortest.Watch(t, pid))
	}
	if len(deaths) < 3 { // the gateway, the guard and the server
		t.Fatalf("there are %d processes", len(deaths))
	}
	s.stdout.Close() // as the exit of a process does; the gateway sees this one when it writes its next line
	s.in.Close()
	if status := s.wait(); status != exitOK {
		t.Errorf("status %d\n%s", status, s.stderr.String())
	}
	for _, d := range deaths {
		d.Wait(t, faketime.Long)
	}
	if n := cancelsHeard(t, record, "the client is gone"); n != 1 {
		t.Errorf("the server heard of it %d times", n)
	}
}

// TestMCPKilled_real: when the gateway itself is killed, its servers end within five seconds.
func TestMCPKilled_real(t *testing.T) {
	t.Parallel()
	p := build(t)
	file, _ := p.gatewayConfig("allow")
	s := p.speak(file)
	s.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`) // it is answered once the server is known
	s.answer("1")
	var deaths []*doortest.Death
	for _, pid := range p.Running(p.path) {
		if pid != s.cmd.Process.Pid {
			deaths = append(deaths, doortest.Watch(t, pid))
		}
	}
	if len(deaths) < 2 { // the guard and the server
		t.Fatalf("%d processes beside the gateway", len(deaths))
	}
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	s.wait()
	for _, d := range deaths {
		d.Wait(t, faketime.Long)
	}
}
