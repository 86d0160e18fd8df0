package call

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsontext"
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

// Bounds of JSON that is indented for people: the server decides how much it is, and the indents grow with the depth.
const (
	maxLaidOut      = 64 << 10 // bytes of JSON; more is shown as it came
	maxLaidOutDepth = 32
	maxNamedBlocks  = 20 // parts of a result that are not text
)

// answerText returns the text of a result, and names for its other parts.
func answerText(r answer) (text string, others []string) {
	result := []byte(r.GetResultJson())
	var texts []string
	add := func(b json.RawMessage, ofResource bool, before string) {
		if t := jsontext.Get(b, "text"); jsontext.IsString(t) && (ofResource || blockType(b) == "text") {
			texts = append(texts, before+jsontext.String(t))
		} else if others = append(others, ""); len(others) <= maxNamedBlocks {
			others[len(others)-1] = blockName(b, ofResource)
		}
	}
	switch r.(type) {
	case *mcphubv1.ReadResourceResponse: // a blob is not text, whatever its type says
		jsontext.Elements(jsontext.Get(result, "contents"), func(b json.RawMessage) bool {
			add(b, true, "")
			return true
		})
	case *mcphubv1.GetMcpPromptResponse:
		jsontext.Elements(jsontext.Get(result, "messages"), func(m json.RawMessage) bool {
			add(jsontext.Get(m, "content"), false, jsontext.String(jsontext.Get(m, "role"))+": ")
			return true
		})
	default:
		jsontext.Elements(jsontext.Get(result, "content"), func(b json.RawMessage) bool {
			add(b, false, "")
			return true
		})
	}
	if texts == nil { // then the JSON is better than nothing
		return string(result), others
	}
	return strings.Join(texts, "\n"), others
}

func blockType(b []byte) string { return jsontext.String(jsontext.Get(b, "type")) }

// blockName describes a content block that is not text (2025-11-25 server/tools, "Tool Result"), or the contents of a
// resource: its kind, its type, and its size.
func blockName(b []byte, ofResource bool) string {
	kind, of := blockType(b), b
	switch {
	case ofResource:
		kind = "resource"
	case kind == "resource":
		of = jsontext.Get(b, "resource")
	case kind == "resource_link":
		kind = "link"
	case kind == "":
		kind = "a part without a type"
	}
	parts := []string{bounds.Printable(kind)}
	for _, name := range []string{"uri", "name", "mimeType"} {
		if text := jsontext.String(jsontext.Get(of, name)); text != "" {
			parts = append(parts, bounds.Printable(text))
		}
	}
	size := len(b)
	if data := jsontext.String(jsontext.Get(of, "data")) + jsontext.String(jsontext.Get(of, "blob")); data != "" {
		size = base64.StdEncoding.DecodedLen(len(data)) - (len(data) - len(strings.TrimRight(data, "=")))
	} else if text := jsontext.Get(of, "text"); jsontext.IsString(text) {
		size = len(jsontext.String(text))
	} else if given := jsontext.Get(of, "size"); kind == "link" {
		if given != nil {
			parts = append(parts, bounds.Printable(string(given))+" bytes")
		}
		return strings.Join(parts, ", ")
	}
	return strings.Join(append(parts, bounds.Bytes(size)), ", ")
}

// textForTerminal returns what a person is shown of a result with this text and these other parts. The other parts are
// listed separately: nobody reads the JSON of a picture.
func textForTerminal(r answer, text string, others []string) string {
	result := r.GetResultJson()
	if text == result && len(others) > 0 {
		text = ""
	}
	shown := forTerminal(text)
	if _, ok := r.(*mcphubv1.CallToolResponse); ok {
		if more := structured(result, text); more != "" {
			shown = strings.TrimPrefix(strings.TrimSuffix(shown, "\n")+"\n", "\n") + forTerminal(more)
		}
	}
	return shown
}

// forTerminal returns text in a form for people: JSON is indented, and nothing in the text can move the cursor.
func forTerminal(text string) string { return console.EscapeBut(laidOut(text), "\n\t") }

// laidOut returns JSON with a line for each member, and any other text unchanged.
func laidOut(text string) string {
	b := bytes.TrimSpace([]byte(text))
	if len(b) == 0 || len(b) > maxLaidOut || b[0] != '{' && b[0] != '[' || !jsontext.Valid(b) ||
		depthOf(b) > maxLaidOutDepth {
		return text
	}
	var out bytes.Buffer
	if json.Indent(&out, b, "", "  ") != nil {
		return text
	}
	return out.String()
}

// depthOf returns how deep arrays and objects are nested in valid JSON.
func depthOf(b []byte) int {
	depth, deepest, quoted := 0, 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}

// structured returns the structured content of a tool's result, unless its text says the same. It returns "" if there
// is none.
func structured(result, text string) string {
	content := jsontext.Get([]byte(result), "structuredContent")
	if content == nil || text == result {
		return ""
	}
	var compact bytes.Buffer
	if json.Compact(&compact, content) != nil {
		return string(content)
	}
	if spells(text, compact.Bytes()) {
		return ""
	}
	for line := range strings.Lines(text) {
		if spells(line, compact.Bytes()) {
			return ""
		}
	}
	return string(content)
}

// spells reports whether text is this compact JSON, apart from white space. A text that is shorter cannot be, and is
// not parsed: the server decides how many lines there are.
func spells(text string, compact []byte) bool {
	var b bytes.Buffer
	return len(text) >= len(compact) && json.Compact(&b, []byte(text)) == nil && bytes.Equal(b.Bytes(), compact)
}
