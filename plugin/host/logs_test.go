//go:build unix

package host_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/internal/doortest"
	"github.com/mcphub-go/mcphub/plugin/handshake"
)

// TestNoPayloadStdout: what a library prints inside the hub neither blocks the hub nor reaches logs or standard error.
func TestNoPayloadStdout(t *testing.T) {
	logs, raw := newRecorder(), &lockedBuffer{}
	o := doortest.Options(t, doortest.RoleHub, handshake.EnvLog+"=debug")
	o.Logger, o.Stderr = slog.New(logs), raw
	c := doortest.Open(t, o)
	do(t, c, "print", strconv.Itoa(200<<10))
	do(t, c, "flood", strconv.Itoa(200<<10))
	if err := c.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
	if text := strings.Join(logs.messages(), "\n") + raw.String(); strings.Contains(text, "0123456789abcde") {
		t.Error("printed text reached the host's logs")
	}
}

// TestLogsArriveAtLevels: log lines keep level, message, time and attributes; other lines arrive as they are.
func TestLogsArriveAtLevels(t *testing.T) {
	logs, raw := newRecorder(), &lockedBuffer{}
	o := doortest.Options(t, doortest.RoleHub, handshake.EnvLog+"=debug")
	o.Logger, o.Stderr = slog.New(logs), raw
	c := doortest.Open(t, o)
	do(t, c, "log", "")
	do(t, c, "raw", "no log line")
	if err := c.Close(t.Context()); err != nil { // everything has been read then
		t.Errorf("Close: %v", err)
	}
	want := []string{
		`DEBUG a detail n=1`,
		`INFO a fact level=mine who=fake`,
		`WARN a worry g=map[level:inner]`,
		`ERROR a failure error=boom`,
	}
	var got []string
	for _, line := range logs.lines() {
		if strings.Contains(line, " a ") {
			got = append(got, line)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("log lines (-want +got):\n%s", diff)
	}
	if logs.untimed() {
		t.Error("a line came without its time")
	}
	if raw.String() != "no log line\n" {
		t.Errorf("raw lines %q", raw.String())
	}

	quiet := newRecorder()
	o = doortest.Options(t, doortest.RoleHub, handshake.EnvLog+"=error")
	o.Logger = slog.New(quiet)
	c = doortest.Open(t, o)
	do(t, c, "log", "")
	if err := c.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
	if diff := cmp.Diff([]string{"ERROR a failure error=boom"}, quiet.lines()); diff != "" {
		t.Errorf("log lines at level error (-want +got):\n%s", diff)
	}
}

// recorder is a log handler that keeps all records.
type recorder struct {
	mu      *sync.Mutex
	records []slog.Record // guarded by mu
}

func newRecorder() *recorder { return &recorder{mu: new(sync.Mutex)} }

func (r *recorder) Enabled(context.Context, slog.Level) bool { return true }
func (r *recorder) WithAttrs([]slog.Attr) slog.Handler       { return r }
func (r *recorder) WithGroup(string) slog.Handler            { return r }

func (r *recorder) Handle(_ context.Context, record slog.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.records = append(r.records, record)
	return nil
}

// lines renders what was logged as LEVEL message key=value.
func (r *recorder) lines() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []string
	for _, record := range r.records {
		text := record.Level.String() + " " + record.Message
		record.Attrs(func(a slog.Attr) bool {
			text += fmt.Sprintf(" %s=%v", a.Key, a.Value)
			return true
		})
		all = append(all, text)
	}
	return all
}

func (r *recorder) messages() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []string
	for _, record := range r.records {
		all = append(all, record.Message)
	}
	return all
}

func (r *recorder) untimed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.records, func(record slog.Record) bool { return record.Time.IsZero() })
}

// lockedBuffer is a buffer for two goroutines.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer // guarded by mu
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
