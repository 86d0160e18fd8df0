//go:build unix

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/doortest"
	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// openFake opens a hub with a fake server behind a recorder, and a window that shows everything.
func openFake(t *testing.T, flags ...string) (*place, *door, *fakeeditor.Window, *wire) {
	t.Helper()
	p := newPlace(t)
	e, wire := p.proxied(p.fake(flags...))
	d := p.open(servers{"fake": e})
	return p, d, d.window("side bar"), wire
}

// TestLinesOfAnySize: over real pipes and the real door, lines that are no messages are counted, a result of 32 MiB
// arrives whole, and the call that a line of 100 MB answers fails with an error that names the setting that would help,
// and that helps. Other calls and the process go on.
func TestLinesOfAnySize(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	demo := p.demo("legacy")
	config := func(most int) string {
		demo.MaxMessageBytes = most
		return servers{"fake": p.fake("-chatter"), "demo": demo}.config()
	}
	d := p.spawn()
	d.load(config(1 << 20))
	w := d.window("side bar")
	hanging := d.call("fake", "hang", "")
	w.WaitRequest(hanging.id, running)
	before := d.server("fake")
	if n := before.GetCounters().GetBadLines(); n != badLines {
		t.Errorf("%d bad lines counted, %d printed", n, badLines)
	}
	if text := d.call("fake", "garbage", "").text(); text != "after the garbage" {
		t.Errorf("result %q", text)
	}
	if n := d.server("fake").GetCounters().GetBadLines(); n <= badLines {
		t.Errorf("%d bad lines counted", n)
	}

	c := d.call("fake", "giant", "")
	if f := c.fails("RESOURCE_EXHAUSTED", "RESULT_TOO_LARGE"); f.Meta["setting"] != "maxMessageBytes" ||
		!strings.Contains(f.Message, "maxMessageBytes") {
		t.Errorf("the caller was told %+v", f)
	}
	if e := w.WaitTerminal(c.id).GetMcpRequestFinished(); e.GetHubError().GetReason() != "RESULT_TOO_LARGE" {
		t.Errorf("the window was told %v", e)
	}
	d.echoes("fake", "still there")
	if s := w.Requests()[hanging.id].GetState(); s != running {
		t.Errorf("the other call is %v", s)
	}
	cancels(t, w, hanging.id, "enough")
	hanging.fails("CANCELLED", "CANCELLED")
	if after := d.server("fake").GetProcessId(); after != before.GetProcessId() {
		t.Errorf("process %d became %d", before.GetProcessId(), after)
	}

	const size = 32 << 20
	big := fmt.Sprintf(`{"bytes":%d}`, size)
	d.call("demo", "big", big).fails("RESOURCE_EXHAUSTED", "RESULT_TOO_LARGE")
	d.load(config(64 << 20))
	if got := d.call("demo", "big", big).text(); len(got) != size || strings.Trim(got, "0123456789abcdef") != "" ||
		got[size-16:] != "0123456789abcdef" {
		t.Errorf("%d bytes of %d", len(got), size)
	}
	d.echoes("demo", "still there")
}

// TestExitOnProbe: a server that exits on the probe, a method that it does not know, is started again, and not probed
// again.
func TestExitOnProbe(t *testing.T) {
	t.Parallel()
	_, d, _, wire := openFake(t, "-exits")
	if s := d.start("fake"); s.GetEra() != mcphubv1.Era_ERA_LEGACY ||
		s.GetState() != mcphubv1.ServerState_SERVER_STATE_READY {
		t.Errorf("server %v", s)
	}
	d.echoes("fake", "here after all")
	wire.one("a probe", func(m message) bool { return m.Method == "server/discover" })
	wire.one("a handshake", func(m message) bool { return m.Method == "initialize" })
}

// TestServerNeverReads: a full pipe blocks no call, no cancel and no stop.
func TestServerNeverReads(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	d := p.open(servers{"fake": quick(p.fake("-pids", p.file("pids.json"))), "demo": p.demo("")})
	w := d.window("side bar")
	d.call("fake", "deaf", "").text()
	server := doortest.Watch(t, familyOf(t, p.file("pids.json")).Server)
	// More than any pipe holds.
	arguments := fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", 1<<20))
	var calls []*call
	for range 4 {
		c := d.call("fake", "echo", arguments)
		w.WaitRequest(c.id, running)
		calls = append(calls, c)
	}
	for _, c := range calls {
		cancels(t, w, c.id, "nobody listens")
		c.fails("CANCELLED", "CANCELLED")
		cancelled(t, w, c.id, mcphubv1.Origin_ORIGIN_USER, "nobody listens")
	}
	d.echoes("demo", "others do not suffer")
	if _, err := d.Servers.StopServer(d.ctx, &mcphubv1.StopServerRequest{Server: "fake"}); err != nil {
		t.Error(err)
	}
	if server.Alive(t) {
		t.Error("the deaf server lives after StopServer")
	}
	d.echoes("fake", "a new one listens")
}
