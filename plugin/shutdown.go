package plugin

import (
	"context"
	"errors"
	"time"
)

// road is a reason for the end of the process. For each the hub is closed in the same way, but with another time
// budget.
type road struct {
	why    string
	budget time.Duration // the time that Close gets
}

var (
	// A Go host kills the process 2 s after it asked for shutdown. Budget and slack together are less than that.
	roadShutdown = road{"the host shut the hub down", 1500 * time.Millisecond}
	// Senders of SIGTERM wait longer than that: service managers and shells wait 5 s or more.
	roadSignal = road{"a signal asked for it", 5 * time.Second}
	// Together with the grace period of the lifeline, everything has ended within 5 s after the host's death.
	roadOrphaned = road{"the host is gone", 3 * time.Second}
	// Nothing was running yet.
	roadFailed = road{"the start failed", 1500 * time.Millisecond}
)

const (
	// closeSlack is the time beyond the budget in which Close may kill what is left and return.
	closeSlack = 250 * time.Millisecond
	// stopTime limits the wait for the gRPC server to end after it was stopped.
	stopTime = 500 * time.Millisecond
	// flushTime limits the wait for the last log lines to be written, since the host may no longer read them.
	flushTime = 100 * time.Millisecond
	// fatalFlushTime is flushTime for a hub that cannot go on: its last log line is all that a host learns.
	fatalFlushTime = time.Second
)

var (
	errServeOver = errors.New("the hub is closing")
	errNoClient  = errors.New("this side only serves")
)

// close closes the hub within the budget of r. A second SIGTERM ends the wait at once. If Close hangs, the process ends
// without it.
func (d *door) close(r road) int {
	ctx, cancel := context.WithTimeoutCause(context.Background(), r.budget,
		errors.New("closing took longer than "+r.budget.String()))
	defer cancel()
	closed := make(chan error, 1)
	go func() { closed <- d.hub.Close(ctx) }()
	hard := time.NewTimer(r.budget + closeSlack)
	defer hard.Stop()
	select {
	case err := <-closed:
		if err != nil {
			d.logger.Error("the hub did not close in order", "why", r.why, "error", err)
			return ExitFailed
		}
		d.logger.Info("closed", "why", r.why)
		return ExitOK
	case <-hard.C:
		d.logger.Error("the hub did not close in time", "why", r.why, "budget", r.budget.String())
		return ExitFailed
	case <-d.signals.again:
		d.logger.Error("left at once: a second SIGTERM came while closing", "why", r.why)
		return ExitTerminated
	}
}
