package main

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/plugin/host"
)

// The limits for what a bystander may notice of an attack by a server or a folder.
const (
	bystanderLimit  = 250 // ms for each action of a bystander
	bystanderMemory = 256 // MiB above the idle hub and the results in flight
	bystanderWait   = 20 * time.Second
)

// measureBystander runs the attacks of hostile servers and folders, one after the other, each against a hub of its own.
// It measures the latency for a bystander, who has nothing to do with the attacker: of a call to another server, of a
// cancel in another window, and of the snapshot of a new window.
func measureBystander(ctx context.Context, o options) ([]row, error) {
	var rows []row
	for _, a := range attacks {
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

// felt is what was measured for a bystander during one attack.
type felt struct {
	call, cancel, snapshot spent
	memory                 float64 // MiB
	times                  int
}

// spent is the time that one kind of action took.
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

// suffer runs one attack for some seconds and measures a bystander meanwhile.
func (a attack) suffer(ctx context.Context, o options) (f felt, err error) {
	client, err := openHub(ctx, o, o.bin.mcphub, nil)
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
	if err := pause(ctx, 500*time.Millisecond); err != nil { // until the memory that the start needed is released
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

// look does each action of a bystander once. An action that does not end within bystanderWait counts as that long. An
// error means that the action could not be measured.
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

// peakMemory samples the memory of a process until ctx ends, and returns the largest value in MiB.
func peakMemory(ctx context.Context, pid int) float64 {
	peak := 0.0
	for pause(ctx, 10*time.Millisecond) == nil {
		if now, err := memoryMiB(pid, residentMemory); err == nil {
			peak = math.Max(peak, now)
		}
	}
	return peak
}
