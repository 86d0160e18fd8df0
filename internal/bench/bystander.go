package main

import (
	"context"
	"fmt"
	"math"

	"sync"
	"time"

	"github.com/mcphub-go/mcphub/plugin/host"
)

// What a bystander may feel of the worst that a server or a folder does.
const (
	bystanderLimit  = 250 // ms for each thing that a bystander does
	bystanderMemory = 256 // MiB over the idle hub and the results in flight
	bystanderWait   = 20 * time.Second
)

// measureBystander lets hostile servers and folders do their worst, one after the other, each at a hub of its own, and
// takes the time of somebody who has nothing to do with them: a call of another server, a cancel in another window, the
// snapshot of a new window.
func measureBystander(ctx context.Context, o options) ([]row, error) {
	var rows []row
	for _, a := range attacks {
		if !o.finding.MatchString(a.finding) {
			continue
		}
		felt, err := a.suffer(ctx, o)
		if err != nil {
			return rows, fmt.Errorf("%s: %w", a.finding, err)
		}
		worst := max(felt.call.worst, felt.cancel.worst, felt.snapshot.worst)
		rows = append(rows,
			number(a.finding+" "+a.about+", worst for a bystander", millis(worst), "ms", "%s; %s; %s; the attack ran %d times",
				felt.call.text("call"), felt.cancel.text("cancel"), felt.snapshot.text("new window"),
				felt.times).atMost(bystanderLimit),
			number(a.finding+" peak memory over the idle hub", felt.memory, "MiB", "%.0f MiB of results may be in flight",
				a.results).atMost(bystanderMemory+a.results))
	}
	return rows, nil
}

// felt is what a bystander felt of one attack.
type felt struct {
	call, cancel, snapshot spent
	memory                 float64 // MiB
	times                  int
}

// spent is the time that one kind of thing took.
type spent struct {
	worst, sum time.Duration
	times      int
}

func (s *spent) add(d time.Duration) {
	s.worst = max(s.worst, d)
	s.sum += d
	s.times++
}

func (s *spent) text(what string) string {
	if s.times == 0 {
		return what + ": none"
	}
	return fmt.Sprintf("%s: worst %.1f ms, mean %.1f of %d", what, millis(s.worst), millis(s.sum)/float64(s.times),
		s.times)
}

// suffer runs one attack for some seconds.
func (a attack) suffer(ctx context.Context, o options) (f felt, err error) {
	command, args := o.realHub()
	client, err := openHub(ctx, o, command, args)
	if err != nil {
		return f, err
	}
	defer closeHub(client)
	if err := reload(ctx, client, a.config(o)); err != nil {
		return f, err
	}
	attacked, err := attachPerson(ctx, client.Editor, a.says)
	if err != nil {
		return f, err
	}
	defer attacked.close()
	other, err := attachPerson(ctx, client.Editor, silent)
	if err != nil {
		return f, err
	}
	defer other.close()
	if _, err := callTool(ctx, client.Hub, "good", "echo", `{}`); err != nil {
		return f, err
	}
	if err := pause(ctx, 500*time.Millisecond); err != nil { // what starting cost has been given back
		return f, err
	}
	idle, err := memoryMiB(client.PID(), residentMemory)
	if err != nil {
		return f, err
	}

	attackCtx, stop := context.WithCancelCause(ctx)
	var running sync.WaitGroup
	running.Go(func() { f.times = a.drive(attackCtx, client, a.config(o)) })
	peak := 0.0
	running.Go(func() { peak = peakMemory(attackCtx, client.PID()) })
	end := time.Now().Add(pick(o, 3*time.Second, time.Second))
	for i := 0; time.Now().Before(end) && err == nil; i++ {
		err = f.look(ctx, client, other, fmt.Sprintf("bystander-%d", i))
	}
	stop(errBenchOver)
	running.Wait()
	f.memory = max(peak-idle, 0)
	return f, err
}

// look does once what a bystander does. What does not come within bystanderWait counts as that long; an error is for
// what cannot be measured.
func (f *felt) look(ctx context.Context, client *host.Client, window *person, id string) error {
	bounded, cancel := context.WithTimeoutCause(ctx, bystanderWait, errTooSlow)
	defer cancel()
	timed := func(s *spent, do func() error) error {
		start := time.Now()
		err := do()
		s.add(time.Since(start))
		if err != nil && ctx.Err() == nil && bounded.Err() != nil {
			return nil // it took bystanderWait
		}
		return err
	}
	if err := timed(&f.call, func() error {
		_, err := callTool(bounded, client.Hub, "good", "echo", `{}`)
		return err
	}); err != nil {
		return fmt.Errorf("a call of another server: %w", err)
	}
	over := make(chan struct{})
	go func() { // ends by the cancel, or with ctx
		defer close(over)
		hangUntilCancelled(bounded, client, id)
	}()
	defer func() { cancel(); <-over }()
	if err := window.await(bounded, id, begun); err != nil {
		return fmt.Errorf("a call that hangs: %w", err)
	}
	if err := timed(&f.cancel, func() error {
		if err := window.cancelRequest(id); err != nil {
			return err
		}
		return window.await(bounded, id, ended)
	}); err != nil {
		return fmt.Errorf("a cancel in another window: %w", err)
	}
	if err := timed(&f.snapshot, func() error {
		w, err := attachPerson(bounded, client.Editor, silent)
		if err == nil {
			w.close()
		}
		return err
	}); err != nil {
		return fmt.Errorf("a new window: %w", err)
	}
	return nil
}

// peakMemory looks at a process until ctx ends.
func peakMemory(ctx context.Context, pid int) float64 {
	peak := 0.0
	for pause(ctx, 10*time.Millisecond) == nil {
		if now, err := memoryMiB(pid, residentMemory); err == nil {
			peak = math.Max(peak, now)
		}
	}
	return peak
}
