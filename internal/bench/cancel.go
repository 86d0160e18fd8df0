package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/windows"
)

// inFlight is the number of open requests in the rows about many open requests.
const inFlight = 10_000

// discardLog returns a logger that formats each line at the default level, as a hub does, and discards it.
func discardLog() *slog.Logger { return slog.New(slog.NewJSONHandler(io.Discard, nil)) }

// measureCancel measures the time from the entry of CancelRequest until write(2) has put the notification into the
// server's pipe.
func measureCancel(ctx context.Context, o options) ([]row, error) {
	server := newPipeServer()
	h, err := newLocalHub(ctx, server)
	if err != nil {
		return nil, err
	}
	// without a window, the hub has no receiver for its events
	w, _, err := h.Attach(windows.Hello{Title: "bench"}, noSink{})
	if err != nil {
		return nil, errors.Join(err, h.Close(ctx))
	}
	samples := pick(o, 5000, 1000)
	var calls sync.WaitGroup
	for i := range inFlight + samples {
		calls.Go(func() {
			// ends by the cancel
			_, _ = h.CallTool(ctx, hub.CallRequest{ID: requestID(i), Server: "pipe", Tool: "hang",
				Arguments: string(echoArguments)})
		})
	}
	took, err := cancelEach(ctx, h, server, samples)
	h.CancelRequests(hub.CancelScope{All: true}, "over", event.OriginHost)
	calls.Wait()
	w.Detach(true)
	err = errors.Join(err, h.Close(ctx))
	server.wait()
	if err != nil {
		return nil, err
	}
	return []row{
		number("CancelRequest -> notification in the server's pipe, median", median(took, micros), "us",
			"%d cancels, one after the other, %d to %d requests in flight",
			len(took), inFlight+samples, inFlight).atMost(100),
		number("CancelRequest -> notification in the server's pipe, p99", percentile(took, 99, micros), "us",
			"p99.9 %.0f us, worst %.0f us",
			percentile(took, 99.9, micros), percentile(took, 100, micros)).atMost(1000),
	}, nil
}

func requestID(i int) string { return fmt.Sprintf("bench-%d", i) }

func cancelEach(ctx context.Context, h *hub.Hub, server *pipeServer, samples int) ([]time.Duration, error) {
	if err := awaitRunning(ctx, h, inFlight+samples); err != nil {
		return nil, err
	}
	took := make([]time.Duration, 0, samples)
	for i := range samples {
		id := requestID(i * (inFlight + samples) / samples) // spread over old and new requests
		start := time.Now()
		outcome, err := h.CancelRequest(id, "", "the user pressed stop", event.OriginUser)
		if err == nil && outcome != event.OutcomeCancelling {
			err = fmt.Errorf("cancelling %s: outcome %d", id, outcome)
		}
		if err != nil {
			return nil, err
		}
		at, err := receive(ctx, server.written)
		if err != nil {
			return nil, err
		}
		took = append(took, at.Sub(start))
	}
	return took, nil
}

// awaitRunning waits until n requests are on the wire.
func awaitRunning(ctx context.Context, h *hub.Hub, n int) error {
	for {
		running := 0
		for _, r := range h.Requests("") {
			if r.State == event.StateRunning && r.WireID != "" {
				running++
			}
		}
		if running == n {
			return nil
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return fmt.Errorf("%d of %d requests are running: %w", running, n, err)
		}
	}
}

// noSink is a window that ignores its events.
type noSink struct{}

func (noSink) Deliver(event.Event) {}
func (noSink) Closed(*event.Error) {}
