package demo

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/cli/source"
	"github.com/mcphub-go/mcphub/internal/demoserver"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// The demo's servers: one program under four names. Only servers of the legacy era can withdraw a question, and over
// HTTP each era has its own way to cancel.
const (
	demoServer   = "demo"
	legacyServer = demoServer + legacySuffix
	modernWeb    = "demo-http"
	legacyWeb    = modernWeb + legacySuffix
	legacySuffix = "-legacy"
)

var demoServers = []string{demoServer, legacyServer, modernWeb, legacyWeb}

// stage is the setting of the demo: one hub, its servers, two windows.
type stage struct {
	*door.Factory
	page   *page
	client *door.Client
	left   *screen // the side bar
	right  *screen // the panel
	dir    string  // holds the servers' records; removed at the end
	group  sync.WaitGroup
	webs   []*webServer // the running ones

	began     int             // number of requests of the script so far
	firstCall string          // id of a call that has ended, for a later scene
	shown     map[string]bool // the prompts that were seen
	processes map[int]string
}

// demoConfig returns the config of the demo's servers, as a user would write it.
func (s *stage) demoConfig(ctx context.Context) string {
	executable := got(os.Executable())
	type entry struct {
		Command   string            `json:"command,omitempty"`
		Args      []string          `json:"args,omitempty"`
		URL       string            `json:"url,omitempty"`
		Era       string            `json:"era,omitempty"`
		Approvals map[string]string `json:"approvals"`
	}
	approvals := map[string]string{"*": "allow", "echo": "ask", "crash": "ask"}
	servers := map[string]entry{
		demoServer: {Command: executable, Args: []string{"demo-server", "--record", s.record(demoServer)},
			Approvals: approvals},
		legacyServer: {Command: executable, Args: []string{"demo-server", "--record", s.record(legacyServer)},
			Era: "legacy", Approvals: approvals},
	}
	for _, w := range s.webs {
		e := entry{URL: got(w.address(ctx)), Approvals: approvals}
		if w.name == legacyWeb {
			e.Era = "legacy"
		}
		servers[w.name] = e
	}
	return string(got(json.MarshalIndent(map[string]any{"mcpServers": servers}, "", "  ")))
}

func (s *stage) record(name string) string { return filepath.Join(s.dir, name+".jsonl") }

// configure gives the hub the demo's servers, and what further sources have.
func (s *stage) configure(ctx context.Context, further ...*mcphubv1.ConfigSource) {
	config := s.demoConfig(ctx)
	sources := append([]*mcphubv1.ConfigSource{{Scope: "host", Path: "the demo's config", Json: config}}, further...)
	r := got(s.client.Servers.ReloadConfig(ctx, &mcphubv1.ReloadConfigRequest{Sources: sources}))
	for _, p := range r.GetProblems() {
		must(errors.New(source.ProblemLineOf(p)))
	}
}

// attach opens one of the two windows.
func (s *stage) attach(ctx context.Context, title string) *screen {
	w := got(door.Attach(ctx, s.client, &mcphubv1.Hello{Title: title, PromptKinds: door.AllKinds, SamplingTools: true}))
	scr := &screen{title: title, window: w}
	s.group.Go(func() { scr.log.Follow(w) })
	return scr
}

// running is a call that was made.
type running struct {
	request  *mcphubv1.CallToolRequest
	ended    chan struct{}
	response *mcphubv1.CallToolResponse
	failure  *exit.Failure
	endTime  time.Time
}

// call makes a call in the background, which outlives the step.
func (s *stage) call(ctx context.Context, serverName, tool, arguments string) *running {
	return s.begin(ctx, &mcphubv1.CallToolRequest{Server: serverName, Tool: tool, ArgumentsJson: arguments})
}

func (s *stage) begin(ctx context.Context, r *mcphubv1.CallToolRequest) *running {
	s.began++
	r.RequestId = fmt.Sprintf("call-%d", s.began)
	run := &running{request: r, ended: make(chan struct{})}
	ctx = context.WithoutCancel(ctx)
	s.group.Go(func() {
		defer close(run.ended)
		response, err := s.client.Hub.CallTool(ctx, r)
		run.endTime = time.Now()
		if err != nil {
			run.failure = exit.FailureOf(err)
			return
		}
		run.response = response
	})
	return run
}

func (r *running) wait(ctx context.Context) {
	select {
	case <-r.ended:
	case <-ctx.Done():
		must(fmt.Errorf("the call of %s did not end: %w", r.request.GetTool(), context.Cause(ctx)))
	}
}

// text waits for a result and returns its text.
func (r *running) text(ctx context.Context) string {
	r.wait(ctx)
	tool := r.request.GetTool()
	if r.failure != nil {
		must(fmt.Errorf("the call of %s failed: %s", tool, r.failure.Message))
	}
	e := r.response.GetError()
	failIf(e != nil, "the call of %s got error %d: %s", tool, e.GetCode(), e.GetMessage())
	var content string // the demo's servers answer with one text
	jsontext.Elements(jsontext.Get([]byte(r.response.GetResultJson()), "content"), func(b json.RawMessage) bool {
		content = jsontext.String(jsontext.Get(b, "text"))
		return false
	})
	failIf(r.response.GetIsError(), "the tool %s says that it failed: %s", tool, content)
	return content
}

// fails waits for a failure, which must have this code and reason.
func (r *running) fails(ctx context.Context, code, reason string) *exit.Failure {
	r.wait(ctx)
	f, tool := r.failure, r.request.GetTool()
	failIf(f == nil, "the call of %s ended with a result, not with %s %s", tool, code, reason)
	failIf(f.Code != code || f.Reason != reason, "the call of %s ended with %s %s (%s), not with %s %s", tool, f.Code,
		f.Reason, f.Message, code, reason)
	return f
}

// echoes makes a preapproved call of echo, to check that a server works.
func (s *stage) echoes(ctx context.Context, serverName, text string) {
	run := s.begin(ctx, &mcphubv1.CallToolRequest{
		Server: serverName, Tool: "echo", ArgumentsJson: fmt.Sprintf(`{"text":%q}`, text), Preapproved: true,
	})
	answered := run.text(ctx)
	failIf(answered != text, "echo answered %q", answered)
}

// screens returns both windows.
func (s *stage) screens() []*screen { return []*screen{s.left, s.right} }

// card waits until both windows show a prompt of a server that was not shown before.
func (s *stage) card(ctx context.Context, serverName string) (card *mcphubv1.Prompt) {
	for _, scr := range s.screens() {
		p := sees(ctx, scr, "the question", func(e *mcphubv1.AttachResponse) (*mcphubv1.Prompt, bool) {
			p := e.GetPromptOpened().GetPrompt()
			return p, p.GetServer() == serverName && !s.shown[p.GetPromptId()]
		})
		failIf(card != nil && card.GetPromptId() != p.GetPromptId(), "the windows show two questions, %s and %s, for one",
			card.GetPromptId(), p.GetPromptId())
		card = p
	}
	s.shown[card.GetPromptId()] = true
	return card
}

// closed waits until a prompt has closed in both windows, and returns the event. Its cause must be the same in both.
func (s *stage) closed(ctx context.Context, promptID string) (end *mcphubv1.PromptClosed) {
	for _, scr := range s.screens() {
		e := sees(ctx, scr, "the end of the question", func(e *mcphubv1.AttachResponse) (*mcphubv1.PromptClosed, bool) {
			return e.GetPromptClosed(), e.GetPromptClosed().GetPromptId() == promptID
		})
		failIf(end != nil && end.GetCause() != e.GetCause(), "the windows say %v and %v for the end of one question",
			end.GetCause(), e.GetCause())
		end = e
	}
	return end
}

// server returns the present state of a server, and records its process.
func (s *stage) server(ctx context.Context, name string) (*mcphubv1.Server, error) {
	r, err := s.client.Servers.ListServers(ctx, &mcphubv1.ListServersRequest{})
	if err != nil {
		return nil, exit.FailureOf(err)
	}
	for _, srv := range r.GetServers() {
		if srv.GetName() == name {
			s.seen(int(srv.GetProcessId()), name)
			return srv, nil
		}
	}
	return nil, fmt.Errorf("the hub does not list the server %s", name)
}

func (s *stage) seen(pid int, what string) {
	if pid != 0 {
		s.processes[pid] = what
	}
}

// noted waits until a server has recorded an event of a tool.
func (s *stage) noted(ctx context.Context, name, event, tool string) {
	must(door.Eventually(ctx, fmt.Sprintf("%s %s in the server's record", event, tool), func() (bool, error) {
		events, err := demoserver.ReadRecord(s.record(name))
		return slices.ContainsFunc(events, func(e demoserver.Event) bool { return e.Event == event && e.Tool == tool }), err
	}))
}

// heardOnce checks that a server has received a cancel with this reason exactly once.
func (s *stage) heardOnce(name, reason string) {
	n := s.heard(name, reason)
	failIf(n != 1, "the server heard the reason %q %d times, not once", reason, n)
}

// heardNothing checks that a server has received no notification of a cancel.
func (s *stage) heardNothing(name string) {
	n := s.heard(name, "")
	failIf(n != 0, "%s heard %d notifications of a cancel, which have no meaning there", name, n)
}

// heard returns how often a server has received a cancel with this reason; with "", any cancel.
func (s *stage) heard(name, reason string) (n int) {
	for _, e := range got(demoserver.ReadRecord(s.record(name))) {
		if e.Event == demoserver.EventCancelReceived && (reason == "" || e.Reason == reason) {
			n++
		}
	}
	return n
}

var errStepTime = errors.New("the step took too long")

// screen is one window of the editor that the demo simulates.
type screen struct {
	title  string
	window *door.Window
	log    door.EventLog
	asked  int // number of messages so far that have a reply
}

// say posts a message and waits for the hub's reply to it.
func (scr *screen) say(ctx context.Context, m *mcphubv1.AttachRequest) *mcphubv1.Reply {
	scr.asked++
	m.MessageId = fmt.Sprintf("%s-%d", strings.ReplaceAll(scr.title, " ", "-"), scr.asked)
	scr.window.Post(m)
	return sees(ctx, scr, "the hub's reply", func(e *mcphubv1.AttachResponse) (*mcphubv1.Reply, bool) {
		return e.GetReply(), e.GetReply().GetMessageId() == m.MessageId
	})
}

// answer answers a prompt; the hub must accept the answer.
func (scr *screen) answer(ctx context.Context, a *mcphubv1.PromptAnswer) {
	reply := scr.say(ctx, &mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_AnswerPrompt{AnswerPrompt: a}})
	failIf(reply.GetError() != nil, "the answer was refused: %s", reply.GetError().GetMessage())
}

// cancel cancels a request as the Cancel button does, and returns the outcome.
func (scr *screen) cancel(ctx context.Context, requestID, reason string) mcphubv1.CancelOutcome {
	reply := scr.say(ctx, &mcphubv1.AttachRequest{Message: &mcphubv1.AttachRequest_CancelMcpRequest{
		CancelMcpRequest: &mcphubv1.CancelMcpRequest{RequestId: requestID, Reason: reason},
	}})
	failIf(reply.GetError() != nil, "the cancel was refused: %s", reply.GetError().GetMessage())
	return reply.GetCancelOutcome()
}

// sees waits until a window gets an event that pick picks, of all since it was opened.
func sees[T any](ctx context.Context, scr *screen, what string, pick func(*mcphubv1.AttachResponse) (T, bool)) T {
	return got(door.WaitFor(ctx, &scr.log, what+" in the "+scr.title, pick))
}

// cancelled waits for the mcpRequestCancelled of a request in one window.
func (scr *screen) cancelled(ctx context.Context, requestID string) *mcphubv1.McpRequestCancelled {
	return sees(ctx, scr, "mcpRequestCancelled", func(e *mcphubv1.AttachResponse) (*mcphubv1.McpRequestCancelled, bool) {
		return e.GetMcpRequestCancelled(), e.GetMcpRequestCancelled().GetRequestId() == requestID
	})
}

// delivery waits until a window knows what became of the cancel of a request. On a busy machine that may be after its
// mcpRequestCancelled.
func (scr *screen) delivery(ctx context.Context, requestID string) mcphubv1.CancelDelivery {
	return sees(ctx, scr, "the delivery of the cancel", func(e *mcphubv1.AttachResponse) (mcphubv1.CancelDelivery, bool) {
		if c := e.GetMcpRequestCancelled(); c.GetRequestId() == requestID {
			return c.GetDelivery(), c.GetDelivery() != mcphubv1.CancelDelivery_CANCEL_DELIVERY_PENDING
		}
		d := e.GetMcpRequestCancelDelivery()
		return d.GetDelivery(), d.GetRequestId() == requestID
	})
}

// progress waits for the first progress of a request.
func (scr *screen) progress(ctx context.Context, requestID string) *mcphubv1.Progress {
	return sees(ctx, scr, "progress", func(e *mcphubv1.AttachResponse) (*mcphubv1.Progress, bool) {
		p := e.GetMcpRequestProgressed()
		return p.GetProgress(), p.GetRequestId() == requestID && p.GetProgress() != nil
	})
}

// webServer is a demo server that is reached by URL. Its process belongs to the demo, not to the hub.
type webServer struct {
	name   string
	cmd    *exec.Cmd
	input  io.Closer     // the server ends when it is closed, also if the demo is killed
	listen chan string   // gets the first line of its output, and is then closed
	ended  chan struct{} // closed when the process is gone
}

// startWeb spawns a demo server over HTTP, at a free port of this machine. The stage owns the server and its goroutine.
func (s *stage) startWeb(name string) {
	executable := got(os.Executable())
	w := &webServer{
		name: name, listen: make(chan string, 1), ended: make(chan struct{}),
		cmd: exec.Command(executable, "demo-server", "--http", "127.0.0.1:0", "--until-eof", "--record", s.record(name)),
	}
	w.input = got(w.cmd.StdinPipe())
	output := got(w.cmd.StdoutPipe())
	must(w.cmd.Start())
	s.webs = append(s.webs, w)
	s.seen(w.cmd.Process.Pid, name)
	s.group.Go(func() {
		defer close(w.ended)
		lines := bufio.NewReader(output)
		if line, err := lines.ReadString('\n'); err == nil {
			w.listen <- line
		}
		close(w.listen)
		_, _ = io.Copy(io.Discard, lines)
		_ = w.cmd.Wait() // only its end matters, and is checked, not how it ended
	})
}

// address waits until the server listens, and returns its URL for Streamable HTTP.
func (w *webServer) address(ctx context.Context) (string, error) {
	select {
	case line := <-w.listen:
		url, _, ok := strings.Cut(strings.TrimPrefix(line, "listening on "), demoserver.PathMCP+" ")
		if !ok {
			return "", fmt.Errorf("%s does not say where it listens but %q", w.name, line)
		}
		return url + demoserver.PathMCP, nil
	case <-ctx.Done():
		return "", fmt.Errorf("%s does not listen: %w", w.name, context.Cause(ctx))
	}
}

var errWebLeft = errors.New("a server over HTTP did not end with its input, and was killed")

// stopWebs ends the servers that are reached by URL, and waits for them. When ctx ends, it kills those that are left.
func (s *stage) stopWebs(ctx context.Context) (err error) {
	for _, w := range s.webs {
		_ = w.input.Close()
	}
	for _, w := range s.webs {
		select {
		case <-w.ended:
		case <-ctx.Done():
			err = errWebLeft
			_ = w.cmd.Process.Kill()
			<-w.ended
		}
	}
	s.webs = nil
	return err
}
