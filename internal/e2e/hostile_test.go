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

// TestGarbageOnStdout: lines that are no messages are counted; the session goes on.
func TestGarbageOnStdout(t *testing.T) {
	t.Parallel()
	_, d, _, _ := openFake(t, "-chatter")
	pid := d.start("fake").GetProcessId()
	d.echoes("fake", "in spite of the banner")
	before := d.server("fake").GetCounters().GetBadLines()
	if before != badLines {
		t.Errorf("%d bad lines counted, %d printed", before, badLines)
	}
	if text := d.call("fake", "garbage", "").text(); text != "after the garbage" {
		t.Errorf("result %q", text)
	}
	d.echoes("fake", "still there")
	if after := d.server("fake"); after.GetProcessId() != pid || after.GetCounters().GetBadLines() <= before {
		t.Errorf("process %d became %d; %d bad lines became %d", pid, after.GetProcessId(), before,
			after.GetCounters().GetBadLines())
	}
}

// TestAnswersTwice: the first answer counts; the second, and one to nothing, are dropped and counted.
func TestAnswersTwice(t *testing.T) {
	t.Parallel()
	_, d, w, _ := openFake(t)
	c := d.call("fake", "twice", "")
	if text := c.text(); text != "first" {
		t.Errorf("result %q", text)
	}
	w.WaitTerminal(c.id)
	d.echoes("fake", "still there")
	if n := d.server("fake").GetCounters(); n.GetUnknownResponses() != 2 {
		t.Errorf("counters %v", n)
	}
}

// TestHundredMegabyteLine: the call that such a line answers fails, and the error names the setting that would help;
// other calls and the process go on.
func TestHundredMegabyteLine(t *testing.T) {
	t.Parallel()
	_, d, w, _ := openFake(t)
	hanging := d.call("fake", "hang", "")
	w.WaitRequest(hanging.id, running)
	pid := d.server("fake").GetProcessId()
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
	if after := d.server("fake").GetProcessId(); after != pid {
		t.Errorf("process %d became %d", pid, after)
	}
}

// TestMaxMessageBytes: the setting that the error names does what it says.
func TestMaxMessageBytes(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	e := p.demo("legacy")
	config := func(most int) string {
		e.MaxMessageBytes = most
		return servers{"demo": e}.config()
	}
	d := p.spawn()
	d.load(config(1 << 20))
	d.call("demo", "big", `{"bytes":2000000}`).fails("RESOURCE_EXHAUSTED", "RESULT_TOO_LARGE")
	d.load(config(4 << 20))
	if text := d.call("demo", "big", `{"bytes":2000000}`).text(); len(text) != 2000000 {
		t.Errorf("%d bytes", len(text))
	}
}

// TestExitOnProbe: a server that exits on the probe, a method that it does not know, is started again, and not probed
// again.
func TestExitOnProbe(t *testing.T) {
	t.Parallel()
	_, d, _, wire := openFake(t, "-probe", "exit")
	if s := d.start("fake"); s.GetEra() != mcphubv1.Era_ERA_LEGACY ||
		s.GetState() != mcphubv1.ServerState_SERVER_STATE_READY {
		t.Errorf("server %v", s)
	}
	d.echoes("fake", "here after all")
	wire.one("a probe", func(m message) bool { return m.Method == "server/discover" })
	wire.one("a handshake", func(m message) bool { return m.Method == "initialize" })
}

// TestSilentProbe waits for the five seconds of the probe's timeout once: the second start does not probe. Neither the
// probe nor initialize is ever cancelled.
func TestSilentProbe(t *testing.T) {
	t.Parallel()
	_, d, _, wire := openFake(t, "-probe", "silent")
	if s := d.start("fake"); s.GetEra() != mcphubv1.Era_ERA_LEGACY {
		t.Errorf("server %v", s)
	}
	d.echoes("fake", "here after all")
	if _, err := d.Servers.RestartServer(d.ctx, &mcphubv1.RestartServerRequest{Server: "fake"}); err != nil {
		t.Fatal(err)
	}
	d.echoes("fake", "and again")
	wire.one("a probe", func(m message) bool { return m.Method == "server/discover" })
	if n := len(wire.all(func(m message) bool { return m.Method == "initialize" })); n != 2 {
		t.Errorf("%d handshakes", n)
	}
	if n := len(wire.all(isCancel(true))); n != 0 {
		t.Errorf("%d cancels", n)
	}
}

// TestInitializeIsNeverCancelled: a start that takes too long ends with a clear error, and with the server; it cannot
// be cancelled as a request, and nothing of the kind is sent.
func TestInitializeIsNeverCancelled(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	e, wire := p.proxied(p.fake("-mute", "initialize", "-pids", p.file("pids.json")))
	e = quick(e)
	e.Timeouts = map[string]string{"connect": "1500ms"}
	d := p.open(servers{"fake": e})
	w := d.window("side bar")
	c := d.call("fake", "echo", `{"text":"x"}`)
	start := w.WaitEvent("the start", func(e *mcphubv1.AttachResponse) bool {
		return e.GetMcpRequestStarted().GetRequest().GetMethod() == "initialize"
	})
	server := doortest.Watch(t, familyOf(t, p.file("pids.json")).Server)
	wire.await("the handshake", func(m message) bool { return m.Method == "initialize" })
	if r := w.CancelRequest(start.GetMcpRequestStarted().GetRequest().GetRequestId(),
		"no"); r.GetError().GetReason() != "UNCANCELLABLE" {
		t.Errorf("a cancel of the start: %v", r)
	}
	if f := c.fails("DEADLINE_EXCEEDED", "CONNECT_TIMEOUT"); f.Meta["setting"] != "timeouts.connect" ||
		!strings.Contains(f.Message, "timeouts.connect") {
		t.Errorf("the caller was told %+v", f)
	}
	server.Wait(t, bound)
	if n := len(wire.all(isCancel(true))); n != 0 {
		t.Errorf("%d cancels", n)
	}
	if s := d.server("fake"); s.GetState() != mcphubv1.ServerState_SERVER_STATE_FAILED || s.GetLastError() == "" {
		t.Errorf("server %v", s)
	}
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

// TestCancelMalformedUnknownLateDoubled: wrong cancels of a server are counted and change nothing: not the question
// that is open, not the call whose id one of them names.
func TestCancelMalformedUnknownLateDoubled(t *testing.T) {
	t.Parallel()
	_, d, w, wire := openFake(t)
	c := d.call("fake", "miscancel", "")
	p := w.WaitPrompt(form)
	until(t, "all wrong cancels were read", func() bool {
		n := d.server("fake").GetCounters()
		return n.GetMalformedCancels() == malformedCancels && n.GetUnknownCancels() == unknownCancels
	})
	const waiting = mcphubv1.RequestState_REQUEST_STATE_AWAITING_INPUT
	if r := w.WaitRequest(c.id, waiting); r.GetState() != waiting || len(w.Prompts()) != 1 {
		t.Errorf("open prompts %v, requests %v", w.Prompts(), w.Requests())
	}
	takes(t, w.Accept(p.GetPromptId(), `{"name":"Ada"}`))
	if text := c.text(); text != `answered {"action":"accept","content":{"name":"Ada"}}` {
		t.Errorf("result %q", text)
	}
	if n := d.server("fake").GetCounters(); n.GetUnknownCancels() != unknownCancels+2 {
		t.Errorf("late and doubled: counters %v", n)
	}

	c = d.call("fake", "withdraw", "")
	w.WaitPrompt(form)
	d.call("fake", "seen", "").text()
	if text := c.text(); !strings.HasPrefix(text, "withdrew ") {
		t.Errorf("result %q", text)
	}
	closed := w.WaitEvent("the withdrawal", func(e *mcphubv1.AttachResponse) bool {
		return e.GetPromptClosed() != nil && e.GetPromptClosed().GetPromptId() != p.GetPromptId()
	}).GetPromptClosed()
	if closed.GetCause() != mcphubv1.PromptCause_PROMPT_CAUSE_WITHDRAWN || closed.GetReason() != "not needed" {
		t.Errorf("closed %v", closed)
	}
	d.echoes("fake", "still there")
	questions := wire.all(asked("elicitation/create"))
	if answers := wire.all(answerTo(questions[len(questions)-1])); len(answers) != 0 {
		t.Errorf("a withdrawn question was answered: %v", answers)
	}
	if n := len(wire.all(isCancel(true))); n != 0 {
		t.Errorf("the hub sent %d cancels", n)
	}
}

// TestSameIDsBothWays: a server's cancel means the server's own request, also when one of the hub's has the same id
// (the same-direction rule).
func TestSameIDsBothWays(t *testing.T) {
	t.Parallel()
	_, d, w, wire := openFake(t)
	c := d.call("fake", "collide", "")
	w.WaitPrompt(form)
	d.call("fake", "seen", "").text()
	if text := c.text(); text != "went on" {
		t.Errorf("result %q", text)
	}
	closed := w.WaitEvent("the withdrawal", func(e *mcphubv1.AttachResponse) bool {
		return e.GetPromptClosed() != nil
	}).GetPromptClosed()
	if closed.GetCause() != mcphubv1.PromptCause_PROMPT_CAUSE_WITHDRAWN {
		t.Errorf("closed %v", closed)
	}
	if e := w.WaitTerminal(c.id).GetMcpRequestFinished(); e.GetState() != mcphubv1.RequestState_REQUEST_STATE_DONE {
		t.Errorf("the call ended with %v", e)
	}
	d.echoes("fake", "still there")
	question, request := wire.one("the question", asked("elicitation/create")), wire.one("the call", callOf("collide"))
	if string(question.ID) != string(request.ID) {
		t.Errorf("the ids differ: %v, %v", question, request)
	}
	if answers := wire.all(answerTo(question)); len(answers) != 0 {
		t.Errorf("the withdrawn question was answered: %v", answers)
	}
}

// TestServerStalls waits for the stall limit of thirty seconds: a server that reads nothing for so long is killed, and
// its calls fail with a clear error.
func TestServerStalls(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	d := p.open(servers{"fake": p.withChild()})
	w := d.window("side bar")
	hanging := d.call("fake", "hang", "")
	w.WaitRequest(hanging.id, running)
	d.call("fake", "deaf", "").text()
	server, child := p.watchFamily()
	// The first is still taken from the pipe; the second is more than the pipe holds.
	arguments := fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", 1<<20))
	for _, c := range []*call{d.call("fake", "echo", arguments), d.call("fake", "echo", arguments), hanging} {
		c.fails("UNAVAILABLE", "SERVER_GONE")
	}
	server.Wait(t, bound)
	child.Wait(t, bound)
	d.echoes("fake", "a new one listens")
}

// TestConfigWithErrors: each problem says where it is; what is sound works.
func TestConfigWithErrors(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	text := fmt.Sprintf(`{
  // what a tired user writes
  "mcpServers": {
    "good": {"command": %q, "args": ["demo-server"], "cwd": %q, "approvals": {"*": "allow"}},
    "none": {"args": []},
    "odd": {"command": %q, "args": ["demo-server", 7]},
    "remote": {"url": "example.org/mcp"},
    "slow": {
      "command": %q,
      "timeouts": {"idle": "soon"}
    },
    "policy": {"command": %q, "approvals": {"echo": "perhaps"}}
  }
}`, p.hub, p.dir, p.hub, p.hub, p.hub)
	d := p.spawn()
	r := d.load(text)
	found := map[string]*mcphubv1.ConfigProblem{}
	for _, problem := range r.GetProblems() {
		found[problem.GetServer()] = problem
		if problem.GetFile() != "mcp.json" || problem.GetColumn() < 1 || problem.GetMessage() == "" || !problem.GetFatal() {
			t.Errorf("problem %v", problem)
		}
	}
	for server, want := range map[string]struct {
		line int32
		key  string
	}{"none": {5, "command"}, "odd": {6, "args[1]"}, "remote": {7, "url"}, "slow": {10, "timeouts.idle"},
		"policy": {12, "approvals.echo"}} {
		got := found[server]
		if got.GetLine() != want.line || got.GetKey() != want.key {
			t.Errorf("server %s: %v; want line %d, key %s", server, got, want.line, want.key)
		}
		if s := d.server(server); s.GetState() != mcphubv1.ServerState_SERVER_STATE_BROKEN || len(s.GetProblems()) == 0 {
			t.Errorf("server %s is %v", server, s)
		}
		d.call(server, "echo", `{"text":"x"}`).fails("FAILED_PRECONDITION", "SERVER_BROKEN")
	}
	if len(found) != 5 {
		t.Errorf("problems of %d servers: %v", len(found), r.GetProblems())
	}
	d.echoes("good", "in spite of its neighbours")

	// A file that is half saved removes no server.
	pid := d.server("good").GetProcessId()
	half := d.load(text[:len(text)/2])
	if problems := half.GetProblems(); len(problems) != 1 || !problems[0].GetFatal() || problems[0].GetServer() != "" ||
		problems[0].GetLine() < 1 {
		t.Errorf("half a file: %v", problems)
	}
	d.echoes("good", "still there")
	if after := d.server("good").GetProcessId(); after != pid {
		t.Errorf("process %d became %d", pid, after)
	}
}
