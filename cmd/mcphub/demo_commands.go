package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// command carries out one typed line.
func (d *demo) command(ctx context.Context, h *prompt, line string) error {
	ctx, done := context.WithTimeoutCause(ctx, stepTime, errStepTime)
	defer done()
	name, rest := firstWord(line)
	switch name {
	case "":
		return nil
	case "help", "?":
		d.page.line("%s", promptHelp)
		return nil
	case "call":
		return d.commandCall(ctx, h, rest)
	case "cancel":
		id, reason := firstWord(rest)
		if id == "" {
			return errors.New("cancel what? cancel ID [REASON]; requests lists them")
		}
		d.left.window.cancelRequest("cancel", h.idOf(id), reason)
		return nil
	case "answer":
		return d.commandAnswer(h, rest)
	case "web", "w":
		return d.commandWeb()
	case "tools":
		r, err := d.client.Servers.ListTools(ctx, &mcphubv1.ListToolsRequest{Server: demoServer})
		if err != nil {
			return asFailure(err)
		}
		for _, t := range r.GetTools() {
			d.page.line("    %-22s %s", escape(t.GetName()), escape(cut(firstLine(t.GetDescription()), 90)))
		}
		return nil
	case "servers":
		r, err := d.client.Servers.ListServers(ctx, &mcphubv1.ListServersRequest{})
		if err != nil {
			return asFailure(err)
		}
		for _, s := range r.GetServers() {
			d.seen(int(s.GetProcessId()), s.GetName())
			d.page.line("    %-22s %s, %s, MCP %s", escape(s.GetName()), word(s.GetState(), "SERVER_STATE_"),
				escape(whereabouts(s)), escape(orDash(s.GetProtocolRevision())))
		}
		return nil
	case "requests":
		return d.commandRequests(ctx, h)
	case "prompts":
		lines := h.list()
		if len(lines) == 0 {
			lines = []string{"no question is open"}
		}
		d.page.line("    %s", strings.Join(lines, "\n    "))
		return nil
	}
	return fmt.Errorf("%q is no command; help lists what there is", name)
}

// commandCall starts a call. The events show what happens to it. Its result is printed when it comes.
func (d *demo) commandCall(ctx context.Context, h *prompt, rest string) error {
	tool, arguments := firstWord(rest)
	serverName := demoServer
	if slices.Contains(demoServers, tool) {
		serverName = tool
		tool, arguments = firstWord(arguments)
	}
	if tool == "" {
		return errors.New("call what? call TOOL [JSON]; tools lists them")
	}
	h.calls++
	mark := d.left.log.mark()
	run := d.call(context.WithoutCancel(ctx), &mcphubv1.CallToolRequest{
		RequestId: fmt.Sprintf("c%d", h.calls), Server: serverName, Tool: tool, ArgumentsJson: arguments,
	})
	d.group.Go(func() { d.tellResult(h, run, mark) })
	return nil
}

// tellResult waits for the end of a call and prints its result, after the events that led to it.
func (d *demo) tellResult(h *prompt, run *running, mark int) {
	<-run.ended
	id := run.request.GetRequestId()
	// A call that never became a request has no events. Its result is printed after a moment.
	ctx, done := context.WithTimeoutCause(context.Background(), resultMoment, errStepTime)
	defer done()
	_, _ = waitFor(ctx, &d.left.log, mark, "the end of "+id, func(e *mcphubv1.AttachResponse) (bool, bool) {
		return true, e.GetMcpRequestFinished().GetRequestId() == id || e.GetMcpRequestCancelled().GetRequestId() == id
	})
	switch r := run.response; {
	case run.failure != nil && run.failure.Reason == "":
		// The hub is gone, and with it the prompt.
	case run.failure != nil:
		h.tellCall(run, "%s %s: %s", run.failure.Code, run.failure.Reason, run.failure.Message)
	case r.GetError() != nil:
		h.tellCall(run, "error %d: %s", r.GetError().GetCode(), r.GetError().GetMessage())
	default:
		text, _ := answerText(r)
		h.tellCall(run, "result: %s", cut(text, 2000))
	}
}

// resultMoment bounds how long a result waits for the events of its request.
const resultMoment = 500 * time.Millisecond

// tellCall prints what a call has returned.
func (h *prompt) tellCall(run *running, format string, args ...any) {
	h.above(run.request.GetRequestId() + ": " + escape(fmt.Sprintf(format, args...)))
}

func (d *demo) commandRequests(ctx context.Context, h *prompt) error {
	r, err := d.client.Hub.ListRequests(ctx, &mcphubv1.ListRequestsRequest{})
	if err != nil {
		return asFailure(err)
	}
	for _, q := range r.GetRequests() {
		d.page.line("    %-6s %s on %s: %s", escape(h.name(q.GetRequestId())), escape(requestAbout(q)), escape(q.GetServer()),
			word(q.GetState(), "REQUEST_STATE_"))
	}
	if len(r.GetRequests()) == 0 {
		d.page.line("    no request is open")
	}
	return nil
}

// commandAnswer answers a question in the side bar. If the hub refuses the answer, its reply comes as an event.
func (d *demo) commandAnswer(h *prompt, rest string) error {
	name, rest := firstWord(rest)
	action, detail := firstWord(rest)
	question, known := h.question(name)
	id := question.GetPromptId()
	if !known {
		// An answer to a closed question is sent, too, to show the hub's reply.
		if id = h.idOf(name); name == "" || id == name {
			return errors.New("answer what? answer ID accept [JSON] | decline [REASON] | dismiss; prompts lists them")
		}
	}
	switch in := question.GetConfigInput(); action {
	case "accept":
		if in != nil {
			answer, wrong := answerInput(id, in, typed{text: detail})
			if wrong != "" {
				return errors.New(wrong)
			}
			d.left.window.answer("answer", answer)
			return nil
		}
		content, err := acceptedContent(question, detail)
		if err != nil {
			return err
		}
		d.left.window.answer("answer", accept(id, content))
	case "decline":
		d.left.window.answer("answer", decline(id, detail))
	case "dismiss":
		d.left.window.answer("answer", dismiss(id))
	default:
		return errors.New("how? accept [JSON], decline [REASON] or dismiss")
	}
	return nil
}

// acceptedContent returns the content of an accepting answer. For a form, typed must be a JSON object; for a
// completion, it may be plain text.
func acceptedContent(question *mcphubv1.Prompt, typed string) (string, error) {
	switch question.GetQuestion().(type) {
	case *mcphubv1.Prompt_ElicitationForm:
		if typed == "" {
			typed = "{}"
		}
		if !json.Valid([]byte(typed)) {
			return "", errors.New(`a form takes a JSON object: answer q1 accept {"name":"Ada"}`)
		}
		return typed, nil
	case *mcphubv1.Prompt_Sampling:
		return completion(typed), nil
	}
	return "", nil
}

// firstWord splits a line at its first blank.
func firstWord(line string) (first, rest string) {
	first, rest, _ = strings.Cut(strings.TrimSpace(line), " ")
	return first, strings.TrimSpace(rest)
}
