package plugin

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/internal/faketime"
)

// TestLogShape: a Go host takes @level, @message and @timestamp for strings without looking, and would panic on others.
func TestLogShape(t *testing.T) {
	var out bytes.Buffer
	l := newLogger(&out, slog.LevelDebug)
	l.Debug("one", "n", 1)
	l.Log(t.Context(), slog.LevelInfo+2, "two", "level", 7, "time", time.Unix(0, 0), "@level", 1, "@message", true,
		"@timestamp", nil)
	l.With("who", "me").WithGroup("g").Warn("three", "msg", 3, "@level", "x")
	l.Error("four \"quoted\"\nline")
	wantLevels := []string{"debug", "info", "warn", "error"}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != len(wantLevels) {
		t.Fatalf("%d lines, want %d:\n%s", len(lines), len(wantLevels), out.String())
	}
	for i, line := range lines {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		for _, key := range []string{"@level", "@message", "@timestamp"} {
			if _, ok := fields[key].(string); !ok {
				t.Errorf("%s is %T in %s", key, fields[key], line)
			}
		}
		if fields["@level"] != wantLevels[i] {
			t.Errorf("level %v, want %s: %s", fields["@level"], wantLevels[i], line)
		}
		if at, _ := fields["@timestamp"].(string); !validTime(at) {
			t.Errorf("timestamp %q", at)
		}
	}
}

func validTime(s string) bool {
	_, err := time.Parse(logTime, s)
	return err == nil
}

func TestLogLevel(t *testing.T) {
	for value, want := range map[string]slog.Level{
		"": slog.LevelInfo, "debug": slog.LevelDebug, "WARN": slog.LevelWarn, "error": slog.LevelError, "off": levelOff,
		"loud": slog.LevelInfo,
	} {
		got, problem := logLevel(value)
		if got != want || (problem != "") != (value == "loud") {
			t.Errorf("%q: %v, %q; want %v", value, got, problem, want)
		}
	}
}

// TestLogWriterNeverBlocks: a host that does not read its pipe blocks no logger; once it reads, it gets the number of
// the lost lines.
func TestLogWriterNeverBlocks(t *testing.T) {
	r, out := io.Pipe() // nobody reads: the first write hangs
	w := newLogWriter(out)
	line := []byte(strings.Repeat("x", 1023) + "\n")
	const lines = 2 * maxLogBacklog / 1024
	for range lines {
		if n, err := w.Write(line); n != len(line) || err != nil {
			t.Fatal(n, err)
		}
	}
	w.flush(time.Millisecond) // gives up rather than hang

	// The host reads again: everything that was kept, then the count.
	read := make(chan string)
	go func() {
		var all bytes.Buffer
		_, _ = io.Copy(&all, r)
		read <- all.String()
	}()
	w.flush(faketime.Long)
	_ = out.Close()
	got := strings.Split(strings.TrimSuffix(<-read, "\n"), "\n")
	var report struct {
		Level   string `json:"@level"`
		Dropped int    `json:"dropped"`
	}
	if err := json.Unmarshal([]byte(got[len(got)-1]), &report); err != nil {
		t.Fatalf("last line %.100q: %v", got[len(got)-1], err)
	}
	if kept := len(got) - 1; kept != maxLogBacklog/1024 || report.Dropped != lines-kept || report.Level != "warn" {
		t.Errorf("kept %d, dropped %d, level %q; of %d lines", kept, report.Dropped, report.Level, lines)
	}
}
