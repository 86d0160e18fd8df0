// Package trace has mcphub trace, which shows the timeline of a request.
//
// What must not live here: writing one (package call).
package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/mcphub-go/mcphub/internal/cli/cmd"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/cli/events"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// maxTraceFile bounds what is read of a file. The hub keeps a few megabytes of timelines.
const maxTraceFile = 64 << 20

// NewTraceCmd returns mcphub trace, which prints an exported bundle, or a GetTraceResponse, for people.
func NewTraceCmd(f *door.Factory) *cobra.Command {
	asItIs, core := false, false
	c := &cobra.Command{
		Use: "trace FILE [--core | --json]", Short: "show what a --trace file says: the timeline of a request",
		GroupID: cmd.GroupUse,
		Long: `Shows the timelines in FILE ("-" is stdin): what mcphub call, read or prompt wrote with --trace, or an
answer of GetTrace in proto3 JSON. Each entry stands with its milliseconds since the first: states, messages to (->)
and from (<-) the server by type and size, prompts, cancels with origin and reason. There are no arguments, results or
other contents in it.

With --core it shows what the core of the hub was told, as far back as that is kept, and, indented, what it has ordered
then: of all requests and servers, without reasons. Who develops McpHub can play it.
`,
		Args: cmd.AtMost(1),
		RunE: func(_ *cobra.Command, files []string) error {
			if len(files) == 0 {
				return exit.Wrongf("which file? mcphub call ... --trace FILE writes one")
			}
			if core && asItIs {
				return exit.Wrongf("--core and --json exclude each other: --json prints the whole file")
			}
			return printTrace(f.Streams, files[0], asItIs, core)
		},
	}
	c.Flags().BoolVar(&core, "core", false, "show what the core was told and has ordered")
	c.Flags().BoolVar(&asItIs, "json", false, "print the file as it is, once it has been read without fault")
	return c
}

func printTrace(s console.Streams, file string, asItIs, core bool) error {
	text, err := readTraceFile(s.In, file)
	if err != nil {
		return exit.Wrong(err)
	}
	b, err := readTraces(text)
	if err != nil {
		return exit.Wrongf("%s: %w", file, err)
	}
	if asItIs {
		fmt.Fprintln(s.Out, strings.TrimRight(string(text), "\n"))
		return nil
	}
	shown := b.String()
	if core {
		if len(b.Core) == 0 {
			return exit.Wrongf("%s: it has no record of the core: it is no bundle, or of an older hub", file)
		}
		shown = console.EscapeBut(strings.Join(b.Core, "\n"), "\n")
	}
	for line := range strings.Lines(shown) {
		fmt.Fprint(s.Out, console.ForReading(s.Out, strings.TrimRight(line, "\n")))
	}
	return nil
}

func readTraceFile(in io.Reader, path string) ([]byte, error) {
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, maxTraceFile+1))
	if err == nil && len(text) > maxTraceFile {
		err = fmt.Errorf("%s is larger than %d MiB", path, maxTraceFile>>20)
	}
	return text, err
}

// bundle is the content of a bug report: a summary of a hub, and timelines.
type bundle struct {
	Version, GoVersion, OS, Arch, HubID string
	UptimeSeconds                       float64
	Servers                             []struct {
		Name, State, Transport, Era, Revision, LastError string
	}
	Core   []string // what the core was told and has ordered
	Traces []json.RawMessage

	timelines []*mcphubv1.Trace
}

// readTraces reads a bundle, or a GetTraceResponse in proto3 JSON, which may hold a bundle.
func readTraces(text []byte) (*bundle, error) {
	var b bundle
	var response struct{ BundleJSON string }
	if err := json.Unmarshal(text, &b); err != nil {
		return nil, fmt.Errorf("it is no JSON object with timelines: %w", err)
	}
	if err := json.Unmarshal(text, &response); err != nil {
		return nil, fmt.Errorf("bundleJson: %w", err)
	}
	if response.BundleJSON != "" {
		if err := json.Unmarshal([]byte(response.BundleJSON), &b); err != nil {
			return nil, fmt.Errorf("bundleJson: %w", err)
		}
	}
	if b.Traces == nil && b.HubID == "" {
		return nil, errors.New(`it has no "traces": neither a bundle nor the answer of GetTrace`)
	}
	for i, raw := range b.Traces {
		t := new(mcphubv1.Trace)
		if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(raw, t); err != nil {
			return nil, fmt.Errorf("timeline %d: %w", i+1, err)
		}
		b.timelines = append(b.timelines, t)
	}
	return &b, nil
}

// String returns the bundle in a form for people. Every text of a file is escaped, since it may not be harmless on a
// terminal.
func (b *bundle) String() string {
	var out strings.Builder
	line := func(format string, args ...any) { out.WriteString(console.Escape(fmt.Sprintf(format, args...)) + "\n") }
	if b.HubID != "" {
		line("mcphub %s (%s, %s/%s), hub %s, up %s", b.Version, b.GoVersion, b.OS, b.Arch, b.HubID,
			time.Duration(b.UptimeSeconds*float64(time.Second)).Round(time.Millisecond))
	}
	for _, s := range b.Servers {
		text := fmt.Sprintf("server %s: %s", s.Name, s.State)
		for _, more := range []string{s.Transport, s.Era, s.Revision, s.LastError} {
			if more != "" {
				text += ", " + more
			}
		}
		line("%s", text)
	}
	for _, t := range b.timelines {
		if out.Len() > 0 {
			line("")
		}
		for _, text := range timelineText(t) {
			line("%s", text)
		}
	}
	if len(b.timelines) == 0 {
		line("no timelines")
	}
	return out.String()
}

// timelineText describes one timeline: a line for the request, one for each entry with its time since the first entry,
// and the total.
func timelineText(t *mcphubv1.Trace) []string {
	r := t.GetRequest()
	head := fmt.Sprintf("%s  %s", r.GetRequestId(), r.GetMethod())
	if r.GetTool() != "" {
		head += " " + console.ShortName(r.GetTool())
	}
	head += " on " + r.GetServer()
	if r.GetDirection() == mcphubv1.RequestDirection_REQUEST_DIRECTION_INCOMING {
		head = fmt.Sprintf("%s  %s of %s", r.GetRequestId(), r.GetMethod(), r.GetServer())
	}
	if r.GetParentRequestId() != "" {
		head += ", caused by " + r.GetParentRequestId()
	}
	head += ": " + console.Word(r.GetState(), "REQUEST_STATE_")
	lines := []string{head}
	if t.GetTraceId() != "" {
		lines = append(lines, "  trace "+t.GetTraceId())
	}
	entries := t.GetEntries()
	if len(entries) == 0 {
		return append(lines, "  nothing was noted")
	}
	first, gap := entries[0].GetTime().AsTime(), -1
	if t.GetOmittedEntries() > 0 {
		gap = widestGap(entries)
	}
	lines = append(lines, "  began "+first.Format(time.RFC3339Nano))
	offset := func(e *mcphubv1.TraceEntry) time.Duration { return e.GetTime().AsTime().Sub(first) }
	for i, e := range entries {
		if i == gap {
			lines = append(lines, fmt.Sprintf("%14s  (%d more are left out, about here)", "", t.GetOmittedEntries()))
		}
		lines = append(lines, fmt.Sprintf("%11.3f ms  %s", float64(offset(e))/float64(time.Millisecond), entryText(e)))
	}
	total := float64(offset(entries[len(entries)-1])) / float64(time.Millisecond)
	return append(lines, fmt.Sprintf("%11.3f ms  in all", total))
}

// widestGap returns the index of the entry before which the most time has passed. Entries that were left out were in
// the middle.
func widestGap(entries []*mcphubv1.TraceEntry) int {
	widest, at := time.Duration(-1), len(entries)/2
	for i := 1; i < len(entries); i++ {
		if d := entries[i].GetTime().AsTime().Sub(entries[i-1].GetTime().AsTime()); d > widest {
			widest, at = d, i
		}
	}
	return at
}

func entryText(e *mcphubv1.TraceEntry) string {
	switch e := e.GetEvent().(type) {
	case *mcphubv1.TraceEntry_State:
		return "   " + console.Word(e.State.GetState(), "REQUEST_STATE_")
	case *mcphubv1.TraceEntry_Message:
		return messageText(e.Message)
	case *mcphubv1.TraceEntry_Cancellation:
		text := "   cancelled by " + console.Word(e.Cancellation.GetOrigin(), "ORIGIN_")
		if reason := e.Cancellation.GetReason(); reason != "" {
			text += fmt.Sprintf(": %q", reason)
		}
		return text
	case *mcphubv1.TraceEntry_Delivery:
		return "   cancel " + events.SentText(e.Delivery.GetDelivery(), e.Delivery.GetError())
	case *mcphubv1.TraceEntry_Prompt:
		text := fmt.Sprintf("   %s %s ", e.Prompt.GetPromptId(), console.Word(e.Prompt.GetKind(), "PROMPT_KIND_"))
		if e.Prompt.GetCause() == mcphubv1.PromptCause_PROMPT_CAUSE_UNSPECIFIED {
			return text + "opened"
		}
		return text + "closed: " + console.Word(e.Prompt.GetCause(), "PROMPT_CAUSE_")
	case *mcphubv1.TraceEntry_HubError:
		return fmt.Sprintf("   error %s: %s", e.HubError.GetReason(), e.HubError.GetMessage())
	}
	return "   something that this version does not know"
}

func messageText(m *mcphubv1.TraceMessage) string {
	arrow := "<- "
	if m.GetDirection() == mcphubv1.RequestDirection_REQUEST_DIRECTION_OUTGOING {
		arrow = "-> "
	}
	parts := []string{m.GetType(), m.GetMethod()}
	if m.GetWireIdJson() != "" {
		parts = append(parts, "id "+m.GetWireIdJson())
	}
	if m.GetErrorCode() != 0 {
		parts = append(parts, fmt.Sprint("code ", m.GetErrorCode()))
	}
	if m.GetSizeBytes() != 0 {
		parts = append(parts, fmt.Sprintf("%d bytes", m.GetSizeBytes()))
	}
	switch outgoing := arrow == "-> "; {
	case m.GetDropped() && outgoing:
		parts = append(parts, "not written: it was withdrawn")
	case m.GetDropped():
		parts = append(parts, "dropped")
	}
	return arrow + strings.Join(parts, "  ")
}
