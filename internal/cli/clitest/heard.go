package clitest

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/internal/faketime"
)

// Heard keeps what a command writes, so that a test can wait for it. Safe for concurrent use.
type Heard struct {
	// mu guards what follows.
	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{}
}

// Write keeps what is written.
func (h *Heard) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.changed != nil {
		close(h.changed)
		h.changed = nil
	}
	return h.text.Write(b)
}

// Now returns what was written so far, and a channel that is closed at the next write.
func (h *Heard) Now() (string, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.changed == nil {
		h.changed = make(chan struct{})
	}
	return h.text.String(), h.changed
}

func (h *Heard) String() string {
	s, _ := h.Now()
	return s
}

// Await waits until want was written.
func (h *Heard) Await(t *testing.T, want string) {
	t.Helper()
	h.Line(t, want, func(line string) bool { return strings.Contains(line, want) })
}

// Line waits for a line that fits, which may have no end yet, and returns the first one.
func (h *Heard) Line(t *testing.T, what string, fits func(line string) bool) string {
	t.Helper()
	bound := time.After(faketime.Long)
	for {
		s, changed := h.Now()
		for line := range strings.Lines(s) {
			if fits(line) {
				return line
			}
		}
		select {
		case <-changed:
		case <-bound:
			t.Fatalf("it did not say %q but:\n%s", what, s)
		}
	}
}

// First waits for the first line.
func (h *Heard) First(t *testing.T) string {
	t.Helper()
	line := h.Line(t, "a line", func(line string) bool { return strings.HasSuffix(line, "\n") })
	return strings.TrimSuffix(line, "\n")
}

// Eventually calls f again and again until it returns true. It is for what no output shows.
func Eventually(ctx context.Context, what string, f func() (bool, error)) error {
	for {
		ok, err := f()
		if ok || err != nil {
			return err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("%s did not come true: %w", what, context.Cause(ctx))
		}
	}
}

// Row returns the line of a table that begins with a name.
func Row(t *testing.T, table, name string) string {
	t.Helper()
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, name+" ") {
			return line
		}
	}
	t.Errorf("no row %s in:\n%s", name, table)
	return ""
}
