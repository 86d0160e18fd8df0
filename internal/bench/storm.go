package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

const (
	stormServers = 10
	stormRate    = 500 // progress notifications a second, each server
	stormLength  = 2 * time.Second
)

// measureStorm lets ten servers send progress to a hub with a window, and in turns with that to a loop that only reads:
// ten goroutines, ten pipes. It compares the processor times.
func measureStorm(ctx context.Context, o options, f figures) error {
	names := serverNames(stormServers)
	client, err := openHub(ctx, serversJSON(o, names...), o.bin.mcphub)
	if err != nil {
		return err
	}
	defer closeHub(client)
	w, err := attach(ctx, client, false)
	if err != nil {
		return err
	}
	defer w.close()
	if err := startServers(ctx, client, names); err != nil {
		return err
	}
	var pipes []*child
	for range names {
		p, err := startChild(4096, o.bin.echo)
		if err != nil {
			return err
		}
		defer p.close()
		pipes = append(pipes, p)
	}
	if err := pause(ctx, time.Second/2); err != nil { // until the work of starting them is over
		return err
	}
	count := int(stormLength.Seconds() * stormRate)
	arguments := fmt.Sprintf(`{"count":%d,"perSecond":%d}`, count, stormRate)
	var ratios, hubs, loops []float64
	for range o.rounds {
		hub, err := processTimeOf(client.PID(), func() error {
			return all(stormServers, func(i int) error { return callTool(ctx, client.Hub, names[i], "storm", arguments) })
		})
		if err != nil {
			return err
		}
		loop, err := processTimeOf(os.Getpid(), func() error {
			return all(stormServers, func(i int) error {
				lines, err := pipes[i].drop("storm", arguments)
				if err == nil && lines != count {
					err = fmt.Errorf("%d of %d lines", lines, count)
				}
				return err
			})
		})
		if err != nil {
			return err
		}
		ratios = append(ratios, float64(hub)/float64(loop))
		hubs, loops = append(hubs, hub.Seconds()), append(loops, loop.Seconds())
	}
	share := 100 / stormLength.Seconds()
	f.put("hub CPU in a storm / a loop that reads the pipes and drops it all", median(ratios),
		"%% of a core: hub %.1f, loop %.1f; %.1f us of the hub for each event of a server", share*median(hubs),
		share*median(loops), 1e6*median(hubs)/float64(stormServers*count))
	return nil
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
