package matrix

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/internal/faketime"
)

// TestOverSockets_real plays the rows of the matrix again over real sockets, with servers that the config names by URL,
// and expects the same transcripts. A step ends when its part of the transcript is complete. A message too many shows
// in the next step, or at the end.
func TestOverSockets_real(t *testing.T) {
	if *update {
		t.Skip("the transcripts are written by the other tests")
	}
	for _, s := range situations(t) {
		want := golden(t, s)
		for _, b := range s.on {
			if b.transport == stdio || waits(want[b]) {
				continue
			}
			t.Run(s.name+"/"+b.name(), func(t *testing.T) {
				t.Parallel()
				c := newSocketCell(t, b, s, want[b])
				c.play(s.steps)
				c.close()
				if diff := cmp.Diff(lines(told(want[b])), lines(told(c.transcript()))); diff != "" {
					t.Errorf("the transcript differs (-golden +got):\n%s", diff)
				}
			})
		}
	}
}

// newSocketCell returns a cell with a server on the loopback interface.
func newSocketCell(t *testing.T, b binding, s situation, want string) *cell {
	c := bareCell(t, b, s)
	conns := &connections{open: map[net.Conn]struct{}{}, changed: make(chan struct{})}
	server := httptest.NewUnstartedServer(taped(c.tape, c.http))
	server.Config.ConnState = conns.note
	server.Start()
	t.Cleanup(func() {
		c.http.Close()
		server.Close()
	})
	c.url = server.URL + b.path()
	ctx, cancel := context.WithTimeoutCause(t.Context(), faketime.Long, errNothingCame)
	t.Cleanup(cancel)
	steps := stepsOf(told(want))
	c.settled = func() {
		t.Helper()
		for {
			n, text, changed := c.tape.current()
			text = c.plain(text)
			if n == 0 || n <= len(steps) && told(text) == steps[n-1] {
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
				t.Fatalf("%v:\n%s\nand is\n%s", context.Cause(ctx), strings.Join(steps[min(n, len(steps))-1:min(n, len(steps))],
					""), text)
			}
		}
	}
	c.idle = func(time.Duration) { c.settled() }
	c.gone = func() { conns.wait(ctx, t) }
	return c
}

// told returns a transcript in which a delivery that became known later in the same step is written into the terminal
// event. The hub waits a tenth of a second for the delivery before it reports that the request has ended, and on a busy
// machine the delivery may come later than that.
func told(text string) string {
	steps := stepsOf(text)
	for i, step := range steps {
		for _, later := range laterDelivery.FindAllStringSubmatch(step, -1) {
			over := regexp.MustCompile(`(?m)^(window: ` + regexp.QuoteMeta(later[1]) + ` is cancelled: .*), pending, (.*)$`)
			if over.MatchString(step) {
				step = over.ReplaceAllString(strings.Replace(step, later[0], "", 1), "${1}, "+later[2]+", ${2}")
			}
		}
		steps[i] = step
	}
	return strings.Join(steps, "")
}

var laterDelivery = regexp.MustCompile(`(?m)^window: the cancel of (\S+) is (delivered|not needed)\n`)

// waits reports whether a cell takes longer than a few seconds: many of them pass, and something happens in the
// meantime or later.
func waits(transcript string) bool {
	long := false
	for _, step := range stepsOf(transcript) {
		title, what, _ := strings.Cut(step, "\n")
		d, err := time.ParseDuration(strings.TrimPrefix(title, "# after "))
		long = long || err == nil && d > 5*time.Second
		if long && (what != "" || err != nil) && title != "# the hub ends" {
			return true
		}
	}
	return false
}

// stepsOf splits a transcript into its steps.
func stepsOf(text string) (steps []string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "# ") {
			steps = append(steps, "")
		}
		steps[len(steps)-1] += line
	}
	return steps
}

// connections are the open connections of a server.
type connections struct {
	mu      sync.Mutex // guards what follows
	open    map[net.Conn]struct{}
	changed chan struct{} // closed and replaced with every change
}

func (c *connections) note(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		c.open[conn] = struct{}{}
	case http.StateClosed, http.StateHijacked:
		delete(c.open, conn)
	}
	close(c.changed)
	c.changed = make(chan struct{})
}

func (c *connections) wait(ctx context.Context, t *testing.T) {
	t.Helper()
	for {
		c.mu.Lock()
		n, changed := len(c.open), c.changed
		c.mu.Unlock()
		if n == 0 {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("%d connections are open after the end of the hub", n)
		}
	}
}
