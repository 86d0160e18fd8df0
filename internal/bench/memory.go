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
func measureMemory(ctx context.Context, o options, f figures) {
	var more, heaps, stacks, floors, idles []float64
	for range o.rounds {
		hub := hangingMemory(ctx, o, serversJSON(o, "echo"), probedHub)
		floor := hangingMemory(ctx, o, "", bareEcho)
		heaps, stacks = append(heaps, hub.heap), append(stacks, hub.stacks)
		floors = append(floors, floor.heap+floor.stacks)
		more = append(more, hub.heap+hub.stacks-floor.heap-floor.stacks)
		idles = append(idles, idleHub(ctx, o))
	}
	// It holds as long as no call of the hub outgrows the 8 KiB of stack that gRPC's handlers have.
	f.put("memory a request in flight, beyond gRPC's own", median(more),
		"KiB: %.1f of heap and %.1f of stacks with %d in flight; gRPC with a handler that only waits takes %.1f",
		median(heaps), median(stacks), inFlight, median(floors))
	f.put("idle hub without servers, anonymous memory", median(idles), "")
	binary := got(os.Stat(o.bin.mcphub))
	f.put("binary, stripped", float64(binary.Size())/1e6, "")
	idleServerMemory(ctx, o, f)
}

// hangingMemory returns the memory of one hanging call in a plugin with many of them.
func hangingMemory(ctx context.Context, o options, config, role string) look {
	client := got(openHub(ctx, config, o.bin.self, role))
	defer closeHub(client)
	warm := subject{name: "warm-up", call: func(ctx context.Context) error {
		return callTool(ctx, client.Hub, "echo", "echo", string(echoArguments))
	}}
	for done := 0; done < journalCalls; {
		calls, _, err := warm.run(ctx, turn/4, together)
		must(err)
		done += calls
	}
	before := got(probe(ctx, client))
	calling, giveUp := context.WithCancelCause(ctx)
	var calls sync.WaitGroup
	defer calls.Wait()
	defer giveUp(errBenchOver)
	for range inFlight {
		calls.Go(func() {
			_ = callTool(calling, client.Hub, "echo", "hang", "") // ends when it is given up
		})
	}
	awaitRunning(ctx, client, inFlight)
	return got(probe(ctx, client)).since(before, inFlight)
}

// awaitRunning waits until n calls have been written to the server.
func awaitRunning(ctx context.Context, client *host.Client, n int) {
	for {
		r := got(client.Hub.ListRequests(ctx, &mcphubv1.ListRequestsRequest{}))
		running := 0
		for _, x := range r.GetRequests() {
			if x.GetState() == mcphubv1.RequestState_REQUEST_STATE_RUNNING && x.GetWireIdJson() != "" {
				running++
			}
		}
		if running == n {
			return
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			must(fmt.Errorf("%d of %d calls are running: %w", running, n, err))
		}
	}
}

// idleServerMemory measures a hub with idle servers from inside.
func idleServerMemory(ctx context.Context, o options, f figures) {
	names := serverNames(idleServers)
	client := got(openHub(ctx, serversJSON(o, names...), o.bin.self, probedHub))
	defer closeHub(client)
	// The first server also pays for what is created once for all of them.
	must(startServers(ctx, client, names[:1]))
	before := got(probe(ctx, client))
	must(startServers(ctx, client, names[1:]))
	each := got(probe(ctx, client)).since(before, len(names)-1)
	f.put("each idle stdio server, heap of the hub", each.heap, "and %.0f KiB of stacks; mean of %d", each.stacks,
		len(names)-1)
}

// idleHub returns the memory of one hub in MiB a second after its start.
func idleHub(ctx context.Context, o options) float64 {
	client := got(openHub(ctx, "", o.bin.mcphub))
	defer closeHub(client)
	must(pause(ctx, time.Second))
	return got(anonymousMiB(client.PID()))
}
