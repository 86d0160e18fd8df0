//go:build unix

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/mcphub-go/mcphub/internal/doortest"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// ownStream is the one exchange that lasts: the standalone stream of the legacy era, subscriptions/listen of the modern
// one.
const ownStream = 1

// cancelsSent counts the cancel notifications that the server was sent.
func (b *web) cancelsSent() int { return b.exchanges(isPost("notifications/cancelled", "")) }

// TestHTTPSlowHeaders: a call whose response headers come late is a slow call like any other. It can be cancelled: by
// the notification in the legacy era, by closing the stream alone in the modern one.
func TestHTTPSlowHeaders(t *testing.T) {
	eras(t, func(t *testing.T, era string) {
		b := newWeb(t, fakeserver.HTTPOptions{}, eraOptions(era)...)
		d, w, undisturbed := openWeb(t, b, era)
		defer undisturbed()
		d.start("web")
		hold := make(chan struct{})
		b.http.On("POST tools/call", 1, fakeserver.Act{Hold: hold})
		c := d.call("web", "echo", `{"text":"late"}`)
		b.came(d, isPost("tools/call", "echo"))
		d.echoes("web", "overtakes")
		close(hold)
		if text := c.text(); text != "late" {
			t.Errorf("result %q", text)
		}

		b.http.On("POST tools/call", 1, fakeserver.Act{Silent: true})
		c = d.call("web", "hang", "")
		b.came(d, isPost("tools/call", "hang"))
		cancels(t, w, c.id, "no headers yet")
		c.fails("CANCELLED", "CANCELLED")
		cancelled(t, w, c.id, mcphubv1.Origin_ORIGIN_USER, "no headers yet")
		b.came(d, func(x fakeserver.Exchange) bool { return isPost("tools/call", "hang")(x) && x.Closed })
		d.echoes("web", "still there")
		if want := map[string]int{"legacy": 1, "modern": 0}[era]; b.cancelsSent() != want {
			t.Errorf("%d cancels came, not %d", b.cancelsSent(), want)
		}
	})
}

// TestHTTPStreamNeverEnds: the hub closes the stream of a cancelled call on which the server writes nothing and which
// it leaves open.
func TestHTTPStreamNeverEnds(t *testing.T) {
	eras(t, func(t *testing.T, era string) {
		b := newWeb(t, fakeserver.HTTPOptions{}, eraOptions(era)...)
		d, w, undisturbed := openWeb(t, b, era)
		defer undisturbed()
		d.echoes("web", "before")
		until(t, "the server is idle", func() bool { return b.busy() == ownStream })
		for i := range 3 {
			c := d.call("web", "slow", "")
			progressed(w, c.id)
			cancels(t, w, c.id, fmt.Sprint("reason ", i))
			c.fails("CANCELLED", "CANCELLED")
		}
		until(t, "no exchange is left", func() bool { return b.busy() == ownStream })
		d.echoes("web", "still there")
	})
}

// TestHTTPThousandCancels: a thousand cancelled calls leave no request, no exchange and no connection behind.
func TestHTTPThousandCancels(t *testing.T) {
	const rounds, atOnce = 10, 100
	eras(t, func(t *testing.T, era string) {
		b := newWeb(t, fakeserver.HTTPOptions{}, eraOptions(era)...)
		d, w, undisturbed := openWeb(t, b, era)
		defer undisturbed()
		d.echoes("web", "before")
		for round := range rounds {
			var calls []*call
			for range atOnce {
				calls = append(calls, d.call("web", "slow", ""))
			}
			for _, c := range calls {
				progressed(w, c.id)
			}
			r, err := d.Hub.CancelRequests(d.ctx, &mcphubv1.CancelRequestsRequest{
				Scope: &mcphubv1.CancelRequestsRequest_Server{Server: "web"}, Reason: fmt.Sprint("round ", round),
			})
			if err != nil || len(r.GetRequestIds()) != atOnce {
				t.Fatalf("%d calls were cancelled, %v", len(r.GetRequestIds()), err)
			}
			for _, c := range calls {
				c.fails("CANCELLED", "CANCELLED")
			}
		}
		notifications := 0
		if era == "legacy" {
			notifications = rounds * atOnce
		}
		until(t, "no exchange is left", func() bool { return b.busy() == ownStream })
		until(t, "every notification came", func() bool { return b.cancelsSent() >= notifications })
		d.echoes("web", "still there")
		open, err := d.Hub.ListRequests(d.ctx, &mcphubv1.ListRequestsRequest{})
		if err != nil || len(open.GetRequests()) != 0 {
			t.Errorf("requests are left: %v, %v", open, err)
		}
		if n := b.cancelsSent(); n != notifications {
			t.Errorf("%d cancels came, not %d", n, notifications)
		}
		if n := b.exchanges(isPost("tools/call", "slow")); n != rounds*atOnce {
			t.Errorf("%d calls came, not %d", n, rounds*atOnce)
		}
		// A server that is stopped has no connections left.
		if _, err := d.Servers.StopServer(d.ctx, &mcphubv1.StopServerRequest{Server: "web"}); err != nil {
			t.Fatal(err)
		}
		until(t, "no connection is left", func() bool { return b.open() == 0 })
	})
}

// TestHTTPSessionExpired: a call that the server refused because it had forgotten the session runs once, on a new one.
// One that was running is not repeated.
func TestHTTPSessionExpired(t *testing.T) {
	t.Parallel()
	b := newWeb(t, fakeserver.HTTPOptions{})
	d, w, undisturbed := openWeb(t, b, "legacy")
	defer undisturbed()
	d.echoes("web", "the first session")
	b.http.Expire()
	c := d.call("web", "echo", `{"text":"the second session"}`)
	if text := c.text(); text != "the second session" {
		t.Errorf("result %q", text)
	}
	if end := w.WaitTerminal(c.id).GetMcpRequestFinished(); end.GetState() != mcphubv1.RequestState_REQUEST_STATE_DONE {
		t.Errorf("the end: %v", end)
	}
	if n := b.exchanges(isPost("initialize", "")); n != 2 {
		t.Errorf("%d sessions, not 2", n)
	}

	c = d.call("web", "slow", "")
	progressed(w, c.id)
	b.http.Expire()
	if f := failure(t, c); f.Code != "UNAVAILABLE" || !strings.Contains(f.Message, "may have had effects") {
		t.Errorf("the caller was told %+v", f)
	}
	d.echoes("web", "the third session")
	if n := b.exchanges(isPost("tools/call", "slow")); n != 1 {
		t.Errorf("%d calls of slow came, not 1", n)
	}
}

// TestHTTPStartFails: the start of what is no MCP server fails with a clear error, and other servers go on.
func TestHTTPStartFails(t *testing.T) {
	t.Parallel()
	b := newWeb(t, fakeserver.HTTPOptions{})
	d, _, undisturbed := openWeb(t, b, "legacy")
	defer undisturbed()
	for says, act := range map[string]fakeserver.Act{
		"text/html": {Status: 200, Header: map[string]string{"Content-Type": "text/html"},
			Body: "<html>login</html>"},
		"500":       {Status: 500, Body: "broken"},
		"redirects": {Status: 302, Header: map[string]string{"Location": "https://login.example/"}},
		"broke off": {Break: true},
		"protocol": {Status: 200, Header: map[string]string{"Content-Type": "application/json"},
			Body: `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":7}}`},
		"Too Many Requests": {Status: 429, Header: map[string]string{"Retry-After": "86400"}},
	} {
		b.http.On("POST initialize", 0, act)
		f := d.call("web", "echo", `{"text":"x"}`).fails("UNAVAILABLE", "SERVER_FAILED")
		if !strings.Contains(f.Message, says) {
			t.Errorf("%s: the caller was told %+v", says, f)
		}
		if s := d.server("web"); s.GetState() != mcphubv1.ServerState_SERVER_STATE_FAILED || s.GetLastError() == "" {
			t.Errorf("%s: server %v", says, s)
		}
		for _, enabled := range []bool{false, true} { // this resets the failures: the hub neither waits nor gives it up
			if _, err := d.Servers.SetServerEnabled(d.ctx, &mcphubv1.SetServerEnabledRequest{Server: "web",
				Enabled: enabled}); err != nil {
				t.Fatal(err)
			}
		}
	}
	b.http.On("POST initialize", 0, fakeserver.Act{})
	d.echoes("web", "here after all")
}

// TestHTTPNoSignIn: a server that requires a sign-in, and does not say where, is a failed sign-in; no window is asked.
func TestHTTPNoSignIn(t *testing.T) {
	t.Parallel()
	b := newWeb(t, fakeserver.HTTPOptions{})
	d, w, undisturbed := openWeb(t, b, "legacy")
	defer undisturbed()
	b.http.On("POST initialize", 0, fakeserver.Act{Status: http.StatusUnauthorized,
		Header: map[string]string{"WWW-Authenticate": "Bearer"}})
	d.call("web", "echo", `{"text":"x"}`).fails("UNAVAILABLE", "SIGN_IN_FAILED")
	for _, e := range w.Events() {
		if e.GetPromptOpened() != nil {
			t.Errorf("somebody was asked: %v", e)
		}
	}
	b.http.On("POST initialize", 0, fakeserver.Act{})
	d.echoes("web", "here after all")
}

// TestHTTPCancelsLeaveNoGoroutine counts the hub's goroutines, which its runtime prints when SIGQUIT ends it, while the
// server is still connected.
func TestHTTPCancelsLeaveNoGoroutine(t *testing.T) {
	const calls = 300
	eras(t, func(t *testing.T, era string) {
		b := newWeb(t, fakeserver.HTTPOptions{}, eraOptions(era)...)
		p := newPlace(t)
		d, logs := p.openLogged(servers{"web": b.entry(era)})
		w := d.window("side bar")
		for range calls / 50 {
			var begun []*call
			for range 50 {
				begun = append(begun, d.call("web", "slow", ""))
			}
			for _, c := range begun {
				progressed(w, c.id)
				cancels(t, w, c.id, "enough")
				c.fails("CANCELLED", "CANCELLED")
			}
		}
		until(t, "no exchange is left", func() bool { return b.busy() == ownStream })
		d.echoes("web", "still there")
		info, err := d.Hub.GetInfo(d.ctx, &mcphubv1.GetInfoRequest{})
		if err != nil {
			t.Fatal(err)
		}
		death := doortest.Watch(t, int(info.GetProcessId()))
		if err := syscall.Kill(int(info.GetProcessId()), syscall.SIGQUIT); err != nil {
			t.Fatal(err)
		}
		death.Wait(t, bound)
		_ = d.Close(context.Background()) // its error is that the hub ended by itself; it waits for the last log lines
		stacks := strings.Split(logs.String(), "\ngoroutine ")
		ours := 0
		for _, stack := range stacks[1:] {
			if strings.Contains(stack, "mcphub/hub/transport.") || strings.Contains(stack, "mcphub/hub/mcp.") ||
				strings.Contains(stack, "mcphub/hub/jsonrpc.") {
				ours++
			}
		}
		// A connection at rest has a handful.
		if ours < 2 || ours > 20 {
			t.Errorf("%d goroutines of the engine among %d after %d cancels:\n%s", ours, len(stacks)-1, calls, logs)
		}
	})
}
