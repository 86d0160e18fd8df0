package flight

import (
	"context"
	"errors"
	"slices"
)

// Group is the set of the searches that are running, by what is wanted (K). W identifies who waits. It is guarded by
// the lock that update takes.
type Group[K, W comparable, Q any] struct {
	update func(func())
	joined func(f *Flight[W, Q], w W, by int)
	open   map[K]*Flight[W, Q]
}

// Flight is one search. It is guarded by the lock of its group, except value and err, which are written before done is
// closed.
type Flight[W comparable, Q any] struct {
	Question Q // the leader's question while it asks one, otherwise the zero value

	followers []W // who waits besides the leader; whoever waits twice is in it twice
	done      chan struct{}
	decided   bool // value and err are for all; otherwise another one leads
	value     string
	err       error
}

// Undecided wraps an error that ends the search for its leader only.
type Undecided struct{ Err error }

func (e Undecided) Error() string { return e.Err.Error() }
func (e Undecided) Unwrap() error { return e.Err }

// New returns an empty group. update runs a function with the lock. joined is called, with the lock, for each follower
// that comes (+1) or goes (-1).
func New[K, W comparable, Q any](update func(func()), joined func(*Flight[W, Q], W, int)) *Group[K, W, Q] {
	return &Group[K, W, Q]{update: update, joined: joined, open: map[K]*Flight[W, Q]{}}
}

// Len returns how many searches are running. It is called with the lock.
func (g *Group[K, W, Q]) Len() int { return len(g.open) }

// Followers returns those who wait besides the leader. It is called with the lock. A nil flight has none.
func (f *Flight[W, Q]) Followers() []W {
	if f == nil {
		return nil
	}
	return f.followers
}

// Do calls find once for all callers that want the same at the same time, and returns its results to all of them. If
// the error is Undecided, it is the leader's only, and another caller leads. find is called without the lock. Do takes
// the lock.
func (g *Group[K, W, Q]) Do(ctx context.Context, key K, w W,
	find func(*Flight[W, Q]) (string, error)) (string, error) {
	for {
		var f *Flight[W, Q]
		follows := false
		g.update(func() {
			if f, follows = g.open[key]; follows {
				f.followers = append(f.followers, w)
				g.joined(f, w, +1)
				return
			}
			f = &Flight[W, Q]{done: make(chan struct{})}
			g.open[key] = f
		})
		if !follows {
			return g.lead(key, f, find)
		}
		select {
		case <-f.done:
		case <-ctx.Done():
		}
		g.update(func() {
			i := slices.Index(f.followers, w)
			f.followers = slices.Delete(f.followers, i, i+1)
			g.joined(f, w, -1)
		})
		switch {
		case ctx.Err() != nil:
			return "", context.Cause(ctx)
		case f.decided:
			return f.value, f.err
		}
	}
}

func (g *Group[K, W, Q]) lead(key K, f *Flight[W, Q],
	find func(*Flight[W, Q]) (string, error)) (value string, err error) {
	var mine Undecided
	undecided := true
	defer func() { // also if find panics: then another one leads
		g.update(func() {
			delete(g.open, key)
			f.value, f.err, f.decided = value, err, !undecided
		})
		close(f.done)
	}()
	value, err = find(f)
	if undecided = errors.As(err, &mine); undecided {
		err = mine.Err
	}
	return value, err
}
