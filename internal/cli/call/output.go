package call

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/hub/statefile"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/events"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// show prints an event in the format that the flags demand.
func (c *call) show(event *mcphubv1.AttachResponse) {
	if !c.options.json {
		p := event.GetMcpRequestProgressed()
		if c.live != nil && p.GetProgress() != nil && p.GetTask() == nil && p.GetRequestId() == c.options.requestID {
			c.live.ShowProgress(p.GetProgress())
			return
		}
		colour := events.ColourOf(event)
		for _, line := range c.teller.Lines(event) {
			c.note("%s", console.Paint(c.Err, colour, line))
			colour = "" // the other lines are to be copied or compared: an address, a command, arguments
		}
		return
	}
	console.PrintJSON(c.Out, event)
}

// report prints how the request has ended, and returns the exit status.
func (c *call) report(end ending) exit.Status {
	c.live.Clear()
	if held := c.teller.Held; !c.options.json && held != "" &&
		(end.failure == nil || !strings.Contains(end.failure.Message, held)) {
		c.note("%s", console.Paint(c.Err, console.Red, console.Escape(held)))
	}
	switch {
	case end.failure != nil && c.options.json:
		console.PrintObject(c.Out, "error", end.failure)
	case end.failure != nil:
		text := console.Escape(fmt.Sprintf("mcphub %s: %s", c.options.command, end.failure.ForPeople()))
		for line := range strings.Lines(console.ForReading(c.Err, text)) {
			c.Say("%s", console.Paint(c.Err, console.Red, strings.TrimRight(line, "\n")))
		}
	case c.options.json:
		console.PrintObject(c.Out, answerName(end.response), json.RawMessage(console.JSONLine(end.response)))
	default:
		c.reportResponse(end.response)
	}
	if end.failure != nil {
		return exit.StatusOf(end.failure)
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
		c.Tell("mcphub %s: the server answered error %d: %s", c.options.command, e.GetCode(), console.Escape(e.GetMessage()))
		return
	}
	text, others := answerText(r)
	t, ok := r.(*mcphubv1.CallToolResponse)
	if console.IsTerminal(c.Out) {
		text = textForTerminal(r, text, others)
	}
	if text != "" || len(others) == 0 {
		fmt.Fprintln(c.Out, strings.TrimSuffix(text, "\n"))
	}
	c.noteOthers(others)
	if !ok {
		return
	}
	for _, v := range t.GetOutputViolations() {
		c.note("%s", console.Escape("the result breaks the tool's output schema: "+v))
	}
	if t.GetTask() != nil {
		c.note("%s", console.Escape("carried out as "+events.TaskText(t.GetTask())))
	}
	if t.GetIsError() {
		c.Say("mcphub call: the tool says that it failed")
	}
}

// noteOthers lists the parts of a result that are not text.
func (c *call) noteOthers(others []string) {
	if len(others) == 0 {
		return
	}
	c.note("no text, and shown by --json:")
	for _, name := range others[:min(len(others), maxNamedBlocks)] {
		c.note("  %s", console.Escape(name))
	}
	if n := len(others) - maxNamedBlocks; n > 0 {
		c.note("  and %d more", n)
	}
}

// exitOfResponse returns the exit status for an answer of the server.
func exitOfResponse(r answer) exit.Status {
	if t, ok := r.(*mcphubv1.CallToolResponse); r.GetError() != nil || ok && t.GetIsError() {
		return exit.ToolError
	}
	return exit.OK
}

// traceTime bounds the wait for a timeline.
const traceTime = 5 * time.Second

// checkTraceFile returns an error if a timeline could not be written to path. An existing file is overwritten, as is
// usual for an output. Anything that is not a regular file is an error.
func checkTraceFile(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		_, err = os.Stat(filepath.Dir(path))
		return err
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no regular file", path)
	}
	return nil
}

// saveTrace writes what the hub has recorded about the request, for a bug report.
func (c *call) saveTrace() error {
	if c.client == nil {
		return errors.New("the hub was not opened")
	}
	ctx, stop := context.WithTimeoutCause(context.Background(), traceTime, errors.New("the hub did not answer"))
	defer stop()
	r, err := c.client.Hub.GetTrace(ctx, &mcphubv1.GetTraceRequest{RequestId: c.options.requestID, Bundle: true})
	if err != nil {
		return exit.FailureOf(err)
	}
	return writeTraceFile(c.options.trace, r.GetBundleJson())
}

// writeTraceFile replaces the file at path in one step. Only its owner can read the new file.
func writeTraceFile(path, text string) error {
	if err := checkTraceFile(path); err != nil {
		return err
	}
	beside := filepath.Join(filepath.Dir(path), ".mcphub-trace-"+rand.Text())
	return statefile.Replacement{Beside: beside}.Replace(path, []byte(strings.TrimSuffix(text, "\n")+"\n"))
}
