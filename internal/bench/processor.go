package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// measureCore measures how fast the core alone applies the events of calls that nobody is asked about, beside a
// thousand open ones, on one goroutine. The effects are read and dropped.
func measureCore(_ context.Context, o options, f figures) {
	const calls = 100_000
	var rates []float64
	effects := 0
	for range o.rounds {
		var kinds event.Kinds
		kinds.Add(event.PromptToolApproval, false)
		s, applied, now := core.New("bench"), 0, time.Now()
		apply := func(e core.Event) core.RequestNumber {
			applied++
			var opened core.RequestNumber
			for _, effect := range s.Apply(now, e) {
				effects++
				if o, ok := effect.(core.RequestOpened); ok {
					opened = o.Request
				}
			}
			return opened
		}
		made := core.RequestMade{Prefix: "call", Server: 1, Call: true, Idle: time.Minute, Total: time.Hour}
		apply(core.WindowShows{Window: "w", Shows: kinds})
		for range 1000 {
			apply(made)
		}
		begun := time.Now()
		applied = 0
		for range calls {
			n := apply(made)
			apply(core.Looked{Request: n, Up: true})
			apply(core.Sent{Request: n, WireID: "7"})
			apply(core.Progressed{Request: n, Shown: true})
			apply(core.CallOver{Request: n})
		}
		rates = append(rates, float64(applied)/time.Since(begun).Seconds())
		if s.Len() != 1000 {
			must(fmt.Errorf("%d requests are open, want 1000", s.Len()))
		}
	}
	f.put("events that the core alone applies a second", median(rates), "%d effects in %d rounds", effects, o.rounds)
}

// largeSize is slightly less than the longest line that a hub reads by default.
const largeSize = 60 << 20

// largeText returns the result of the tool large.
var largeText = sync.OnceValue(func() string {
	return `{"content":[{"type":"text","text":"` + strings.Repeat("x", largeSize) + `"}],"isError":false}`
})

// measureLarge measures the processor time for one large result, from a server's pipe onwards. It counts the hub's own
// part: it subtracts the time that gRPC needs for the same message behind the same interceptors, and the time for
// reading the same bytes from a pipe.
func measureLarge(ctx context.Context, o options, f figures) {
	hub := got(openHub(ctx, serversJSON(o, "echo"), o.bin.mcphub))
	defer closeHub(hub)
	door := got(openHub(ctx, "", o.bin.self, guardedEcho))
	defer closeHub(door)
	pipe := got(startChild(largeSize+1024, o.bin.echo))
	defer pipe.close()
	arguments := fmt.Sprintf(`{"count":%d}`, largeSize)
	through := func(client *host.Client) func() time.Duration {
		var before time.Duration
		return func() time.Duration {
			must(callTool(ctx, client.Hub, "echo", "large", arguments))
			// since the last call: what the collector does behind a call belongs to it
			now := got(processTime(client.PID()))
			took := now - before
			before = now
			return took
		}
	}
	ways := []func() time.Duration{through(hub), through(door), func() time.Duration {
		return processTimeOf(os.Getpid(), func() { got(pipe.drop("large", arguments)) })
	}}
	var times [3][]float64
	var rates []float64
	for round := range o.rounds + 1 {
		var took [3]time.Duration
		for i, way := range ways {
			took[i] = way()
		}
		if round == 0 {
			continue // it warms up
		}
		for i := range took {
			times[i] = append(times[i], millis(took[i]))
		}
		rates = append(rates, largeSize/1e6/max(took[0]-took[1]-took[2], time.Millisecond).Seconds())
	}
	f.put("a result of 60 MiB from stdio to the host, ours together", median(rates),
		"ms of hub CPU: %.0f, of which gRPC takes %.0f and the pipe %.0f", median(times[0]), median(times[1]),
		median(times[2]))
}

const (
	stormServers = 10
	stormRate    = 500 // progress notifications a second, each server
	stormLength  = 2 * time.Second
)

// measureStorm lets ten servers send progress to a hub with a window, and in turns with that to a loop that only reads:
// ten goroutines, ten pipes. It compares the processor times.
func measureStorm(ctx context.Context, o options, f figures) {
	names := serverNames(stormServers)
	client := got(openHub(ctx, serversJSON(o, names...), o.bin.mcphub))
	defer closeHub(client)
	w := got(attach(ctx, client, false))
	defer w.close()
	must(startServers(ctx, client, names))
	var pipes []*child
	for range names {
		p := got(startChild(4096, o.bin.echo))
		defer p.close()
		pipes = append(pipes, p)
	}
	must(pause(ctx, time.Second/2)) // until the work of starting them is over
	count := int(stormLength.Seconds() * stormRate)
	arguments := fmt.Sprintf(`{"count":%d,"perSecond":%d}`, count, stormRate)
	var ratios, hubs, loops []float64
	for range o.rounds {
		hub := processTimeOf(client.PID(), func() {
			must(all(stormServers, func(i int) error { return callTool(ctx, client.Hub, names[i], "storm", arguments) }))
		})
		loop := processTimeOf(os.Getpid(), func() {
			must(all(stormServers, func(i int) error {
				lines, err := pipes[i].drop("storm", arguments)
				if err == nil && lines != count {
					err = fmt.Errorf("%d of %d lines", lines, count)
				}
				return err
			}))
		})
		ratios = append(ratios, float64(hub)/float64(loop))
		hubs, loops = append(hubs, hub.Seconds()), append(loops, loop.Seconds())
	}
	share := 100 / stormLength.Seconds()
	f.put("hub CPU in a storm / a loop that reads the pipes and drops it all", median(ratios),
		"%% of a core: hub %.1f, loop %.1f; %.1f us of the hub for each event of a server", share*median(hubs),
		share*median(loops), 1e6*median(hubs)/float64(stormServers*count))
}

// all does something n times at once, and joins the errors.
func all(n int, do func(i int) error) error {
	errs := make([]error, n)
	var running sync.WaitGroup
	for i := range n {
		running.Go(func() { errs[i] = do(i) })
	}
	running.Wait()
	return errors.Join(errs...)
}

// measureStart measures the time from before the spawn until the hub has answered a call of its own service, with
// mutual TLS as always. It measures the same for an empty plugin: the cost of the door alone.
func measureStart(ctx context.Context, o options, f figures) {
	var hubs, doors, ratios []float64
	for range 3 * o.rounds {
		hub := startOne(ctx, o.bin.mcphub)
		door := startOne(ctx, o.bin.self, bareEcho)
		hubs, doors, ratios = append(hubs, hub), append(doors, door), append(ratios, hub/door)
	}
	f.put("spawn -> first answer / an empty plugin behind the same door", median(ratios),
		"ms: hub %.1f, empty plugin %.1f", median(hubs), median(doors))
}

func startOne(ctx context.Context, command string, args ...string) (ms float64) {
	start := time.Now()
	client := got(openHub(ctx, "", command, args...))
	defer closeHub(client)
	got(client.Hub.GetInfo(ctx, &mcphubv1.GetInfoRequest{}))
	return millis(time.Since(start))
}
