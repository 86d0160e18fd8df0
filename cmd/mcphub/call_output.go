package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// show prints an event in the form that was asked for.
func (c *call) show(event *mcphubv1.AttachResponse) {
	if !c.options.json {
		for _, line := range c.tell.lines(event) {
			c.note("%s", line)
		}
		return
	}
	if err := printJSON(c.env.stdout, event); err != nil && c.outputErr == nil {
		c.outputErr = err
	}
}

// report prints how the call ended, and gives the exit status.
func (c *call) report(end ending) int {
	switch {
	case end.failure != nil && c.options.json:
		printErrorLine(c.env.stdout, end.failure)
	case end.failure != nil:
		c.env.say("mcphub call: %s", escape(end.failure.Message))
	case c.options.json:
		printObject(c.env.stdout, "callToolResponse", json.RawMessage(jsonLine(end.response)))
	default:
		c.reportResponse(end.response)
	}
	if end.failure != nil {
		return exitOf(end.failure)
	}
	return exitOfResponse(end.response)
}

func (c *call) reportResponse(r *mcphubv1.CallToolResponse) {
	if e := r.GetError(); e != nil {
		c.env.say("mcphub call: the server answered error %d: %s", e.GetCode(), escape(e.GetMessage()))
		return
	}
	text, others := resultText(r.GetResultJson())
	if isTerminal(c.env.stdout) {
		text = escapeBut(text, "\n\t")
	}
	fmt.Fprintln(c.env.stdout, strings.TrimSuffix(text, "\n"))
	if others > 0 {
		c.note("%d more content blocks are no text; --json shows them", others)
	}
	if r.GetIsError() {
		c.env.say("mcphub call: the tool says that it failed")
	}
}

// resultText gives the text blocks of a tools/call result, one after the other, and the number of the other blocks. A result
// without text is given as the JSON that it is.
func resultText(result string) (text string, others int) {
	var r struct {
		Content []struct {
			Type string  `json:"type"`
			Text *string `json:"text"`
		} `json:"content"`
	}
	if json.Unmarshal([]byte(result), &r) != nil {
		return result, 0
	}
	var texts []string
	for _, block := range r.Content {
		if block.Type == "text" && block.Text != nil {
			texts = append(texts, *block.Text)
		} else {
			others++
		}
	}
	if texts == nil {
		return result, 0
	}
	return strings.Join(texts, "\n"), others
}

// answeredPrompt gives the prompt that a reply is about.
func answeredPrompt(messageID string) (promptID string, ok bool) {
	return strings.CutPrefix(messageID, "answer ")
}

func isYes(line string) bool {
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true
	}
	return false
}

// readLines delivers the lines of r and closes the channel at its end. A read from a terminal cannot be called off: the goroutine
// lives until the input ends or the process does.
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
