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

// measureWebCancel measures the time from the entry of CancelRequest until the server notices the end of the call's
// exchange. It also counts what cancelled calls leave behind. Hub and server are in this process, so that they share a
// clock.
func measureWebCancel(ctx context.Context, o options) (rows []row, err error) {
	for _, era := range []string{mcp.EraLegacy, mcp.EraModern} {
		more, err := measureWebCancelOf(ctx, o, era)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", era, err)
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

func measureWebCancelOf(ctx context.Context, o options, era string) ([]row, error) {
	server := newWebServer()
	url, stop, err := server.listen()
	if err != nil {
		return nil, err
	}
	defer stop()
	h, err := newWebHub(ctx, url, era)
	if err != nil {
		return nil, err
	}
	w, _, err := h.Attach(windows.Hello{Title: "bench"}, noSink{})
	if err != nil {
		return nil, errors.Join(err, h.Close(ctx))
	}
	samples := pick(o, 1000, 200)
	took, err := cancelWebEach(ctx, h, server, samples)
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
	return []row{
		number("HTTP, "+era+", CancelRequest -> reset seen by the server, median", median(took, millis), "ms",
			"%d cancels, one after the other, %d to %d calls in flight",
			len(took), webInFlight+samples, webInFlight).atMost(1),
		number("HTTP, "+era+", CancelRequest -> reset seen by the server, p99", percentile(took, 99, millis), "ms",
			"worst %.2f ms", percentile(took, 100, millis)),
		number(fmt.Sprintf("HTTP, %s, goroutines left after %d cancelled calls", era, webInFlight),
			float64(after.goroutines-before.goroutines), "",
			"of %d, those of kept connections not counted", before.goroutines).atMost(0),
		number(fmt.Sprintf("HTTP, %s, connections left after %d cancelled calls", era, webInFlight),
			float64(after.busy-before.busy), "",
			"of %d; %d are kept for the next call", before.busy, after.kept).atMost(0),
	}, nil
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
	for server.hanging.Load() < int64(n) {
		if err := pause(ctx, 5*time.Millisecond); err != nil {
			return nil, fmt.Errorf("%d of %d calls have reached the server: %w", server.hanging.Load(), n, err)
		}
	}
	return calls.Wait, nil
}

func cancelWebEach(ctx context.Context, h *hub.Hub, server *webServer, samples int) ([]time.Duration, error) {
	wait, err := hangWeb(ctx, h, server, webInFlight+samples)
	if err != nil {
		return nil, err
	}
	took := make([]time.Duration, 0, samples)
	for i := range samples {
		id := requestID(i * (webInFlight + samples) / samples) // spread over old and new requests
		start := time.Now()
		outcome, err := h.CancelRequest(id, "", "the user pressed stop", event.OriginUser)
		if err == nil && outcome != event.OutcomeCancelling {
			err = fmt.Errorf("cancelling %s: outcome %d", id, outcome)
		}
		if err != nil {
			return nil, err
		}
		at, err := receive(ctx, server.reset)
		if err != nil {
			return nil, err
		}
		took = append(took, at.Sub(start))
	}
	return took, endWeb(ctx, h, server, webInFlight, wait)
}

// cancelWebAll opens webInFlight calls and cancels all of them.
func cancelWebAll(ctx context.Context, h *hub.Hub, server *webServer) error {
	wait, err := hangWeb(ctx, h, server, webInFlight)
	if err != nil {
		return err
	}
	return endWeb(ctx, h, server, webInFlight, wait)
}

// endWeb cancels the n open calls, and waits until both sides have seen the ends.
func endWeb(ctx context.Context, h *hub.Hub, server *webServer, n int, wait func()) error {
	h.CancelRequests(hub.CancelScope{All: true}, "over", event.OriginHost)
	for range n {
		if _, err := receive(ctx, server.reset); err != nil {
			return err
		}
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
