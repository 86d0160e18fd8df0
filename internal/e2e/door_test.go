//go:build unix

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	"github.com/mcphub-go/mcphub/internal/faketime"
	"github.com/mcphub-go/mcphub/plugin/handshake"
	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// The kinds of prompts, by shorter names.
const (
	approval = mcphubv1.PromptKind_PROMPT_KIND_TOOL_APPROVAL
	sampling = mcphubv1.PromptKind_PROMPT_KIND_SAMPLING
	form     = mcphubv1.PromptKind_PROMPT_KIND_ELICITATION_FORM
	urlKind  = mcphubv1.PromptKind_PROMPT_KIND_ELICITATION_URL
	running  = mcphubv1.RequestState_REQUEST_STATE_RUNNING
)

// stateless keeps a test's hub apart from what the user of this machine has allowed: it has no state directory.
const stateless = handshake.EnvStateDir + "="

// door is an open hub.
type door struct {
	*host.Client
	t     *testing.T
	ctx   context.Context // ends with the test, or when it takes too long
	calls atomic.Int64
}

// open opens a hub with these servers. It is closed with the test, in order.
func (p *place) open(s servers) *door {
	p.t.Helper()
	d := p.spawn()
	if problems := d.load(s.config()).GetProblems(); len(problems) > 0 {
		p.t.Fatalf("the config has problems: %v", problems)
	}
	return d
}

// spawn opens a hub without servers, which remembers nothing.
func (p *place) spawn() *door {
	p.t.Helper()
	return p.spawnWith(stateless)
}

// spawnStateful opens a hub without servers that keeps what it remembers, and the ledger of its processes, in the
// place's state directory.
func (p *place) spawnStateful() *door {
	p.t.Helper()
	return p.spawnWith(handshake.EnvStateDir + "=" + p.file("state"))
}

func (p *place) spawnWith(env ...string) *door {
	p.t.Helper()
	ctx, cancel := context.WithTimeoutCause(p.t.Context(), faketime.Long, errors.New("the test took too long"))
	p.t.Cleanup(cancel)
	client, err := host.Open(ctx, host.Options{Command: p.hub, Dir: p.dir, Env: env, StartTimeout: faketime.Long})
	if err != nil {
		p.t.Fatal(err)
	}
	d := &door{Client: client, t: p.t, ctx: ctx}
	p.t.Cleanup(func() {
		if err := client.Close(context.Background()); err != nil {
			p.t.Error(err)
		}
	})
	return d
}

// load gives the hub a config.
func (d *door) load(text string) *mcphubv1.ReloadConfigResponse {
	d.t.Helper()
	r,
		err := d.Servers.ReloadConfig(d.ctx,
		&mcphubv1.ReloadConfigRequest{Sources: []*mcphubv1.ConfigSource{{Scope: "host", Path: "mcp.json", Json: text}}})
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

// window attaches a window that shows everything.
func (d *door) window(title string) *fakeeditor.Window {
	d.t.Helper()
	return d.windowWith(fakeeditor.Options{Title: title, SamplingTools: true})
}

func (d *door) windowWith(o fakeeditor.Options) *fakeeditor.Window {
	d.t.Helper()
	o.TB = d.t
	return fakeeditor.Open(d.ctx, d.Conn(), o)
}

// start starts a server.
func (d *door) start(name string) *mcphubv1.Server {
	d.t.Helper()
	r, err := d.Servers.StartServer(d.ctx, &mcphubv1.StartServerRequest{Server: name})
	if err != nil {
		d.t.Fatal(err)
	}
	return r.GetServer()
}

// server returns a server as it is now.
func (d *door) server(name string) *mcphubv1.Server {
	d.t.Helper()
	r, err := d.Servers.ListServers(d.ctx, &mcphubv1.ListServersRequest{})
	if err != nil {
		d.t.Fatal(err)
	}
	for _, s := range r.GetServers() {
		if s.GetName() == name {
			return s
		}
	}
	d.t.Fatalf("the hub does not list server %s", name)
	return nil
}

// call is a tool call that was begun.
type call struct {
	t        *testing.T
	id, tool string
	over     chan struct{}
	response *mcphubv1.CallToolResponse // set once over is closed, or err is
	err      error
}

// call begins a call; an option may change the request.
func (d *door) call(server, tool, arguments string, options ...func(*mcphubv1.CallToolRequest)) *call {
	d.t.Helper()
	r := &mcphubv1.CallToolRequest{RequestId: fmt.Sprintf("%s-%d", tool, d.calls.Add(1)), Server: server, Tool: tool,
		ArgumentsJson: arguments}
	for _, o := range options {
		o(r)
	}
	c := &call{t: d.t, id: r.RequestId, tool: tool, over: make(chan struct{})}
	go func() { // ends at the latest with d.ctx
		defer close(c.over)
		c.response, c.err = d.Hub.CallTool(d.ctx, r)
	}()
	return c
}

// answer waits for the server's answer.
func (c *call) answer() *mcphubv1.CallToolResponse {
	c.t.Helper()
	<-c.over
	if c.err != nil {
		c.t.Fatalf("the call of %s failed: %v", c.tool, c.err)
	}
	return c.response
}

// text waits for a result that is no error, and returns its text.
func (c *call) text() string {
	c.t.Helper()
	r := c.answer()
	if r.GetError() != nil || r.GetIsError() {
		c.t.Fatalf("the call of %s was answered with an error: %v", c.tool, r)
	}
	return textOf(c.t, r.GetResultJson())
}

// fails waits for a failure and checks what it is.
func (c *call) fails(code, reason string) *host.Failure {
	c.t.Helper()
	<-c.over
	f, ok := host.ErrorOf(c.err)
	if !ok || f.Code != code || f.Reason != reason {
		c.t.Fatalf("the call of %s ended with %+v (%v, %v), not with %s %s", c.tool, f, c.response, c.err, code, reason)
	}
	return f
}

// failure waits for a failure of the hub, whichever.
func failure(t *testing.T, c *call) *host.Failure {
	t.Helper()
	<-c.over
	f, ok := host.ErrorOf(c.err)
	if !ok {
		t.Fatalf("the call of %s ended with %v, %v and not with a failure", c.tool, c.response, c.err)
	}
	return f
}

// textOf returns the text blocks of a result.
func textOf(t *testing.T, result string) string {
	t.Helper()
	var r struct {
		Content []struct{ Text string }
	}
	if err := json.Unmarshal([]byte(result), &r); err != nil {
		t.Fatalf("%v: %.200s", err, result)
	}
	var texts []string
	for _, c := range r.Content {
		texts = append(texts, c.Text)
	}
	return strings.Join(texts, "\n")
}

// echoes checks that a server works. When it returns, the server has read what was written to it before on this
// connection, and the hub has read what the server wrote before.
func (d *door) echoes(server, text string) {
	d.t.Helper()
	argument := "text"
	if server == "everything" {
		argument = "message"
	}
	if got := d.call(server, "echo", fmt.Sprintf(`{%q:%q}`, argument, text)).text(); !strings.Contains(got, text) {
		d.t.Fatalf("echo of %q: %q", text, got)
	}
}

// cancelled checks the terminal event of a request that was cancelled, and returns it.
func cancelled(t *testing.T, w *fakeeditor.Window, id string, origin mcphubv1.Origin,
	reason string) *mcphubv1.McpRequestCancelled {
	t.Helper()
	e := w.WaitTerminal(id)
	c := e.GetMcpRequestCancelled()
	if c.GetCancellation().GetOrigin() != origin || c.GetCancellation().GetReason() != reason {
		t.Fatalf("request %s ended with %v; want it cancelled by %v, reason %q", id, e, origin, reason)
	}
	return c
}

// mayContinue reports whether a window was told that the server may go on with a cancelled request, or that it has
// answered: a server that ends at once may do so before the window is told of the end.
func mayContinue(e *mcphubv1.McpRequestCancelled) bool {
	return e.GetServerMayContinue() != (e.GetLateAnswer() != nil)
}

// delivered reports whether the server was sent the cancel of a request. On a busy machine that is known only after the
// request has ended.
func delivered(w *fakeeditor.Window, id string) bool {
	delivery := mcphubv1.CancelDelivery_CANCEL_DELIVERY_PENDING
	w.WaitEvent("the delivery of the cancel of "+id, func(e *mcphubv1.AttachResponse) bool {
		if c := e.GetMcpRequestCancelled(); c.GetRequestId() == id {
			delivery = c.GetDelivery()
		} else if d := e.GetMcpRequestCancelDelivery(); d.GetRequestId() == id {
			delivery = d.GetDelivery()
		}
		return delivery != mcphubv1.CancelDelivery_CANCEL_DELIVERY_PENDING
	})
	return delivery == mcphubv1.CancelDelivery_CANCEL_DELIVERY_DELIVERED
}

// cancels cancels a request from a window, and checks the outcome.
func cancels(t *testing.T, w *fakeeditor.Window, id, reason string) {
	t.Helper()
	r := w.CancelRequest(id, reason)
	if r.GetError() != nil || r.GetCancelOutcome() != mcphubv1.CancelOutcome_CANCEL_OUTCOME_CANCELLING {
		t.Fatalf("cancel of %s: %v", id, r)
	}
}

// takes checks that an answer was taken.
func takes(t *testing.T, r *mcphubv1.Reply) {
	t.Helper()
	if r.GetError() != nil {
		t.Fatalf("the answer was refused: %v", r.GetError())
	}
}

// progressed waits for the first progress of a request.
func progressed(w *fakeeditor.Window, id string) {
	w.WaitEvent("progress of "+id, func(e *mcphubv1.AttachResponse) bool {
		p := e.GetMcpRequestProgressed()
		return p.GetRequestId() == id && p.GetProgress() != nil
	})
}
