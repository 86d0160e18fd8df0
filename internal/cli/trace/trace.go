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
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// maxTraceFile bounds what is read of a file. The hub keeps a few megabytes of timelines.
const maxTraceFile = 64 << 20

// NewTraceCmd returns mcphub trace, which prints an exported bundle, or a GetTraceResponse, for people.
func NewTraceCmd(f *door.Factory) *cobra.Command {
	asItIs := false
	c := &cobra.Command{
		Use: "trace FILE [--json]", Short: "show what a --trace file says: the timeline of a request", GroupID: cmd.GroupUse,
		Long: `Shows the timelines in FILE ("-" is stdin): what mcphub call, read or prompt wrote with --trace, or an
answer of GetTrace in proto3 JSON. Each entry stands with its milliseconds since the first: states, messages to (->)
and from (<-) the server by type and size, prompts, cancels with origin and reason. There are no arguments, results or
other contents in it.
`,
		Args: cmd.AtMost(1),
		RunE: func(_ *cobra.Command, files []string) error {
			if len(files) == 0 {
				return exit.Wrongf("which file? mcphub call ... --trace FILE writes one")
			}
			return printTrace(f.Streams, files[0], asItIs)
		},
	}
	c.Flags().BoolVar(&asItIs, "json", false, "print the file as it is, once it has been read without fault")
	return c
}

func printTrace(s console.Streams, file string, asItIs bool) error {
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
	for line := range strings.Lines(b.String()) {
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
