package hub

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// desk shares searches between servers that are called as the test likes.
type desk struct {
	*inside
	servers map[string]*server
}

func newDesk(h *inside) *desk { return &desk{h, map[string]*server{}} }

// found is how a search ended.
type found struct {
	value string
	err   error
}

// find searches for a server, and returns what is found.
func (d *desk) find(ctx context.Context, key, who string, find func(*search) (string, error)) (string, error) {
	var s *server
	d.within(func() {
		if s = d.servers[who]; s == nil {
			s = d.bareServer(who)
			d.servers[who] = s
		}
	})
	return d.share(ctx, searchKey{input: key}, s, find)
}

// do calls find in the background, and returns when that waits or has ended.
func (d *desk) do(ctx context.Context, key, who string, find func(*search) (string, error)) <-chan found {
	done := make(chan found, 1)
	go func() {
		value, err := d.find(ctx, key, who, find)
		done <- found{value, err}
	}()
	synctest.Wait()
	return done
}

// follow returns who follows a search, and how many searches there are.
func (d *desk) follow(f *search) (names []string, searches int) {
	synctest.Wait()
	d.update(func(st *state) {
		for _, s := range f.waiting() {
			names = append(names, s.name)
		}
		searches = len(st.searches)
	})
	return names, searches
}

func wantsFound(t *testing.T, who string, done <-chan found, value string, err error) {
	t.Helper()
	if got := <-done; got.value != value || got.err != err {
		t.Errorf("%s got %q, %v; want %q, %v", who, got.value, got.err, value, err)
	}
}

func never(t *testing.T) func(*search) (string, error) {
	return func(*search) (string, error) {
		t.Error("one who follows searched as well")
		return "", nil
	}
}

// The first caller leads, the others get what it finds, an error too; a caller with another key leads a search of its
// own.
func TestAllGetWhatTheFirstFinds(t *testing.T) {
	for _, want := range []found{{"a value", nil}, {"", errors.New("no")}} {
		inBubble(t, func(t *testing.T, h *inside) {
			d := newDesk(h)
			var lead *search
			end := make(chan struct{})
			first := d.do(t.Context(), "k", "first", func(f *search) (string, error) {
				lead = f
				<-end
				return want.value, want.err
			})
			second, third := d.do(t.Context(), "k", "second", never(t)), d.do(t.Context(), "k", "third", never(t))
			other := d.do(t.Context(), "other", "fourth", func(*search) (string, error) { return "of its own", nil })
			wantsFound(t, "another key", other, "of its own", nil)
			if names, n := d.follow(lead); !slices.Equal(names, []string{"second", "third"}) || n != 1 {
				t.Errorf("%d searches; the followers are %q", n, names)
			}
			close(end)
			wantsFound(t, "the first", first, want.value, want.err)
			wantsFound(t, "the second", second, want.value, want.err)
			wantsFound(t, "the third", third, want.value, want.err)
			again := d.do(t.Context(), "k", "second", func(*search) (string, error) { return "anew", nil })
			wantsFound(t, "who comes later", again, "anew", nil)
			if names, n := d.follow(lead); len(names) != 0 || n != 0 {
				t.Errorf("%d searches and %d followers are left", n, len(names))
			}
		})
	}
}

// An error that concerns the leader alone ends no other's wait: the next one leads, and the leader gets its own error.
func TestAnotherLeadsWhenTheLeaderGivesUp(t *testing.T) {
	inBubble(t, func(t *testing.T, h *inside) {
		d := newDesk(h)
		mine := errors.New("cancelled")
		up, end, led := make(chan struct{}), make(chan struct{}), 0
		lead := func(*search) (string, error) {
			d.within(func() { led++ })
			<-end
			return "found", nil
		}
		first := d.do(t.Context(), "k", "first", func(*search) (string, error) {
			<-up
			return "half", fmt.Errorf("a start: %w", undecided{mine})
		})
		second, third := d.do(t.Context(), "k", "second", lead), d.do(t.Context(), "k", "third", lead)
		close(up)
		wantsFound(t, "the first", first, "half", mine)
		if _, n := d.follow(nil); led != 1 || n != 1 {
			t.Errorf("%d lead %d searches", led, n)
		}
		close(end)
		wantsFound(t, "the second", second, "found", nil)
		wantsFound(t, "the third", third, "found", nil)
		if led != 1 {
			t.Errorf("%d searches after the first", led)
		}
	})
}

// The goroutine that asks a question which several share panics. The others do not wait for ever: one of them asks now.
// Finding B15.
func TestPanicInASharedQuestion(t *testing.T) {
	inBubble(t, func(t *testing.T, h *inside) {
		d := newDesk(h)
		end, caught := make(chan struct{}), make(chan any, 1)
		go func() {
			defer func() { caught <- recover() }()
			_, _ = d.find(t.Context(), "k", "first", func(*search) (string, error) {
				<-end
				panic("broken")
			})
		}()
		synctest.Wait()
		second := d.do(t.Context(), "k", "second", func(*search) (string, error) { return "found", nil })
		close(end)
		if got := <-caught; got != "broken" {
			t.Errorf("caught %v", got)
		}
		wantsFound(t, "the second", second, "found", nil)
	})
}

// Whatever the order in which callers come, go and give up: at most one searches for a key at a time, one that waited
// to the end has the value of its key, and nothing is left.
func TestManyAtOnce(t *testing.T) {
	const people, keys = 24, 3
	for seed := range uint64(40) {
		inBubble(t, func(t *testing.T, h *inside) {
			d := newDesk(h)
			random := rand.New(rand.NewPCG(seed, 1))
			gone, mine := errors.New("gone"), errors.New("given up")
			searching, searches, leads := map[string]bool{}, 0, map[*search]bool{}
			var group sync.WaitGroup
			for i := range people {
				key, who := fmt.Sprint("k", i%keys), fmt.Sprint("p", i)
				comes, stays := time.Duration(random.IntN(20)), time.Duration(1+random.IntN(20))
				takes, decides := time.Duration(random.IntN(8)), random.IntN(3) > 0
				group.Go(func() {
					time.Sleep(comes)
					ctx, cancel := context.WithTimeoutCause(t.Context(), stays, gone)
					defer cancel()
					value, err := d.find(ctx, key, who, func(f *search) (string, error) {
						d.within(func() {
							if searching[key] {
								t.Errorf("seed %d: two search for %s", seed, key)
							}
							searching[key], leads[f] = true, true
							searches++
						})
						defer d.within(func() { searching[key] = false })
						time.Sleep(takes)
						if !decides {
							return "", undecided{mine}
						}
						return key, nil
					})
					switch {
					case err == nil && value != key:
						t.Errorf("seed %d: %s got %q", seed, who, value)
					case err != nil && err != gone && err != mine, err == mine && decides:
						t.Errorf("seed %d: %s got %v", seed, who, err)
					}
				})
			}
			group.Wait()
			for f := range leads {
				if names, n := d.follow(f); len(names) != 0 || n != 0 || searches < keys {
					t.Errorf("seed %d: %d searches under way, %q follow, after %d searches", seed, n, names, searches)
				}
			}
		})
	}
}
