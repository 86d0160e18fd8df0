package main

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// subject is a client that calls a tool. It stays open and warm for the whole group.
type subject struct {
	name string
	// call makes one call and may be used from any goroutine. If it is nil, pump is used.
	call func(ctx context.Context) error
	// pump is the subject's own loop. It keeps parallel calls in flight until stop is set, and returns the number of
	// calls.
	pump  func(parallel int, stop *atomic.Bool) (calls int, err error)
	close func()
}

func closeAll(subjects []subject) {
	for _, s := range subjects {
		s.close()
	}
}

// sample is the result of one subject in one round. Allocations and processor time are those of this process.
type sample struct {
	calls         int
	rate          float64 // calls a second
	latency       float64 // microseconds a call, with nothing else in flight; meaningless otherwise
	allocs, bytes float64 // a call
	cpu           float64 // microseconds a call
}

// run lets the subject call for about the time d.
func (s subject) run(ctx context.Context, d time.Duration, parallel int) (sample, error) {
	var stop atomic.Bool
	var before, after runtime.MemStats
	runtime.GC() // a subject must not pay for the garbage of the one before
	runtime.ReadMemStats(&before)
	cpu := cpuTime()
	timer := time.AfterFunc(d, func() { stop.Store(true) })
	defer timer.Stop()
	unhook := context.AfterFunc(ctx, func() { stop.Store(true) })
	defer unhook()
	start := time.Now()
	calls, err := s.loop(ctx, parallel, &stop)
	took := time.Since(start)
	cpu = cpuTime() - cpu
	runtime.ReadMemStats(&after)
	switch {
	case err != nil:
		return sample{}, fmt.Errorf("%s: %w", s.name, err)
	case ctx.Err() != nil:
		return sample{}, fmt.Errorf("%s: %w", s.name, context.Cause(ctx))
	}
	n := float64(calls)
	return sample{
		calls: calls, rate: n / took.Seconds(), latency: micros(took) / n,
		allocs: float64(after.Mallocs-before.Mallocs) / n, bytes: float64(after.TotalAlloc-before.TotalAlloc) / n,
		cpu: micros(cpu) / n,
	}, nil
}

func (s subject) loop(ctx context.Context, parallel int, stop *atomic.Bool) (int, error) {
	if s.pump != nil {
		return s.pump(parallel, stop)
	}
	var (
		callers sync.WaitGroup
		total   atomic.Int64
		once    sync.Once
		failure error
	)
	for range parallel {
		callers.Go(func() {
			n := 0
			for !stop.Load() {
				if err := s.call(ctx); err != nil {
					once.Do(func() { failure = err })
					stop.Store(true)
					return
				}
				n++
			}
			total.Add(int64(n))
		})
	}
	callers.Wait()
	return int(total.Load()), failure
}

// interleave runs every subject once in each round, and each round begins with a different one. It returns the samples
// by subject and round.
func interleave(ctx context.Context, subjects []subject, rounds int, d time.Duration,
	parallel int) (map[string][]sample, error) {
	samples := map[string][]sample{}
	for _, s := range subjects { // the samples of the warm-up are discarded
		if _, err := s.run(ctx, d/4, parallel); err != nil {
			return nil, err
		}
	}
	for round := range rounds {
		for i := range subjects {
			s := subjects[(round+i)%len(subjects)]
			x, err := s.run(ctx, d, parallel)
			if err != nil {
				return nil, err
			}
			samples[s.name] = append(samples[s.name], x)
		}
	}
	return samples, nil
}

// of returns the median of one value over the rounds.
func of(samples []sample, what func(sample) float64) float64 {
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = what(s)
	}
	return median(values, same)
}

// ratio returns the median over the rounds of a quotient. Each quotient is taken within one round.
func ratio(rounds int, of func(round int) float64) float64 {
	values := make([]float64, rounds)
	for i := range values {
		values[i] = of(i)
	}
	return median(values, same)
}
