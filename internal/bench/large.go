package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/plugin/host"
)

// largeSize is slightly less than the longest line that a hub reads by default.
const largeSize = 60 << 20

// largeText returns the result of the tool large.
var largeText = sync.OnceValue(func() string {
	return `{"content":[{"type":"text","text":"` + strings.Repeat("x", largeSize) + `"}],"isError":false}`
})

// measureLarge measures the processor time for one large result, from a server's pipe onwards. It counts the hub's own
// part: it subtracts the time that gRPC needs for the same message behind the same interceptors, and the time for
// reading the same bytes from a pipe.
func measureLarge(ctx context.Context, o options, f figures) error {
	hub, err := openHub(ctx, serversJSON(o, "echo"), o.bin.mcphub)
	if err != nil {
		return err
	}
	defer closeHub(hub)
	door, err := openHub(ctx, "", o.bin.self, guardedEcho)
	if err != nil {
		return err
	}
	defer closeHub(door)
	pipe, err := startChild(largeSize+1024, o.bin.echo)
	if err != nil {
		return err
	}
	defer pipe.close()
	arguments := fmt.Sprintf(`{"count":%d}`, largeSize)
	through := func(client *host.Client) func() (time.Duration, error) {
		var before time.Duration
		return func() (time.Duration, error) {
			if err := callTool(ctx, client.Hub, "echo", "large", arguments, bigAnswers); err != nil {
				return 0, err
			}
			// since the last call: what the collector does behind a call belongs to it
			now, err := processTime(client.PID())
			took := now - before
			before = now
			return took, err
		}
	}
	ways := []func() (time.Duration, error){through(hub), through(door), func() (time.Duration, error) {
		return processTimeOf(os.Getpid(), func() error {
			_, err := pipe.drop("large", arguments)
			return err
		})
	}}
	var times [3][]float64
	var rates []float64
	for round := range o.rounds + 1 {
		var took [3]time.Duration
		for i, way := range ways {
			if took[i], err = way(); err != nil {
				return err
			}
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
	return nil
}
