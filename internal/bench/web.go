package main

import (
	"context"
	"time"
)

// measureWeb measures clients over Streamable HTTP with the same server, round by round.
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
	against := func(samples map[string][]sample) float64 {
		return ratio(o.rounds, func(i int) float64 { return samples[postLoopName][i].rate / samples[goSDKName][i].rate })
	}
	return []row{
		number("POST loop / go-sdk client, sequential", against(one), "times", "what no client over net/http can pass\n%s", table(subjects, one)),
		number("POST loop / go-sdk client, 64 at once", against(many), "times", "%s", table(subjects, many)),
	}, nil
}
