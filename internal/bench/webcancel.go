package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/transport"
	"github.com/mcphub-go/mcphub/hub/windows"
)

// webInFlight is the number of open calls over HTTP in the rows about many open calls.
const webInFlight = 1000

// webCancel is one way of a cancel over HTTP: by era, and by what the server sends before its answer. What the server
// must notice is the notification in the legacy era, and the end of the call's exchange in the modern one.
type webCancel struct {
	era   string
	early bool // the server sends the headers of an answer at once
}

var webCancels = []webCancel{{mcp.EraLegacy, true}, {mcp.EraLegacy, false}, {mcp.EraModern, true},
	{mcp.EraModern, false}}

func (c webCancel) String() string {
	if c.early {
		return "HTTP, " + c.era + ", headers at once"
	}
	return "HTTP, " + c.era + ", headers with the answer"
}

// arrives says what the server notices.
func (c webCancel) arrives() string {
	if c.era == mcp.EraLegacy {
		return "notification read by the server"
	}
	return "reset seen by the server"
}

// measureWebCancel measures the time from the entry of CancelRequest until the server notices the cancel. It also
// counts what cancelled calls leave behind. Hub and server are in this process, so that they share a clock.
func measureWebCancel(ctx context.Context, o options) (rows []row, err error) {
	for _, c := range webCancels {
		more, err := c.measure(ctx, o)
		if err != nil {
			return rows, fmt.Errorf("%s: %w", c, err)
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

func (c webCancel) measure(ctx context.Context, o options) ([]row, error) {
	server := newWebServer()
	server.early = c.early
	url, stop, err := server.listen()
	if err != nil {
		return nil, err
	}
	defer stop()
	h, err := newWebHub(ctx, url, c.era)
	if err != nil {
		return nil, err
	}
	w, _, err := h.Attach(windows.Hello{Title: "bench"}, noSink{})
	if err != nil {
		return nil, errors.Join(err, h.Close(ctx))
	}
	samples := pick(o, 1000, 200)
	took, closed, err := c.cancelEach(ctx, h, server, samples)
	var before, after webLook
	if err == nil {
		before, err = settledWeb(ctx, server, webLook{})
	}
	if err == nil {
		err = cancelWebAll(ctx, h, server)
	}
	if err == nil {
		after, err = settledWeb(ctx, server, before)
	}
	w.Detach(true)
	if err = errors.Join(err, h.Close(ctx)); err != nil {
		return nil, err
	}
	rows := []row{
		number(fmt.Sprintf("%s, CancelRequest -> %s, median", c, c.arrives()), median(took, millis), "ms",
			"%d cancels, one after the other, %d to %d calls in flight; p99 %.2f ms, worst %.2f ms",
			len(took), webInFlight+samples, webInFlight, percentile(took, 99, millis),
			percentile(took, 100, millis)).atMost(1),
	}
	if c.era == mcp.EraLegacy {
		rows = append(rows, number(fmt.Sprintf("%s, CancelRequest -> the call's stream is closed", c),
			median(closed, millis), "ms",
			"median of %d; without headers it stays open for a second, to tell what became of the cancel (docs/adr/0027)",
			len(closed)))
	}
	return append(rows,
		number(fmt.Sprintf("%s, goroutines left after %d cancelled calls", c, webInFlight),
			float64(after.goroutines-before.goroutines), "",
			"of %d, those of kept connections not counted", before.goroutines).atMost(0),
		number(fmt.Sprintf("%s, connections left after %d cancelled calls", c, webInFlight),
			float64(after.busy-before.busy), "",
			"of %d; %d are kept for the next call", before.busy, after.kept).atMost(0)), nil
}

// newWebHub returns a hub in this process whose only server is the web server.
func newWebHub(ctx context.Context, url, era string) (*hub.Hub, error) {
	h := hub.New(hub.Options{Version: "bench", Logger: discardLog(), Open: func(config.Server, func(string)) mcp.Opener {
		return mcp.HTTP(transport.HTTPOptions{URL: url})
	}})
	_, problems, _,
		err := h.LoadConfig(ctx, []hub.ConfigSource{{Scope: "host", Path: "bench.json",
		JSON: `{"mcpServers":{"web":{"command":"web","era":"` + era + `","alwaysAllow":["*"]}}}`}})
	if err == nil && len(problems) > 0 {
		err = fmt.Errorf("the config has problems: %v", problems)
	}
	if err != nil {
		return nil, errors.Join(err, h.Close(ctx))
	}
	return h, nil
}

// hangWeb begins n calls that end only by a cancel, and returns when the server has received all of them. wait returns
// when they have ended.
func hangWeb(ctx context.Context, h *hub.Hub, server *webServer, n int) (wait func(), err error) {
	var calls sync.WaitGroup
	for i := range n {
		calls.Go(func() {
			// ends by the cancel
			_, _ = h.CallTool(ctx, hub.CallRequest{ID: requestID(i), Server: "web", Tool: "hang",
				Arguments: string(echoArguments)})
		})
	}
	return calls.Wait, awaitHanging(ctx, server, n)
}

// awaitHanging waits until the server has n open calls.
func awaitHanging(ctx context.Context, server *webServer, n int) error {
	for server.hanging.Load() != int64(n) {
		if err := pause(ctx, 5*time.Millisecond); err != nil {
			return fmt.Errorf("the server has %d open calls, not %d: %w", server.hanging.Load(), n, err)
		}
	}
	return nil
}

// cancelEach cancels samples calls, one after the other. It returns the times until the server noticed, and, for the
// legacy era, those until the streams of the calls were closed. It waits for the end of one stream after the other if
// that comes at once, and otherwise for that of the last one.
func (c webCancel) cancelEach(ctx context.Context, h *hub.Hub, server *webServer,
	samples int) (took, closed []time.Duration, err error) {
	wait, err := hangWeb(ctx, h, server, webInFlight+samples)
	if err != nil {
		return nil, nil, err
	}
	// A cancel of a call without headers that is younger than a second waits: it could overtake its call.
	if err := pause(ctx, 1200*time.Millisecond); err != nil {
		return nil, nil, err
	}
	var start time.Time
	for i := range samples {
		id := requestID(i * (webInFlight + samples) / samples) // spread over old and new requests
		start = time.Now()
		outcome, err := h.CancelRequest(id, "", "the user pressed stop", event.OriginUser)
		if err == nil && outcome != event.OutcomeCancelling {
			err = fmt.Errorf("cancelling %s: outcome %d", id, outcome)
		}
		if err != nil {
			return nil, nil, err
		}
		noticed := server.reset
		if c.era == mcp.EraLegacy {
			noticed = server.cancelled
		}
		at, err := receive(ctx, noticed)
		if err != nil {
			return nil, nil, err
		}
		took = append(took, at.Sub(start))
		if c.era == mcp.EraLegacy && c.early {
			if at, err = receive(ctx, server.reset); err != nil {
				return nil, nil, err
			}
			closed = append(closed, at.Sub(start))
		}
	}
	if err := awaitHanging(ctx, server, webInFlight); err != nil {
		return nil, nil, err
	}
	if closed == nil {
		var last time.Time
		for len(server.reset) > 0 {
			last = <-server.reset
		}
		closed = append(closed, last.Sub(start))
	}
	return took, closed, endWeb(ctx, h, server, wait)
}

// cancelWebAll opens webInFlight calls and cancels all of them.
func cancelWebAll(ctx context.Context, h *hub.Hub, server *webServer) error {
	wait, err := hangWeb(ctx, h, server, webInFlight)
	if err != nil {
		return err
	}
	return endWeb(ctx, h, server, wait)
}

// endWeb cancels the open calls, and waits until both sides have seen the ends.
func endWeb(ctx context.Context, h *hub.Hub, server *webServer, wait func()) error {
	h.CancelRequests(hub.CancelScope{All: true}, "over", event.OriginHost)
	if err := awaitHanging(ctx, server, 0); err != nil {
		return err
	}
	wait()
	return nil
}

// webLook counts what a cancel could leak. A connection kept for the next call has three goroutines, two of the client
// and one of the server; those are not counted.
type webLook struct{ goroutines, busy, kept int }

// settledWeb returns a look once no value is above before, or the values no longer change.
func settledWeb(ctx context.Context, server *webServer, before webLook) (last webLook, err error) {
	for still := 0; still < 20; {
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return webLook{}, err
		}
		busy, kept := server.connections()
		now := webLook{runtime.NumGoroutine() - 3*kept, busy, kept}
		if now == last {
			still++
		} else {
			still = 0
		}
		last = now
		if now.goroutines <= before.goroutines && now.busy <= before.busy {
			break
		}
	}
	return last, nil
}
