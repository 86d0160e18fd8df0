package main

import (
	"context"
	"time"
)

// measurePath measures the whole way of a call: host -> gRPC over the door -> hub -> server and back. It compares that
// with a relay, which has no hub in between, and with the sum of the parts: gRPC without anything behind it, and the
// engine without anything before it. No relay reaches that sum (ADR 0042): each part alone has warm caches, and one
// process less.
func measurePath(ctx context.Context, o options) (rows []row, err error) {
	var subjects []subject
	defer func() { closeAll(subjects) }()
	engine, err := openEngine(o)
	if err != nil {
		return nil, err
	}
	subjects = append(subjects, engine)
	for _, s := range []struct {
		name, command string
		args, servers []string
	}{
		{"whole path", o.bin.mcphub, nil, []string{"echo"}},
		{bareEcho, o.bin.self, []string{bareEcho}, nil},
		{guardedEcho, o.bin.self, []string{guardedEcho}, nil},
		{relay, o.bin.self, []string{relay}, nil},
	} {
		client, err := openHub(ctx, o, s.command, s.args, s.servers...)
		if err != nil {
			return nil, err
		}
		subjects = append(subjects, subject{
			name: s.name,
			call: func(ctx context.Context) error {
				_, err := callTool(ctx, client.Hub, "echo", "echo", string(echoArguments))
				return err
			},
			close: func() { closeHub(client) },
		})
	}
	d := pick(o, 400*time.Millisecond, 150*time.Millisecond)
	one, err := interleave(ctx, subjects, o.rounds, d, 1)
	if err != nil {
		return nil, err
	}
	many, err := interleave(ctx, subjects, o.rounds, d, together)
	if err != nil {
		return nil, err
	}
	sum := func(samples map[string][]sample, of, echo string) float64 {
		return ratio(o.rounds, func(i int) float64 {
			return samples[of][i].latency / (samples[echo][i].latency + samples[engineName][i].latency)
		})
	}
	against := func(samples map[string][]sample, echo string) float64 { return sum(samples, "whole path", echo) }
	relayAgainst := func(samples map[string][]sample) float64 { return sum(samples, relay, guardedEcho) }
	againstRelay := func(samples map[string][]sample) float64 {
		return ratio(o.rounds, func(i int) float64 { return samples["whole path"][i].latency / samples[relay][i].latency })
	}
	us := func(samples map[string][]sample, name string) float64 {
		return of(samples[name], func(s sample) float64 { return s.latency })
	}
	const detail = "us a call: whole path %.1f, gRPC echo %.1f (with the hub's interceptors %.1f), engine %.1f, relay %.1f"
	parts := func(samples map[string][]sample) []any {
		return []any{us(samples, "whole path"), us(samples, bareEcho), us(samples, guardedEcho), us(samples, engineName),
			us(samples, relay)}
	}
	return []row{
		number("whole path / relay, sequential", againstRelay(one), "",
			"a relay is the same door and a session without a hub\n"+detail, parts(one)...).atMost(1.5),
		number("whole path / relay, 64 at once", againstRelay(many), "", detail, parts(many)...).atMost(1.6),
		number("whole path / (gRPC echo behind the hub's interceptors + engine), sequential", against(one, guardedEcho), "",
			"the relay alone: %.2f", relayAgainst(one)),
		number("whole path / (gRPC echo behind the hub's interceptors + engine), 64 at once", against(many, guardedEcho), "",
			"the relay alone: %.2f", relayAgainst(many)),
		number("whole path / (gRPC echo + engine), sequential", against(one, bareEcho), "", ""),
		number("whole path / (gRPC echo + engine), 64 at once", against(many, bareEcho), "", ""),
	}, nil
}
