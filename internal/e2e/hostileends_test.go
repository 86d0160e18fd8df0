//go:build unix

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/mcphub-go/mcphub/internal/doortest"
	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	"github.com/mcphub-go/mcphub/internal/faketime"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// story waits until a server is in a state for the nth time, and returns the states that the window was shown up to
// then, in order, and the server. A state that is shown twice in a row counts once.
func story(w *fakeeditor.Window, name string, state mcphubv1.ServerState,
	nth int) (states []mcphubv1.ServerState, now *mcphubv1.Server) {
	e := w.WaitEvent(fmt.Sprintf("%s to be %v, time %d", name, state, nth), func(e *mcphubv1.AttachResponse) bool {
		s := e.GetServerChanged().GetServer()
		if s.GetName() != name || len(states) > 0 && states[len(states)-1] == s.GetState() {
			return false
		}
		states = append(states, s.GetState())
		if s.GetState() == state {
			nth--
		}
		return nth == 0
	})
	return states, e.GetServerChanged().GetServer()
}

func tells(t *testing.T, got []mcphubv1.ServerState, want ...mcphubv1.ServerState) {
	t.Helper()
	if len(got) > 0 && got[0] == stopped { // the state before the start
		got = got[1:]
	}
	if !slices.Equal(got, want) {
		t.Errorf("the window was shown %v, want %v", got, want)
	}
}

// is compares a text that people read.
func is(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

// startedBy returns the processes that a server has started, its strays included. other is the only other server.
func (p *place) startedBy(other int32) (pids []int) {
	for pid := range pick(p.Processes(), func(line string) bool {
		return isSleep(line) || strings.HasPrefix(line, "tail")
	}) {
		if group, err := syscall.Getpgid(pid); err == nil && group != int(other) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// ended checks that these processes are gone. A server that comes back has others.
func (p *place) ended(pids []int) {
	p.t.Helper()
	found := p.Processes()
	for _, pid := range pids {
		if found[pid] != "" {
			p.t.Errorf("process %d is left: %s", pid, found[pid])
		}
	}
}

// TestServerKilled: when a server is killed, its call fails and nothing else does; the hub starts it again by itself,
// since it was in use.
func TestServerKilled(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	d := p.spawn()
	w := d.window("side bar")
	d.load(servers{"index": p.stubborn("index", "stray"), "other": p.stubborn("other")}.config())
	other := d.call("other", "hang", "")
	w.WaitRequest(other.id, running)
	c := d.call("index", "hang", "")
	w.WaitRequest(c.id, running)
	var strays []int
	until(t, "the strays are there", func() bool {
		strays = p.startedBy(d.server("other").GetProcessId())
		return len(strays) == 2
	})
	pid := d.server("index").GetProcessId()
	if err := syscall.Kill(int(pid), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	f := c.fails("UNAVAILABLE", "SERVER_GONE")
	is(t, "the caller", f.Message,
		`server "index" ended while tool "hang" ran: the process was ended by signal SIGKILL; last lines on stderr: index is up; the call may have had effects and was not repeated`)
	if e := w.WaitTerminal(c.id).GetMcpRequestFinished(); e.GetHubError().GetMessage() != f.Message ||
		e.GetState() != mcphubv1.RequestState_REQUEST_STATE_FAILED {
		t.Errorf("the window was told %v", e)
	}
	_, s := story(w, "index", failed, 1)
	is(t, "last exit", s.GetLastExit(), "ended by SIGKILL")
	is(t, "last error", s.GetLastError(),
		`the connection to server "index" ended: it closed its output; the process was ended by signal SIGKILL; last lines on stderr: index is up`)
	if s.GetFailures() != 1 || s.GetNextStartTime() == nil || s.GetProcessId() != 0 ||
		!slices.Equal(s.GetStderr(), []string{"index is up"}) {
		t.Errorf("server %v", s)
	}
	p.ended(strays)
	states, back := story(w, "index", ready, 2)
	tells(t, states, connecting, ready, stopping, failed, connecting, ready)
	if back.GetProcessId() == pid || back.GetFailures() != 1 || back.GetLastError() != "" {
		t.Errorf("server %v", back)
	}
	if s := w.Requests()[other.id].GetState(); s != running {
		t.Errorf("the call of the other server is %v", s)
	}
}

// TestServerStoppedBySignal: a server that is stopped (SIGSTOP, a debugger) is not taken for exited. Its calls end by
// their own clocks, and StopServer ends it.
func TestServerStoppedBySignal(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	d := p.spawn()
	w := d.window("side bar")
	e := p.stubborn("index", "stray")
	e.Timeouts = map[string]string{"total": "1500ms"}
	d.load(servers{"index": e, "other": p.stubborn("other")}.config())
	pid := int(d.start("index").GetProcessId())
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	c := d.call("index", "echo", "")
	w.WaitRequest(c.id, running)
	d.echoes("other", "other") // while it hangs
	f := c.fails("DEADLINE_EXCEEDED", "TOTAL_TIMEOUT")
	is(t, "the caller", f.Message,
		`tool "echo" of server "index" did not finish within 1.5s; raise timeouts.total of the server in mcp.json:1 or of the call`)
	is(t, "the setting", f.Meta["setting"]+" "+f.Meta["limit"], "timeouts.total 1.5s")
	cancelled(t, w, c.id, mcphubv1.Origin_ORIGIN_TIMEOUT, "timeouts.total of 1.5s exceeded")
	if s := d.server("index"); s.GetState() != ready || int(s.GetProcessId()) != pid || s.GetFailures() != 0 {
		t.Errorf("it is %v", s)
	}
	d.echoes("other", "other")
	death := doortest.Watch(t, pid)
	r, err := d.Servers.StopServer(d.ctx, stopOf("index"))
	if err != nil {
		t.Fatal(err)
	}
	if death.Alive(t) {
		t.Error("it lives after Stop")
	}
	is(t, "last exit", r.GetServer().GetLastExit(), "ended by SIGKILL after it was killed (the connection was closed)")
	if left := pick(p.Processes(), isSleep); len(left) != 1 {
		t.Errorf("processes %v", left)
	}
	states, _ := story(w, "index", stopped, 2)
	tells(t, states, connecting, ready, stopping, stopped)
	d.echoes("index", "index")
}

// TestServerCrashLoop_nightly waits for the growing delays between five starts. The hub then gives up, and its error
// says all that it knows; once the server is mended, RestartServer starts it and sets its failures to 0.
func TestServerCrashLoop_nightly(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	d := p.spawn()
	w := d.window("side bar")
	e := p.stubborn("index", "loop", "alone")
	e.Start = "eager"
	d.load(servers{"index": e, "other": p.stubborn("other")}.config())
	states, s := story(w, "index", gaveUp, 1)
	tells(t, states, connecting, failed, connecting, failed, connecting, failed, connecting, failed, connecting, gaveUp)
	is(t, "last exit", s.GetLastExit(), "exited with code 7")
	if s.GetFailures() != 5 || s.GetNextStartTime() != nil || s.GetProcessId() != 0 ||
		!slices.Equal(s.GetStderr()[:2], []string{"index is up", "cannot open the index"}) {
		t.Errorf("server %v", s)
	}
	f := d.call("index", "echo", "").fails("UNAVAILABLE", "SERVER_GIVEN_UP")
	// The last lines of stderr may be of different starts.
	is(t, "the caller", f.Message,
		`server "index" failed 5 times in a row and is not started any more; the last time: it did not start: `+
			`it closed its output; its process exited with code 7; it says on stderr: cannot open the index; `+
			`last lines on stderr: index is up; fix it in mcp.json:1, then restart it`)
	is(t, "last error", s.GetLastError(), f.Message)
	is(t, "for programs", f.Meta["failures"]+" "+f.Meta["exit"], "5 exited with code 7")
	d.echoes("other", "other")
	if err := touch(p.file("mended")); err != nil {
		t.Fatal(err)
	}
	d.call("index", "echo", "").fails("UNAVAILABLE", "SERVER_GIVEN_UP") // nobody has said that it is mended
	r, err := d.Servers.RestartServer(d.ctx, &mcphubv1.RestartServerRequest{Server: "index"})
	if err != nil {
		t.Fatal(err)
	}
	if s := r.GetServer(); s.GetState() != ready || s.GetFailures() != 0 || s.GetLastError() != "" {
		t.Errorf("after the restart: %v", s)
	}
	d.echoes("index", "index")
}

// TestServerDeaf_nightly waits for the stall limit, and checks what a person is told of a server that has stopped
// reading.
func TestServerDeaf_nightly(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	d := p.spawn()
	w := d.window("side bar")
	d.load(servers{"index": p.stubborn("index", "stray"), "other": p.stubborn("other")}.config())
	d.echoes("other", "other")
	d.call("index", "deaf", "").text()
	var strays []int
	until(t, "the strays are there", func() bool {
		strays = p.startedBy(d.server("other").GetProcessId())
		return len(strays) == 3 // it sleeps itself by now
	})
	pid := int(d.server("index").GetProcessId())
	server := doortest.Watch(t, pid)
	arguments := fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", 1<<20)) // more than any pipe holds
	calls := []*call{d.call("index", "echo", arguments), d.call("index", "echo", "")}
	d.echoes("other", "other")
	for _, c := range calls {
		f := c.fails("UNAVAILABLE", "SERVER_GONE")
		is(t, "the caller", f.Message,
			`server "index" ended while tool "echo" ran: it has stopped reading its input; last lines on stderr: index is up; `+
				`the call may have had effects and was not repeated`)
	}
	server.Wait(t, faketime.Long)
	_, s := story(w, "index", failed, 1)
	is(t, "last exit", s.GetLastExit(), "ended by SIGKILL after it was killed (the server has stopped reading its input)")
	is(t, "last error", s.GetLastError(),
		`the connection to server "index" ended: it has stopped reading its input; last lines on stderr: index is up`)
	if s.GetFailures() != 1 || s.GetNextStartTime() == nil {
		t.Errorf("server %v", s)
	}
	p.ended(strays)
	states, _ := story(w, "index", ready, 2)
	tells(t, states, connecting, ready, stopping, failed, connecting, ready)
	d.echoes("index", "index")
}

// TestServerMute: the start of a server that never answers the handshake ends in time, and the error quotes the
// server's stderr.
func TestServerMute(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	d := p.spawn()
	w := d.window("side bar")
	e := p.stubborn("index", "mute", "stray")
	e.Timeouts = map[string]string{"connect": "10s"}
	d.load(servers{"index": e, "other": p.stubborn("other")}.config())
	c := d.call("index", "echo", "")
	story(w, "index", connecting, 1)
	d.echoes("other", "other")
	f := c.fails("DEADLINE_EXCEEDED", "CONNECT_TIMEOUT")
	is(t, "the caller", f.Message, `server "index" was not ready within 10s; raise timeouts.connect in mcp.json:1; `+
		`last lines on stderr: index is up | still loading the model`)
	is(t, "the setting", f.Meta["setting"]+" "+f.Meta["limit"], "timeouts.connect 10s")
	states, s := story(w, "index", failed, 1)
	tells(t, states, connecting, failed)
	is(t, "last exit", s.GetLastExit(), "ended by SIGKILL after it was killed (the connection was closed)")
	is(t, "last error", s.GetLastError(), f.Message)
	if s.GetFailures() != 1 || s.GetNextStartTime() != nil || s.GetProcessId() != 0 { // nobody waits for it any more
		t.Errorf("server %v", s)
	}
	if left := pick(p.Processes(), isSleep); len(left) != 1 {
		t.Errorf("processes %v", left)
	}
}
