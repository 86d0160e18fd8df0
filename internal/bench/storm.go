package main

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/plugin/host"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

const (
	stormServers = 10
	stormRate    = 500 // progress notifications a second, each server
)

// measureStorm lets ten servers send progress. It counts the events that one attached window receives, and the
// processor time of the hub.
func measureStorm(ctx context.Context, o options) ([]row, error) {
	length := pick(o, 5*time.Second, 2*time.Second)
	names := serverNames(stormServers)
	client, err := openHub(ctx, o, o.bin.mcphub, nil, names...)
	if err != nil {
		return nil, err
	}
	defer closeHub(client)
	window, err := attach(ctx, client.Editor, nil)
	if err != nil {
		return nil, err
	}
	defer window.close()
	if err := startServers(ctx, client, names); err != nil {
		return nil, err
	}
	if err := pause(ctx, 500*time.Millisecond); err != nil { // until the work of starting them is over
		return nil, err
	}
	idle, err := processTime(client.PID())
	if err != nil {
		return nil, err
	}
	start := time.Now()
	count := int(length.Seconds() * stormRate)
	arguments := fmt.Sprintf(`{"count":%d,"perSecond":%d}`, count, stormRate)
	if err := callAll(ctx, client, names, "storm", arguments); err != nil {
		return nil, err
	}
	took := time.Since(start)
	busy, err := processTime(client.PID())
	if err != nil {
		return nil, err
	}
	if err := window.await(ctx, func(s *sightings) bool { return s.finished >= stormServers }); err != nil {
		return nil, err
	}
	floor, floorTook, err := stormFloor(ctx, o, count)
	if err != nil {
		return nil, err
	}
	window.mu.Lock()
	defer window.mu.Unlock()
	worst, total := 0.0, 0
	for _, p := range window.seen.progress {
		worst = max(worst, p.rate())
		total += p.count
	}
	sent := float64(stormServers * count)
	cpu := 100 * (busy - idle).Seconds() / took.Seconds()
	return []row{
		number("storm, events a window gets a second for a request", worst, "",
			"the busiest request; %d of %.0f events in %.1f s", total, sent, took.Seconds()).atMost(20),
		number("storm, hub CPU", cpu, "% of a core", "%.1f us for each event of a server", micros(busy-idle)/sent),
		number("storm, hub CPU / a loop that reads the pipes and drops it all",
			cpu/(100*floor.Seconds()/floorTook.Seconds()), "", "the loop takes %.1f %% of a core",
			100*floor.Seconds()/floorTook.Seconds()).atMost(1),
	}, nil
}

// callAll calls a tool of all servers at once.
func callAll(ctx context.Context, client *host.Client, servers []string, tool, arguments string) error {
	errs := make([]error, len(servers))
	var calls sync.WaitGroup
	for i, name := range servers {
		calls.Go(func() { _, errs[i] = callTool(ctx, client.Hub, name, tool, arguments) })
	}
	calls.Wait()
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("server %s: %w", servers[i], err)
		}
	}
	return nil
}

// progressCount counts the progress events of one request, as a window saw them.
type progressCount struct {
	count       int
	first, last time.Time
}

func (p *progressCount) add(now time.Time) {
	if p.count == 0 {
		p.first = now
	}
	p.count++
	p.last = now
}

// rate returns the events per second, rounded to a tenth because the arrival times jitter. The first event only marks
// the begin of the time, and the last event is not held back because the request ends: neither is counted.
func (p *progressCount) rate() float64 {
	if p.count < 3 {
		return 0
	}
	return math.Round(float64(p.count-2)/p.last.Sub(p.first).Seconds()*10) / 10
}

// progressed reports whether a message is one of those counted: any progress event, including changes of the state.
func progressed(m *mcphubv1.AttachResponse) (requestID string, ok bool) {
	p := m.GetMcpRequestProgressed()
	return p.GetRequestId(), p != nil
}
