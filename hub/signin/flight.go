package signin

import (
	"context"
	"errors"
)

// kind is what a flight is for. There is at most one of each kind at a time.
type kind int

const (
	loading kind = iota
	refreshing
	signing
)

// lasting flights go on when nobody waits; a signing ends then.
func (k kind) lasting() bool { return k != signing }

// flight is one piece of work that all callers who need it share.
type flight struct {
	// What it is for; not changed after begin.
	kind     kind
	c        challenge // of the request that began it
	stepUp   bool      // more rights are needed: those of c
	explicit bool      // the user asked for it

	cancel context.CancelCauseFunc
	done   chan struct{}
	err    error // set before done is closed

	// Guarded by the SignIn's mu.
	waiters int
	over    error // why it was ended early; nil: it was not. Who sets it calls cancel, after unlocking.
	asked   bool  // a person has seen a prompt of it
}

// begin starts f with one waiter, the caller. mu is held.
func (s *SignIn) begin(f *flight, run func(context.Context, *flight) error) *flight {
	ctx, cancel := context.WithCancelCause(s.life)
	f.done, f.cancel, f.waiters = make(chan struct{}), cancel, 1
	s.flights[f.kind] = f
	s.wg.Add(1)
	go func() { // waited for by Close
		defer s.wg.Done()
		defer cancel(nil)
		err := run(ctx, f)
		s.finish(f, err)
	}()
	return f
}

// finish is the one end of every flight.
func (s *SignIn) finish(f *flight, err error) {
	s.mu.Lock()
	if f.over != nil {
		err = f.over
	} else if declined := (*DeclinedError)(nil); errors.As(err, &declined) {
		s.hush(declined)
	}
	delete(s.flights, f.kind)
	s.mu.Unlock()
	f.err = err
	close(f.done)
}

// wait waits for f under ctx. The caller has been counted already.
func (s *SignIn) wait(ctx context.Context, f *flight) error {
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
	}
	s.mu.Lock()
	f.waiters--
	last := f.waiters == 0 && f.over == nil && !f.kind.lasting()
	if last {
		f.over = errNobodyWaits
		if f.asked {
			s.hush(&DeclinedError{Server: s.o.Server, How: "abandoned"})
		}
	}
	s.mu.Unlock()
	if last {
		f.cancel(errNobodyWaits)
	}
	return context.Cause(ctx)
}

// gone waits until a flight that was ended has ended: the next one may need its port.
func (s *SignIn) gone(ctx context.Context, f *flight) error {
	select {
	case <-f.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// asking marks f as seen by a person; false: it is over, and nobody is asked.
func (s *SignIn) asking(f *flight) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.over != nil {
		return false
	}
	f.asked = true
	return true
}
