//go:build unix

package e2e

import (
	"io"
	"net/http"
	"strings"
	"testing"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// gatewayCall calls a tool through an open gateway as a modern client, and returns the body of the answer.
func (d *door) gatewayCall(g *mcphubv1.OpenGatewayResponse, tool, arguments string) string {
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments +
		`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"by hand","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{}}}}`
	r, err := http.NewRequestWithContext(d.ctx, http.MethodPost, g.GetGateway().GetUrl(), strings.NewReader(body))
	if err != nil {
		d.t.Error(err)
		return ""
	}
	for name, value := range map[string]string{"Content-Type": "application/json",
		"Accept": "application/json, text/event-stream", "Authorization": "Bearer " + g.GetToken(),
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool} {
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		d.t.Error(err)
		return ""
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		d.t.Error(err)
	}
	return string(text)
}

// TestGatewaySignIn: a server requires a sign-in for the call of a gateway's client. Without a window the call fails
// with what to do, for a model to read; with one it waits until the person has signed in, and goes on.
func TestGatewaySignIn(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	p := newPlace(t)
	d, _ := p.openSigned(a.web.entry("legacy"))
	g, err := d.Gateways.OpenGateway(d.ctx, &mcphubv1.OpenGatewayRequest{Title: "for agents"})
	if err != nil {
		t.Fatal(err)
	}
	if got := d.gatewayCall(g, "web__echo", `{"text":"hello"}`); !strings.Contains(got, "sign-in") ||
		!strings.Contains(got, "window") {
		t.Errorf("without a window: %s", got)
	}
	w := d.window("side bar")
	answer := make(chan string, 1)
	go func() { answer <- d.gatewayCall(g, "web__echo", `{"text":"hello"}`) }()
	signsIn(t, a, w)
	if got := <-answer; !strings.Contains(got, `"text":"hello"`) || strings.Contains(got, `"isError":true`) {
		t.Errorf("after the sign-in: %s", got)
	}
	if got := d.gatewayCall(g, "web__echo", `{"text":"again"}`); !strings.Contains(got, `"text":"again"`) {
		t.Errorf("the next call: %s", got)
	}
}
