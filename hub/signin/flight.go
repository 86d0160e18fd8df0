package signin

import (
	"context"
	"errors"
)

// kind is the purpose of a flight. There is at most one flight of each kind at a time.
type kind int

const (
	loading kind = iota
	refreshing
	signing
)

// lasting reports whether flights of this kind go on when nobody waits for them. A sign-in ends then.
func (k kind) lasting() bool { return k != signing }

// flight is a piece of work that concurrent callers share.
type flight struct {
	// The purpose of the flight; not changed after begin.
	kind     kind
	c        challenge // of the request that began it
	stepUp   bool      // more rights are needed: those of c
	explicit bool      // the user asked for it

	cancel context.CancelCauseFunc
	done   chan struct{}
	err    error // set before done is closed

	// Guarded by the SignIn's mu.
	waiters int
	over    error // why it was ended early, or nil. The goroutine that sets it ends the context after unlocking mu
	asked   bool  // a person has seen a prompt of it
}

// begin starts f with the caller as its only waiter. It is called with mu held.
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

// finish ends a flight. Every flight ends here.
func (s *SignIn) finish(f *flight, err error) {
	s.mu.Lock()
	if f.over != nil {
		err = f.over
	} else if declined := (*DeclinedError)(nil); errors.As(err, &declined) {
		s.hush(declined)
	}
	delete(s.flights, f.kind)
	s.mu.Unlock()
	if f.kind == signing && s.o.Over != nil {
		s.o.Over()
	}
	f.err = err
	close(f.done)
}

// wait waits for f until ctx ends. The caller was already counted as a waiter.
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

// gone waits until a flight that was cancelled has ended: the next one may need its port.
func (s *SignIn) gone(ctx context.Context, f *flight) error {
	select {
	case <-f.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// asking records that a person is asked for f. It returns false if f is over, so that nobody is to be asked.
func (s *SignIn) asking(f *flight) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.over != nil {
		return false
	}
	f.asked = true
	return true
}
