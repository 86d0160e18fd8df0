package main

import (
	"context"
	"time"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// measureStart measures the time from before the spawn until the hub has answered a call of its own service. It
// measures the same for an empty plugin: the cost of the door alone.
func measureStart(ctx context.Context, o options) ([]row, error) {
	var real, bare []time.Duration
	for range 3 * o.rounds {
		took, err := startOne(ctx, o, o.bin.mcphub)
		if err != nil {
			return nil, err
		}
		real = append(real, took)
		if took, err = startOne(ctx, o, o.bin.self, bareEcho); err != nil {
			return nil, err
		}
		bare = append(bare, took)
	}
	each := func(i int) float64 { return float64(real[i]) / float64(bare[i]) }
	return []row{
		number("spawn -> first answer / an empty plugin behind the same door", ratio(len(real), each), "", "").atMost(1.05),
		number("spawn -> first answer, AutoMTLS, Go host, median", median(real, millis), "ms",
			"best %.1f ms, worst %.1f ms of %d; an empty plugin behind the same door: %.1f ms",
			percentile(real, 0, millis), percentile(real, 100, millis), len(real), median(bare, millis)),
	}, nil
}

func startOne(ctx context.Context, o options, command string, args ...string) (time.Duration, error) {
	start := time.Now()
	client, err := openHub(ctx, o, command, args)
	if err != nil {
		return 0, err
	}
	defer closeHub(client)
	if len(args) == 0 {
		_, err = client.Hub.GetInfo(ctx, &mcphubv1.GetInfoRequest{})
	} else {
		_, err = client.Hub.CallTool(ctx, &mcphubv1.CallToolRequest{})
	}
	return time.Since(start), err
}
