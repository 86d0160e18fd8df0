//go:build unix

package e2e

import (
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// openSSE is openWeb over the transport of 2024-11-05.
func openSSE(t *testing.T, b *web) *door {
	t.Helper()
	p := newPlace(t)
	return p.open(servers{"web": remote("sse", b.url+fakeserver.PathSSE), "bystander": p.fake()})
}

// TestSSEOddEvents: the one stream of this transport, cut into lines, events and reads in every way.
func TestSSEOddEvents(t *testing.T) {
	t.Parallel()
	b := newWeb(t, fakeserver.HTTPOptions{})
	d := openSSE(t, b)
	for name, act := range map[string]fakeserver.Act{
		"byte by byte": {Chunk: 1}, "several data lines": {MultiLine: true}, "comments": {Comment: "keep alive"},
		"CRLF": {LineEnd: "\r\n"},
		"CR":   {LineEnd: "\r"}, "BOM": {BOM: true}, "all of it": {BOM: true, Comment: "x", LineEnd: "\r\n", MultiLine: true,
			Chunk: 3},
	} {
		b.http.On("GET", 0, act)
		if _, err := d.Servers.RestartServer(d.ctx, &mcphubv1.RestartServerRequest{Server: "web"}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		echoTricky(t, d)
	}
}

// TestSSEStreamEnds: the end of the stream is the end of the connection. Its calls and prompts end, other servers go
// on, no call is repeated, and the next call opens another stream.
func TestSSEStreamEnds(t *testing.T) {
	t.Parallel()
	b := newWeb(t, fakeserver.HTTPOptions{})
	d := openSSE(t, b)
	w := d.window("side bar")
	other := d.call("bystander", "hang", "")
	w.WaitRequest(other.id, running)
	c := d.call("web", "ask", "")
	p := w.WaitPrompt(form)
	b.http.Expire()
	if f := c.fails("UNAVAILABLE", "SERVER_GONE"); !strings.Contains(f.Message, "may have had effects") {
		t.Errorf("the caller was told %+v", f)
	}
	closedWith(t, p.GetPromptId(), []mcphubv1.PromptCause{mcphubv1.PromptCause_PROMPT_CAUSE_SERVER_GONE}, w)
	d.echoes("web", "over another stream")
	if n := b.exchanges(isPost("tools/call", "ask")); n != 1 {
		t.Errorf("%d calls of ask came", n)
	}
	d.echoes("bystander", "undisturbed")
	if state := w.Requests()[other.id].GetState(); state != running {
		t.Errorf("the other call is %v", state)
	}
}

// TestSSEEndpointElsewhere: a server that names an endpoint at another place gets no message, and neither does that
// place.
func TestSSEEndpointElsewhere(t *testing.T) {
	t.Parallel()
	elsewhere := newWeb(t, fakeserver.HTTPOptions{})
	b := newWeb(t, fakeserver.HTTPOptions{Endpoint: elsewhere.url + fakeserver.PathMessages})
	d := openSSE(t, b)
	if f := d.call("web", "echo", `{"text":"x"}`).fails("UNAVAILABLE", "SERVER_FAILED"); !strings.Contains(f.Message,
		"another origin") {
		t.Errorf("the caller was told %+v", f)
	}
	if n := len(elsewhere.http.Exchanges()); n != 0 {
		t.Errorf("the other place got %d requests", n)
	}
	d.echoes("bystander", "undisturbed")
}
