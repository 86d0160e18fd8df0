package flight

import (
	"context"
	"errors"
	"slices"
)

// Group is the searches that are under way, by what is wanted (K). W is who waits. It is guarded by the lock that
// update takes.
type Group[K, W comparable, Q any] struct {
	update func(func())
	joined func(f *Flight[W, Q], w W, by int)
	open   map[K]*Flight[W, Q]
}

// Flight is one search. It is guarded by the lock of its group, but for value and err, which are written before done is
// closed.
type Flight[W comparable, Q any] struct {
	Question Q // of the leader's, while it asks; the zero one else

	followers []W // who waits besides the leader; one that waits twice is in it twice
	done      chan struct{}
	decided   bool // value and err hold for all; else another one leads
	value     string
	err       error
}

// Undecided wraps what ended the search of its leader alone.
type Undecided struct{ Err error }

func (e Undecided) Error() string { return e.Err.Error() }
func (e Undecided) Unwrap() error { return e.Err }

// New makes a group. update runs a function with the lock; joined is told, with the lock, of each follower that comes
// (+1) and goes (-1).
func New[K, W comparable, Q any](update func(func()), joined func(*Flight[W, Q], W, int)) *Group[K, W, Q] {
	return &Group[K, W, Q]{update: update, joined: joined, open: map[K]*Flight[W, Q]{}}
}

// Len is how many searches are under way. It is called with the lock.
func (g *Group[K, W, Q]) Len() int { return len(g.open) }

// Followers are those who wait besides the leader. It is called with the lock; a nil flight has none.
func (f *Flight[W, Q]) Followers() []W {
	if f == nil {
		return nil
	}
	return f.followers
}

// Do runs find once for all who want the same at the same time, without the lock, which it takes. What find gives is
// what all get, unless its error says that it is the leader's alone (Undecided): then the next one leads.
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
	defer func() { // also when find panics: then the next one leads
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
