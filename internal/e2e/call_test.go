//go:build unix

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/mcphub-go/mcphub/internal/doortest"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// command prepares a command of the binary, without a terminal.
func (p *place) command(args ...string) *exec.Cmd {
	cmd := exec.Command(p.hub, args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), stateless)
	cmd.WaitDelay = 5 * time.Second // a process that outlives the command must not block the test
	return cmd
}

// printed is what a command printed, and its exit status.
type printed struct {
	status         int
	stdout, stderr string
}

// run runs a command to its end.
func (p *place) run(args ...string) printed {
	p.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := p.command(args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	lost := time.AfterFunc(bound, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	if exit := (*exec.ExitError)(nil); !lost.Stop() || err != nil && !errors.As(err, &exit) {
		p.t.Fatalf("mcphub %q: %v\n%s%s", args, err, stdout.String(), stderr.String())
	}
	return printed{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// line is e as the text for --stdio.
func (e entry) line() string {
	words := []string{"'" + e.Command + "'"}
	for _, a := range e.Args {
		words = append(words, "'"+a+"'")
	}
	return strings.Join(words, " ")
}

// ending is the last line of mcphub call --json.
type ending struct {
	CallToolResponse json.RawMessage
	Error            *struct{ Code, Reason, Message string }
}

// events reads the output of mcphub call --json: every line but the last is an event, in strict proto3 JSON, the last
// one the end.
func (r printed) events(t *testing.T) (events []*mcphubv1.AttachResponse, end ending) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(r.stdout, "\n"), "\n")
	for i, line := range lines {
		if i == len(lines)-1 {
			decoder := json.NewDecoder(strings.NewReader(line))
			decoder.DisallowUnknownFields()
			if err := decoder.Decode(&end); err != nil || (end.Error == nil) == (end.CallToolResponse == nil) {
				t.Fatalf("the last line: %v\n%s", err, line)
			}
			break
		}
		var e mcphubv1.AttachResponse
		if err := protojson.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("line %d: %v\n%s", i+1, err, line)
		}
		events = append(events, &e)
	}
	return events, end
}

// terminal returns the one event that ends a request.
func terminal(t *testing.T, events []*mcphubv1.AttachResponse, id string) *mcphubv1.AttachResponse {
	t.Helper()
	ends := slices.DeleteFunc(slices.Clone(events), func(e *mcphubv1.AttachResponse) bool {
		return e.GetMcpRequestCancelled().GetRequestId() != id && e.GetMcpRequestFinished().GetRequestId() != id
	})
	if len(ends) != 1 {
		t.Fatalf("request %s ended %d times: %v", id, len(ends), ends)
	}
	return ends[0]
}

// TestCallCancelOnTheWire: --cancel-after, --reason and --request-id, down to the bytes that a foreign server gets.
func TestCallCancelOnTheWire(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	e, wire := p.proxied(p.everything())
	r := p.run("call", "--json", "--stdio", e.line(), "--tool", "trigger-long-running-operation", "--args",
		`{"duration":60,"steps":600}`,
		"--approve", "allow", "--request-id", "button-7", "--cancel-after", "100ms", "--reason", "out of time", "--linger",
		"300ms")
	events, end := r.events(t)
	if r.status != 3 || end.Error == nil || end.Error.Code != "CANCELLED" || end.Error.Reason != "CANCELLED" ||
		!strings.Contains(end.Error.Message, "out of time") {
		t.Errorf("status %d, %s", r.status, r.stdout)
	}
	c := terminal(t, events, "button-7").GetMcpRequestCancelled()
	// --cancel-after counts from when the server has the call.
	if c.GetCancellation().GetReason() != "out of time" ||
		c.GetCancellation().GetOrigin() != mcphubv1.Origin_ORIGIN_USER || !c.GetServerNotified() {
		t.Errorf("cancelled %v", c)
	}
	wire.cancelledOnce("trigger-long-running-operation", "out of time")
}

// TestCallApprovalHangSendsNothing: while the user is asked to approve, the server is sent neither the call nor its
// cancel.
func TestCallApprovalHangSendsNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	e, wire := p.proxied(p.demo(""))
	r := p.run("call", "--json", "--stdio", e.line(), "--era", "legacy", "--tool", "sleep", "--approve", "hang",
		"--request-id", "mine", "--cancel-at", "500ms")
	events, end := r.events(t)
	if r.status != 3 || end.Error == nil || end.Error.Code != "CANCELLED" {
		t.Errorf("status %d, %+v", r.status, end)
	}
	if c := terminal(t, events, "mine").GetMcpRequestCancelled(); c == nil || c.GetServerNotified() ||
		c.GetWireIdJson() != "" {
		t.Errorf("cancelled %v", c)
	}
	if sent := wire.all(func(m message) bool { return m.Method == "tools/call" || isCancel(true)(m) }); len(sent) != 0 {
		t.Errorf("the server was sent %v", sent)
	}
}

// TestCallSampleHang: a prompt that nobody answers closes with its call, and its server is answered while the hub
// lingers.
func TestCallSampleHang(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	e, wire := p.proxied(p.everything())
	r := p.run("call", "--json", "--stdio", e.line(), "--tool", "trigger-sampling-request", "--args", `{"prompt":"x"}`,
		"--approve", "allow",
		"--sample", "hang", "--total-timeout", "0", "--cancel-after", "4s", "--linger", "2s")
	events, end := r.events(t)
	if r.status != 3 || end.Error == nil {
		t.Fatalf("status %d, %s", r.status, r.stdout)
	}
	i := slices.IndexFunc(events, func(e *mcphubv1.AttachResponse) bool {
		return e.GetPromptOpened().GetPrompt().GetSampling() != nil
	})
	if i < 0 {
		t.Fatalf("no question was shown:\n%s", r.stdout)
	}
	id := events[i].GetPromptOpened().GetPrompt().GetPromptId()
	i = slices.IndexFunc(events, func(e *mcphubv1.AttachResponse) bool { return e.GetPromptClosed().GetPromptId() == id })
	if i < 0 || events[i].GetPromptClosed().GetCause() != mcphubv1.PromptCause_PROMPT_CAUSE_PARENT {
		t.Errorf("the question did not close with its call:\n%s", r.stdout)
	}
	if a := wire.one("the answer", answerTo(wire.one("the question", asked("sampling/createMessage")))); a.Error == nil ||
		a.Error.Code != -1 {
		t.Errorf("the server was answered %v", a)
	}
	wire.one("a cancel", isCancel(true))
}

// TestCallOutput: without --json the text of the result goes to stdout and the events go to stderr; with --json each
// event is a line on stdout.
func TestCallOutput(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	e := p.everything()
	r := p.run("call", "--stdio", e.line(), "--tool", "get-sum", "--args", `{"a":2,"b":40}`, "--approve", "allow")
	if r.status != 0 || !strings.Contains(r.stdout, "42") || strings.Count(r.stdout, "\n") != 1 ||
		!strings.Contains(r.stderr, "get-sum") {
		t.Errorf("status %d\nstdout: %s\nstderr: %s", r.status, r.stdout, r.stderr)
	}
	r = p.run("call", "--json", "--stdio", e.line(), "--tool", "get-sum", "--args", `{"a":2,"b":40}`, "--approve", "allow",
		"--request-id", "sum")
	events, end := r.events(t)
	var response mcphubv1.CallToolResponse
	if err := protojson.Unmarshal(end.CallToolResponse, &response); err != nil || r.status != 0 {
		t.Fatalf("status %d, %v: %s", r.status, err, r.stdout)
	}
	if response.GetRequestId() != "sum" || !strings.Contains(response.GetResultJson(), "42") ||
		events[0].GetWelcome() == nil || events[1].GetSnapshot() == nil {
		t.Errorf("output:\n%s", r.stdout)
	}
	if f := terminal(t, events, "sum").GetMcpRequestFinished(); f.GetState() != mcphubv1.RequestState_REQUEST_STATE_DONE {
		t.Errorf("finished %v", f)
	}
}

// TestCallLaterConfigWins: of two files that name the same server the later one counts.
func TestCallLaterConfigWins(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	files := map[string]servers{
		"user.json":      {"demo": {Command: "/nonexistent/server"}, "other": p.demo("")},
		"workspace.json": {"demo": p.demo("")},
	}
	for name, s := range files {
		if err := os.WriteFile(p.file(name), []byte(s.config()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	call := []string{"call", "--server", "demo", "--tool", "echo", "--args", `{"text":"who?"}`}
	r := p.run(append(call, "--config", "user.json", "--config", "workspace.json")...)
	if r.status != 0 || r.stdout != "who?\n" {
		t.Errorf("status %d, %q\n%s", r.status, r.stdout, r.stderr)
	}
	if r = p.run(append(call, "--config", "workspace.json", "--config", "user.json")...); r.status != 6 ||
		!strings.Contains(r.stderr, "/nonexistent/server") {
		t.Errorf("status %d, %q\n%s", r.status, r.stdout, r.stderr)
	}
}

// TestCallKilled: when the command, which is a host, is killed, the hub, the server and the server's child exit.
func TestCallKilled(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	cmd := p.command("call", "--stdio", p.withChild().line(), "--tool", "hang", "--approve", "allow")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	server, child := p.watchFamily()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // "signal: killed"
	for _, death := range []*doortest.Death{server, child} {
		death.Wait(t, bound)
	}
	until(t, "the hub is gone", func() bool { return len(p.processes()) == 0 })
}
