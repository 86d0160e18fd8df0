package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcphub-go/mcphub/hub/mcp"
)

const (
	attackTime = 3 * time.Second  // how long an attack goes on
	callTime   = 20 * time.Second // a call that does not end counts as that long
)

// measureBystander runs the attacks one after the other, and measures the calls of a bystander, who has nothing to do
// with the attacker. All of them share the machine.
func measureBystander(ctx context.Context, o options, f figures) error {
	var servers, clients worst
	for _, a := range attacks {
		if err := a.suffer(ctx, o, &servers); err != nil {
			return fmt.Errorf("%s: %w", a.about, err)
		}
	}
	if err := sufferClients(ctx, o, &clients); err != nil {
		return err
	}
	f.put("worst call of a bystander while a server or a folder does its worst", servers.ms, "%s", servers.each)
	f.put("worst call of a bystander while 32 clients of a gateway do their worst", clients.ms, "%s", clients.each)
	return nil
}

// worst is the longest call of a bystander, with a line for each attack.
type worst struct {
	ms   float64
	each string
}

// during repeats a bystander's call while an attack goes on. An attack counts how often it began.
func (w *worst) during(ctx context.Context, about string, call func(context.Context) error,
	attack func(ctx context.Context, began *atomic.Int64)) error {
	attacking, stop := context.WithCancelCause(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop(errBenchOver)
	var began atomic.Int64
	running.Go(func() { attack(attacking, &began) })
	for began.Load() == 0 { // some must be prepared first
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	var took []float64
	for end := time.Now().Add(attackTime); time.Now().Before(end); {
		start := time.Now()
		bounded, cancel := context.WithTimeoutCause(ctx, callTime, errTooSlow)
		err := call(bounded)
		slow := errors.Is(context.Cause(bounded), errTooSlow) && ctx.Err() == nil
		cancel()
		if err != nil && !slow {
			return fmt.Errorf("the call of a bystander: %w", err)
		}
		took = append(took, millis(time.Since(start)))
	}
	longest := percentile(took, 100)
	w.ms = max(w.ms, longest)
	w.each += fmt.Sprintf("%s: worst %.1f ms, median %.1f ms of %d; the attack ran %d times\n", about, longest,
		median(took), len(took), began.Load())
	return nil
}

// repeat does something again and again in n goroutines until ctx ends. It pauses before each round: an attack that
// fails at once would otherwise be a busy loop of the bench itself.
func repeat(ctx context.Context, n int, began *atomic.Int64, do func()) {
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for pause(ctx, 10*time.Millisecond) == nil {
				began.Add(1)
				do()
			}
		})
	}
	all.Wait()
}

// sufferClients measures the calls of an honest client of a gateway to one server, while hostile clients attack the
// same gateway and use another server.
func sufferClients(ctx context.Context, o options, w *worst) error {
	file, err := gatewayConfig(o)
	if err != nil {
		return err
	}
	gateway, err := startHTTP(o.bin.mcphub, "mcp", file, "--http", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer gateway.stop()
	honest, err := connect(ctx, overHTTP(gateway.url, gateway.authorization), mcp.EraLegacy)
	if err != nil {
		return err
	}
	defer func() { _ = honest.Close(errBenchOver) }()
	call := func(ctx context.Context) error {
		_, err := honest.CallTool(ctx, &mcp.CallRequest{Name: "honest__echo", Arguments: echoArguments})
		return err
	}
	for _, a := range clientAttacks {
		clients, err := openHostileClients(ctx, gateway)
		if err == nil {
			err = w.during(ctx, a.about, call, func(ctx context.Context, began *atomic.Int64) {
				var all sync.WaitGroup
				for _, c := range clients {
					all.Go(func() {
						for i := 0; ctx.Err() == nil; i++ {
							began.Add(1)
							a.do(ctx, c, i)
						}
					})
				}
				all.Wait()
			})
		}
		for _, c := range clients {
			c.http.CloseIdleConnections()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", a.about, err)
		}
	}
	return nil
}
