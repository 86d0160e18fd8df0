package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// show prints an event in the format that the flags demand.
func (c *call) show(event *mcphubv1.AttachResponse) {
	if !c.options.json {
		p := event.GetMcpRequestProgressed()
		if c.live != nil && p.GetProgress() != nil && p.GetTask() == nil && p.GetRequestId() == c.options.requestID {
			c.live.showProgress(p.GetProgress())
			return
		}
		colour := colourOf(event)
		for _, line := range c.tell.lines(event) {
			c.note("%s", c.live.paint(colour, line))
			colour = "" // the other lines are to be copied or compared: an address, a command, arguments
		}
		return
	}
	printJSON(c.env.stdout, event)
}

// report prints how the request has ended, and returns the exit status.
func (c *call) report(end ending) int {
	c.live.clear()
	if held := c.tell.held; !c.options.json && held != "" && (end.failure == nil || !strings.Contains(end.failure.Message,
		held)) {
		c.note("%s", c.live.paint(red, escape(held)))
	}
	switch {
	case end.failure != nil && c.options.json:
		printErrorLine(c.env.stdout, end.failure)
	case end.failure != nil:
		text := escape(fmt.Sprintf("mcphub %s: %s", c.options.command, end.failure.message()))
		for line := range strings.Lines(toRead(c.env.stderr, text)) {
			c.env.say("%s", c.live.paint(red, strings.TrimRight(line, "\n")))
		}
	case c.options.json:
		printObject(c.env.stdout, answerName(end.response), json.RawMessage(jsonLine(end.response)))
	default:
		c.reportResponse(end.response)
	}
	if end.failure != nil {
		return exitOf(end.failure)
	}
	return exitOfResponse(end.response)
}

// answerName returns the name of the last line under --json: that of the message, spelled as a field in proto3 JSON.
func answerName(r answer) string {
	name := string(r.ProtoReflect().Descriptor().Name())
	return strings.ToLower(name[:1]) + name[1:]
}

func (c *call) reportResponse(r answer) {
	if e := r.GetError(); e != nil {
		c.env.tell("mcphub %s: the server answered error %d: %s", c.options.command, e.GetCode(), escape(e.GetMessage()))
		return
	}
	text, others := answerText(r)
	t, ok := r.(*mcphubv1.CallToolResponse)
	if isTerminal(c.env.stdout) {
		text = textForTerminal(r, text, others)
	}
	if text != "" || len(others) == 0 {
		fmt.Fprintln(c.env.stdout, strings.TrimSuffix(text, "\n"))
	}
	c.noteOthers(others)
	if !ok {
		return
	}
	for _, v := range t.GetOutputViolations() {
		c.note("%s", escape("the result breaks the tool's output schema: "+v))
	}
	if t.GetTask() != nil {
		c.note("%s", escape("carried out as "+taskText(t.GetTask())))
	}
	if t.GetIsError() {
		c.env.say("mcphub call: the tool says that it failed")
	}
}

// noteOthers lists the parts of a result that are not text.
func (c *call) noteOthers(others []string) {
	if len(others) == 0 {
		return
	}
	c.note("no text, and shown by --json:")
	for _, name := range others[:min(len(others), maxNamedBlocks)] {
		c.note("  %s", escape(name))
	}
	if n := len(others) - maxNamedBlocks; n > 0 {
		c.note("  and %d more", n)
	}
}

func isYes(line string) bool {
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true
	}
	return false
}

// readLines sends the lines of r on the channel, and closes it at the end of r. A read from a terminal cannot be
// interrupted: the goroutine lives until the input or the process ends.
func readLines(r io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(r); scanner.Scan(); {
			lines <- scanner.Text()
		}
	}()
	return lines
}

func orDone(err error) any {
	if err == nil {
		return "the hub closed it"
	}
	return err
}
