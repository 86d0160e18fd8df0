package hub

import (
	"context"
	"errors"
	"slices"
	"time"
)

// shared is one search for an answer that several starts may wait for: the consent to a launch, the value of an input.
// The first who wants it leads. Guarded by Hub.mu, but for value and err, which are written before done is closed.
type shared struct {
	followers []*server // who waits besides the leader; one that waits twice is in it twice
	prompt    *prompt   // while a person is asked
	done      chan struct{}
	decided   bool // value and err hold for all; else another one leads
	value     string
	err       error
}

// sharedKey names what is wanted: server for a consent, the other two for an input.
type sharedKey struct{ server, file, input string }

func (t *shared) others() []*server {
	if t == nil {
		return nil
	}
	return t.followers
}

// errUndecided wraps what ended the search of one start alone.
type errUndecided struct{ err error }

func (e errUndecided) Error() string { return e.err.Error() }
func (e errUndecided) Unwrap() error { return e.err }

// together runs find once for all who want the same at the same time. What find gives is what all get, unless its error
// says that it is the leader's alone (errUndecided): then the next one leads.
func (h *Hub) together(ctx context.Context, key sharedKey, s *server,
	find func(*shared) (string, error)) (string, error) {
	for {
		var t *shared
		joined := true
		h.update(func() {
			if t = h.sharing[key]; t != nil {
				h.join(t, s)
				return
			}
			t, joined = &shared{done: make(chan struct{})}, false
			h.sharing[key] = t
		})
		if !joined {
			return h.lead(key, t, find)
		}
		select {
		case <-t.done:
		case <-ctx.Done():
		}
		h.update(func() { h.quit(t, s) })
		switch {
		case ctx.Err() != nil:
			return "", context.Cause(ctx)
		case t.decided:
			return t.value, t.err
		}
	}
}

func (h *Hub) lead(key sharedKey, t *shared, find func(*shared) (string, error)) (value string, err error) {
	var mine errUndecided
	undecided := true
	defer func() { // also when find panics: then the next one leads
		h.update(func() {
			delete(h.sharing, key)
			t.value, t.err, t.decided = value, err, !undecided
		})
		close(t.done)
	}()
	value, err = find(t)
	if undecided = errors.As(err, &mine); undecided {
		err = mine.err
	}
	return value, err
}

// join makes a server wait for what somebody else has asked. h.mu is held.
func (h *Hub) join(t *shared, s *server) {
	t.followers = append(t.followers, s)
	h.pauseFor(t, s, +1)
}

// quit is the end of that wait. h.mu is held.
func (h *Hub) quit(t *shared, s *server) {
	i := slices.Index(t.followers, s)
	t.followers = slices.Delete(t.followers, i, i+1)
	h.pauseFor(t, s, -1)
}

// pauseFor stops (by +1) or releases (by -1) all that runs against a server that waits for somebody else's question.
// h.mu is held.
func (h *Hub) pauseFor(t *shared, s *server, by int) {
	p := t.prompt
	if p == nil {
		return
	}
	s.Pause(time.Now(), by)
	switch {
	case h.prompts[p.id] != p: // it has closed, which released all
	case by > 0:
		h.holdFor(p, s)
	default:
		h.letGo(p, s)
	}
}
