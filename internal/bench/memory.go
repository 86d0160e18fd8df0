package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

const (
	// inFlight is the number of open requests in the rows about many open requests.
	inFlight = 10_000
	// journalCalls is the number of calls that fill the hub's memory of the past, such as the ids of ended requests. They
	// are made first, so that this memory is not counted as a cost of open calls.
	journalCalls = 6000
	idleServers  = 50
)

// measureMemory compares a plugin without calls and with 10,000 calls in flight: the hub, and gRPC with a handler that
// only waits. It measures hubs that have nothing to do, too.
func measureMemory(ctx context.Context, o options, f figures) error {
	var more, heaps, stacks, floors, idles []float64
	for range o.rounds {
		hub, err := hangingMemory(ctx, o, serversJSON(o, "echo"), probedHub)
		if err != nil {
			return err
		}
		floor, err := hangingMemory(ctx, o, "", bareEcho)
		if err != nil {
			return err
		}
		heaps, stacks = append(heaps, hub.heap), append(stacks, hub.stacks)
		floors = append(floors, floor.heap+floor.stacks)
		more = append(more, hub.heap+hub.stacks-floor.heap-floor.stacks)
		idle, err := idleHub(ctx, o)
		if err != nil {
			return err
		}
		idles = append(idles, idle)
	}
	// It holds as long as no call of the hub outgrows the 8 KiB of stack that gRPC's handlers have.
	f.put("memory a request in flight, beyond gRPC's own", median(more),
		"KiB: %.1f of heap and %.1f of stacks with %d in flight; gRPC with a handler that only waits takes %.1f",
		median(heaps), median(stacks), inFlight, median(floors))
	f.put("idle hub without servers, anonymous memory", median(idles), "")
	binary, err := os.Stat(o.bin.mcphub)
	if err != nil {
		return err
	}
	f.put("binary, stripped", float64(binary.Size())/1e6, "")
	return idleServerMemory(ctx, o, f)
}

// hangingMemory returns the memory of one hanging call in a plugin with many of them.
func hangingMemory(ctx context.Context, o options, config, role string) (look, error) {
	client, err := openHub(ctx, config, o.bin.self, role)
	if err != nil {
		return look{}, err
	}
	defer closeHub(client)
	warm := subject{name: "warm-up", call: func(ctx context.Context) error {
		return callTool(ctx, client.Hub, "echo", "echo", string(echoArguments))
	}}
	for done := 0; done < journalCalls; {
		calls, _, err := warm.run(ctx, turn/4, together)
		if err != nil {
			return look{}, err
		}
		done += calls
	}
	before, err := probe(ctx, client)
	if err != nil {
		return look{}, err
	}
	calling, giveUp := context.WithCancelCause(ctx)
	var calls sync.WaitGroup
	defer calls.Wait()
	defer giveUp(errBenchOver)
	for range inFlight {
		calls.Go(func() {
			_ = callTool(calling, client.Hub, "echo", "hang", "") // ends when it is given up
		})
	}
	if err := awaitRunning(ctx, client, inFlight); err != nil {
		return look{}, err
	}
	after, err := probe(ctx, client)
	return after.since(before, inFlight), err
}

// awaitRunning waits until n calls have been written to the server.
func awaitRunning(ctx context.Context, client *host.Client, n int) error {
	for {
		r, err := client.Hub.ListRequests(ctx, &mcphubv1.ListRequestsRequest{}, bigAnswers)
		if err != nil {
			return err
		}
		running := 0
		for _, x := range r.GetRequests() {
			if x.GetState() == mcphubv1.RequestState_REQUEST_STATE_RUNNING && x.GetWireIdJson() != "" {
				running++
			}
		}
		if running == n {
			return nil
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return fmt.Errorf("%d of %d calls are running: %w", running, n, err)
		}
	}
}

// idleServerMemory measures a hub with idle servers from inside.
func idleServerMemory(ctx context.Context, o options, f figures) error {
	names := serverNames(idleServers)
	client, err := openHub(ctx, serversJSON(o, names...), o.bin.self, probedHub)
	if err != nil {
		return err
	}
	defer closeHub(client)
	// The first server also pays for what is created once for all of them.
	if err := startServers(ctx, client, names[:1]); err != nil {
		return err
	}
	before, err := probe(ctx, client)
	if err != nil {
		return err
	}
	if err := startServers(ctx, client, names[1:]); err != nil {
		return err
	}
	after, err := probe(ctx, client)
	each := after.since(before, len(names)-1)
	f.put("each idle stdio server, heap of the hub", each.heap, "and %.0f KiB of stacks; mean of %d", each.stacks,
		len(names)-1)
	return err
}

// idleHub returns the memory of one hub in MiB a second after its start.
func idleHub(ctx context.Context, o options) (float64, error) {
	client, err := openHub(ctx, "", o.bin.mcphub)
	if err != nil {
		return 0, err
	}
	defer closeHub(client)
	if err := pause(ctx, time.Second); err != nil {
		return 0, err
	}
	return anonymousMiB(client.PID())
}
