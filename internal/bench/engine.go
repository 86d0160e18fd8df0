package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// together is the number of calls in flight at once in the rows with several calls.
const together = 64

// measureEngine measures the engine, the session on top of it, the floor and the peers with the same server, in turns
// within each round.
func measureEngine(ctx context.Context, o options) (rows []row, err error) {
	var subjects []subject
	defer func() { closeAll(subjects) }()
	for _, open := range []func() (subject, error){
		func() (subject, error) { return openByteLoop(o, floorName) },
		func() (subject, error) { return openByteLoop(o, batchedName) },
		func() (subject, error) { return openEngine(o) },
		func() (subject, error) { return openSession(ctx, o) },
		func() (subject, error) { return openGoSDK(ctx, o) },
		func() (subject, error) { return openMcpGo(ctx, o) },
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
	against := func(samples map[string][]sample, peer string) float64 {
		return ratio(o.rounds, func(i int) float64 { return samples[engineName][i].rate / samples[peer][i].rate })
	}
	allocs := func(s sample) float64 { return s.allocs }
	bytes := func(s sample) float64 { return s.bytes / 1024 }
	return []row{
		number("engine / byte loop, sequential", against(one, floorName), "", "%s", table(subjects, one)).atLeast(0.3),
		number("engine / byte loop, 64 at once", against(many, floorName), "", "%s", table(subjects, many)).atLeast(0.25),
		number("engine / batched byte loop, 64 at once", against(many, batchedName), "",
			"what is written at once here is one write a call above"),
		number("engine / go-sdk client, sequential", against(one, goSDKName), "times", "").atLeast(4),
		number("engine / go-sdk client, 64 at once", against(many, goSDKName), "times", "").atLeast(15),
		number("byte loop / go-sdk client, sequential", ratio(o.rounds, func(i int) float64 {
			return one[floorName][i].rate / one[goSDKName][i].rate
		}), "times",
			"what no client over pipes can pass: where waking up a process is dear, it bounds the ratios above"),
		number("engine / mcp-go client, sequential", against(one, mcpGoName), "times", "").atLeast(2),
		number("engine / mcp-go client, 64 at once", against(many, mcpGoName), "times", "").atLeast(4),
		number("engine, allocations a call", max(of(one[engineName], allocs), of(many[engineName], allocs)), "",
			"the larger of sequential and 64 at once").atMost(32),
		number("engine, bytes allocated a call", max(of(one[engineName], bytes), of(many[engineName], bytes)), "KiB",
			"").atMost(1.4),
	}, nil
}

// table formats the medians of every subject.
func table(subjects []subject, samples map[string][]sample) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-10s %12s %10s %10s %12s\n", "", "calls/s", "us CPU", "allocs", "bytes a call")
	for _, s := range subjects {
		x := samples[s.name]
		fmt.Fprintf(&b, "%-10s %12.0f %10.1f %10.0f %12.0f\n", s.name, of(x, func(s sample) float64 {
			return s.rate
		}), of(x, func(s sample) float64 { return s.cpu }),
			of(x, func(s sample) float64 { return s.allocs }), of(x, func(s sample) float64 { return s.bytes }))
	}
	return b.String()
}
