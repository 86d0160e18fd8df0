package main

import (
	"encoding/json"
	"errors"

	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
	"github.com/spf13/pflag"
)

// maxTraceFile bounds what is read of a file. The hub keeps a few megabytes of timelines.
const maxTraceFile = 64 << 20

type traceOptions struct{ json bool }

func (o *traceOptions) flags() *pflag.FlagSet {
	set := newFlags("trace")
	set.BoolVar(&o.json, "json", false, "print the file as it is, once it has been read without fault")
	return set
}

// runTrace prints an exported bundle, or a GetTraceResponse, for people.
func runTrace(env environment, o traceOptions, files []string) int {
	if len(files) == 0 {
		return usageError(env, "trace", errors.New("which file? mcphub call ... --trace FILE writes one"))
	}
	text, err := readTraceFile(env, files[0])
	if err != nil {
		return usageError(env, "trace", err)
	}
	b, err := readTraces(text)
	if err != nil {
		return usageError(env, "trace", fmt.Errorf("%s: %w", files[0], err))
	}
	out := strings.TrimRight(string(text), "\n") + "\n"
	if !o.json {
		var lines strings.Builder
		for line := range strings.Lines(b.String()) {
			lines.WriteString(toRead(env.stdout, strings.TrimRight(line, "\n")))
		}
		out = lines.String()
	}
	if _, err := io.WriteString(env.stdout, out); err != nil {
		env.tell("mcphub trace: %v", err)
		return exitServer
	}
	return exitOK
}

func readTraceFile(env environment, path string) ([]byte, error) {
	in := env.stdin
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
	line := func(format string, args ...any) { out.WriteString(escape(fmt.Sprintf(format, args...)) + "\n") }
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
