package main

import (
	"context"
	"time"

	"github.com/mcphub-go/mcphub/hub/mcp"
)

// measureWeb measures sessions of both eras over Streamable HTTP, the floor and the official SDK with the same server,
// in turns within each round.
func measureWeb(ctx context.Context, o options) (rows []row, err error) {
	url, stop, err := startWeb(o)
	if err != nil {
		return nil, err
	}
	defer stop()
	var subjects []subject
	defer func() { closeAll(subjects) }()
	for _, open := range []func() (subject, error){
		func() (subject, error) { return openPostLoop(url) },
		func() (subject, error) { return openWebSession(ctx, url, legacyName, mcp.EraLegacy) },
		func() (subject, error) { return openWebSession(ctx, url, modernName, mcp.EraModern) },
		func() (subject, error) { return openWebSDK(ctx, url) },
	} {
		s, err := open()
		if err != nil {
			return nil, err
		}
		subjects = append(subjects, s)
	}
	d := pick(o, 300*time.Millisecond, 100*time.Millisecond)
	one, err := interleave(ctx, subjects, o.rounds, d, 1)
	if err != nil {
		return nil, err
	}
	many, err := interleave(ctx, subjects, o.rounds, d, together)
	if err != nil {
		return nil, err
	}
	against := func(samples map[string][]sample, engine, peer string) float64 {
		return ratio(o.rounds, func(i int) float64 { return samples[engine][i].rate / samples[peer][i].rate })
	}
	for _, engine := range []string{legacyName, modernName} {
		detail := func(samples map[string][]sample) string {
			if engine == modernName {
				return ""
			}
			return table(subjects, samples)
		}
		rows = append(rows,
			number("HTTP, "+engine+" / POST loop, sequential", against(one, engine, postLoopName), "", "%s",
				detail(one)).atLeast(0.6),
			number("HTTP, "+engine+" / POST loop, 64 at once", against(many, engine, postLoopName), "", "%s",
				detail(many)).atLeast(0.6),
			number("HTTP, "+engine+" / go-sdk client, sequential", against(one, engine, goSDKName), "times", "").atLeast(1),
			number("HTTP, "+engine+" / go-sdk client, 64 at once", against(many, engine, goSDKName), "times", "").atLeast(1),
		)
	}
	bound := ratio(o.rounds, func(i int) float64 { return one[postLoopName][i].rate / one[goSDKName][i].rate })
	return append(rows, number("POST loop / go-sdk client, sequential", bound, "times",
		"what no client over net/http can pass")), nil
}
