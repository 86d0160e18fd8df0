package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// journalCalls is the number of calls that fill the hub's memory of the past: the events for a window that resumes, and
// the ids of ended requests. They are made first, so that this memory is not counted as a cost of open calls.
const journalCalls = 6000

// measureMemory compares a hub without calls and with 10,000 calls in flight, and does the same with the engine alone.
func measureMemory(ctx context.Context, o options) ([]row, error) {
	var heaps, stacks, engines, floors []float64
	for range pick(o, 3, 1) {
		heap, stack, err := hubMemory(ctx, o)
		if err != nil {
			return nil, err
		}
		floor, err := grpcMemory(ctx, o)
		if err != nil {
			return nil, err
		}
		engine, err := engineMemory()
		if err != nil {
			return nil, err
		}
		heaps, stacks, engines, floors = append(heaps, heap), append(stacks, stack), append(engines, engine),
			append(floors, floor)
	}
	heap, stack := median(heaps, same), median(stacks, same)
	return []row{
		number("memory a request in flight, hub side, gRPC included", heap+stack, "KiB",
			"%.1f KiB heap, %.1f KiB stacks; %d in flight through the door; gRPC with a handler that only waits takes %.1f KiB",
			heap, stack, inFlight, median(floors, same)),
		number("memory a request in flight, hub side, beyond gRPC's own", heap+stack-median(floors, same), "KiB",
			"as long as no call of the hub outgrows the 8 KiB of stack that gRPC's handlers have").atMost(6),
		number("memory a request in flight, engine alone", median(engines, same), "KiB",
			"a call that nobody waits for: a goroutine that does is its caller's").atMost(2),
	}, nil
}

// hubMemory returns the memory of one request in KiB.
func hubMemory(ctx context.Context, o options) (heap, stacks float64, err error) {
	client, err := openHub(ctx, o, o.bin.self, []string{probedHub}, "echo")
	if err != nil {
		return 0, 0, err
	}
	defer closeHub(client)
	return hangingMemory(ctx, ctx, client, func(h *hanging) error { return h.cancelAll(ctx) })
}

// grpcMemory returns the memory in KiB of one call to a handler that only waits: the cost without any part of the hub.
func grpcMemory(ctx context.Context, o options) (float64, error) {
	client, err := openHub(ctx, o, o.bin.self, []string{bareEcho})
	if err != nil {
		return 0, err
	}
	defer closeHub(client)
	calling, giveUp := context.WithCancelCause(ctx)
	defer giveUp(errBenchOver)
	heap, stacks, err := hangingMemory(ctx, calling, client, func(h *hanging) error {
		giveUp(errBenchOver)
		h.calls.Wait()
		return nil
	})
	return heap + stacks, err
}

// hangingMemory returns the memory in KiB, heap and stacks, of one hanging call in a plugin with many of them. The
// calls are made with the context calling.
func hangingMemory(ctx, calling context.Context, client *host.Client,
	end func(*hanging) error) (heap, stacks float64, err error) {
	if err := warmUp(ctx, client); err != nil {
		return 0, 0, err
	}
	before, err := probe(ctx, client)
	if err != nil {
		return 0, 0, err
	}
	calls, err := hang(calling, client, inFlight)
	if err != nil {
		return 0, 0, err
	}
	after, probeErr := probe(ctx, client)
	if err := errors.Join(probeErr, end(calls)); err != nil {
		return 0, 0, err
	}
	each := func(a, b uint64) float64 { return (float64(a) - float64(b)) / inFlight / 1024 }
	return each(after.Heap, before.Heap), each(after.Stacks, before.Stacks), nil
}

// warmUp makes journalCalls calls, several at a time.
func warmUp(ctx context.Context, client *host.Client) error {
	s := subject{name: "warm-up", call: func(ctx context.Context) error {
		_, err := callTool(ctx, client.Hub, "echo", "echo", string(echoArguments))
		return err
	}}
	for done := 0; done < journalCalls; {
		x, err := s.run(ctx, 100*time.Millisecond, together)
		if err != nil {
			return err
		}
		done += x.calls
	}
	return nil
}

// hanging is a set of calls in flight that are never answered.
type hanging struct {
	client *host.Client
	calls  sync.WaitGroup
}

// hang begins n calls, and returns when all of them have been written to the server.
func hang(ctx context.Context, client *host.Client, n int) (*hanging, error) {
	h := &hanging{client: client}
	for range n {
		h.calls.Go(func() {
			_, _ = callTool(ctx, client.Hub, "echo", "hang", "") // ends by the cancel
		})
	}
	for {
		r, err := client.Hub.ListRequests(ctx, &mcphubv1.ListRequestsRequest{}, bigAnswers)
		if err != nil {
			return nil, err
		}
		running := 0
		for _, x := range r.GetRequests() {
			if x.GetState() == mcphubv1.RequestState_REQUEST_STATE_RUNNING && x.GetWireIdJson() != "" {
				running++
			}
		}
		if running == n {
			return h, nil
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return nil, fmt.Errorf("%d of %d calls are running: %w", running, n, err)
		}
	}
}

// cancelAll ends the calls with one CancelRequests.
func (h *hanging) cancelAll(ctx context.Context) error {
	_, err := h.client.Hub.CancelRequests(ctx, &mcphubv1.CancelRequestsRequest{
		Scope: &mcphubv1.CancelRequestsRequest_All{All: true}, Reason: "the user pressed stop",
	})
	if err == nil {
		h.calls.Wait()
	}
	return err
}

// engineMemory returns the memory in KiB of one call of a bare peer.
func engineMemory() (float64, error) {
	server := newPipeServer()
	link, err := server.open(config.Server{}, nil)(context.Background())
	if err != nil {
		return 0, err
	}
	peer := jsonrpc.NewPeer(link.Conn, jsonrpc.Options{})
	calls := make([]*jsonrpc.Call, 0, inFlight)
	before := lookNow()
	for range inFlight {
		c, err := peer.Begin("tools/call", echoArguments)
		if err != nil {
			return 0, errors.Join(err, peer.Close(errBenchOver))
		}
		calls = append(calls, c)
	}
	after := lookNow()
	runtime.KeepAlive(calls)
	err = peer.Close(errBenchOver)
	server.wait()
	return (float64(after.Heap+after.Stacks) - float64(before.Heap+before.Stacks)) / inFlight / 1024, err
}
