package hub

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/mcphub-go/mcphub/hub/core"
)

// searches are the searches for an answer (the consent to a launch, or the value of an input) that are running. Starts
// that want the same at the same time share one. It is guarded by the hub's lock.
type searches map[searchKey]*search

// searchKey identifies the answer: by server for a consent, by file and input for a value.
type searchKey struct{ server, file, input string }

// search is one search. It is guarded by the hub's lock, except value and err, which are written before done is closed.
type search struct {
	question *prompt // which is open; nil: none is

	followers []*server // those that wait besides the leader; whoever waits twice is in it twice
	done      chan struct{}
	decided   bool // value and err are for all; otherwise another one leads
	value     string
	err       error
}

// undecided wraps an error that ends the search for its leader only.
type undecided struct{ err error }

func (e undecided) Error() string { return e.err.Error() }
func (e undecided) Unwrap() error { return e.err }

// waiting returns the servers that wait besides the leader. A nil search has none.
func (f *search) waiting() []*server {
	if f == nil {
		return nil
	}
	return f.followers
}

// share calls find once for all starts that want the same at the same time, and returns its results to all of them. If
// the error is undecided, it is the leader's only, and another start leads. find is called without the lock. share
// takes the lock.
func (h *Hub) share(ctx context.Context, key searchKey, s *server, find func(*search) (string, error)) (string, error) {
	for {
		var f *search
		follows := false
		h.update(func(st *state) {
			if f, follows = st.searches[key]; follows {
				f.followers = append(f.followers, s)
				st.follows(f, s, +1)
				return
			}
			f = &search{done: make(chan struct{})}
			st.searches[key] = f
		})
		if !follows {
			return h.lead(key, f, find)
		}
		select {
		case <-f.done:
		case <-ctx.Done():
		}
		h.update(func(st *state) {
			i := slices.Index(f.followers, s)
			f.followers = slices.Delete(f.followers, i, i+1)
			st.follows(f, s, -1)
		})
		switch {
		case ctx.Err() != nil:
			return "", context.Cause(ctx)
		case f.decided:
			return f.value, f.err
		}
	}
}

func (h *Hub) lead(key searchKey, f *search, find func(*search) (string, error)) (value string, err error) {
	var mine undecided
	alone := true
	defer func() { // also if find panics: then another one leads
		h.update(func(st *state) {
			delete(st.searches, key)
			f.value, f.err, f.decided = value, err, !alone
		})
		close(f.done)
	}()
	value, err = find(f)
	if alone = errors.As(err, &mine); alone {
		err = mine.err
	}
	return value, err
}

// follows stops (+1) or releases (-1) the clocks of a server that waits for the answer to another server's question.
func (st *state) follows(f *search, s *server, by int) {
	if f.question == nil {
		return
	}
	s.pause(time.Now(), by)
	st.apply(core.Followed{Prompt: f.question.number, Server: s.number, Left: by < 0})
}
