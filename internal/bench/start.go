package main

import (
	"context"
	"time"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// measureStart measures the time from before the spawn until the hub has answered a call of its own service, with
// mutual TLS as always. It measures the same for an empty plugin: the cost of the door alone.
func measureStart(ctx context.Context, o options, f figures) error {
	var hubs, doors, ratios []float64
	for range 3 * o.rounds {
		hub, err := startOne(ctx, o.bin.mcphub)
		if err != nil {
			return err
		}
		door, err := startOne(ctx, o.bin.self, bareEcho)
		if err != nil {
			return err
		}
		hubs, doors, ratios = append(hubs, hub), append(doors, door), append(ratios, hub/door)
	}
	f.put("spawn -> first answer / an empty plugin behind the same door", median(ratios),
		"ms: hub %.1f, empty plugin %.1f", median(hubs), median(doors))
	return nil
}

func startOne(ctx context.Context, command string, args ...string) (ms float64, err error) {
	start := time.Now()
	client, err := openHub(ctx, "", command, args...)
	if err != nil {
		return 0, err
	}
	defer closeHub(client)
	_, err = client.Hub.GetInfo(ctx, &mcphubv1.GetInfoRequest{})
	return millis(time.Since(start)), err
}
