package mcp_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/faketime"
)

// TestMCPOverHTTP: the Go SDK's client calls with the address that is printed and the token of the file; without
// the token a request is refused.
func TestMCPOverHTTP(t *testing.T) {
	p := clitest.Inside(t)
	file, record := p.RecordedDemo("allow")
	token := p.Config("token", "a-token-of-this-test\n")
	r := p.Start("mcp", file, "--http", "127.0.0.1:0", "--token-file", token)
	url := r.Stdout.First(t)
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
		t.Fatal(err, r.Stderr.String())
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
	p.Log.Await(t, "cancel_received")
	r.Interrupt()
	if status := r.Wait(); status != exit.OK {
		t.Errorf("status %d\n%s", status, r.Stderr.String())
	}
	clitest.HeardCancel(t, record, "the client closed the stream")
}

// bearer sends a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}
