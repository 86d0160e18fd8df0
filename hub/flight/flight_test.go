package flight_test

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

	"github.com/mcphub-go/mcphub/hub/flight"
)

// one is a search of a test, whose question is a text.
type one = flight.Flight[string, string]

// desk is a group with its lock. It notes who joins and leaves which search.
type desk struct {
	*flight.Group[string, string, string]
	mu     sync.Mutex
	joined []string
}

func newDesk() *desk {
	d := &desk{}
	d.Group = flight.New[string](d.update, func(f *one, who string, by int) {
		d.joined = append(d.joined, fmt.Sprintf("%s%+d %q", who, by, f.Question))
	})
	return d
}

func (d *desk) update(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
}

// told gives what was told, once nothing moves.
func (d *desk) told() (list []string) {
	synctest.Wait()
	d.update(func() { list = slices.Clone(d.joined) })
	return list
}

// found is how Do ended.
type found struct {
	value string
	err   error
}

// do calls Do for who in the background, and returns when that waits or has ended.
func (d *desk) do(ctx context.Context, key, who string, find func(*one) (string, error)) <-chan found {
	done := make(chan found, 1)
	go func() {
		value, err := d.Do(ctx, key, who, find)
		done <- found{value, err}
	}()
	synctest.Wait()
	return done
}

func wants(t *testing.T, who string, done <-chan found, value string, err error) {
	t.Helper()
	if got := <-done; got.value != value || got.err != err {
		t.Errorf("%s got %q, %v; want %q, %v", who, got.value, got.err, value, err)
	}
}

func never(t *testing.T) func(*one) (string, error) {
	return func(*one) (string, error) {
		t.Error("one who follows searched as well")
		return "", nil
	}
}

// The first caller leads, the others get what it finds, an error too; a caller with another key leads a search of its
// own.
func TestAllGetWhatTheFirstFinds(t *testing.T) {
	refusal := errors.New("no")
	for _, want := range []found{{"a value", nil}, {"", refusal}} {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk()
			var lead *one
			end := make(chan struct{})
			first := d.do(t.Context(), "k", "first", func(f *one) (string, error) {
				d.update(func() { lead, f.Question = f, "q" })
				<-end
				return want.value, want.err
			})
			second, third := d.do(t.Context(), "k", "second", never(t)), d.do(t.Context(), "k", "third", never(t))
			other := d.do(t.Context(), "other", "fourth", func(*one) (string, error) { return "of its own", nil })
			wants(t, "another key", other, "of its own", nil)
			d.update(func() {
				if got := lead.Followers(); !slices.Equal(got, []string{"second", "third"}) || d.Len() != 1 {
					t.Errorf("%d searches; the followers are %q", d.Len(), got)
				}
			})
			close(end)
			wants(t, "the first", first, want.value, want.err)
			wants(t, "the second", second, want.value, want.err)
			wants(t, "the third", third, want.value, want.err)
			got := d.told()
			slices.Sort(got[2:]) // they leave in any order
			if !slices.Equal(got, []string{`second+1 "q"`, `third+1 "q"`, `second-1 "q"`, `third-1 "q"`}) {
				t.Errorf("told %q", got)
			}
			again := d.do(t.Context(), "k", "second", func(f *one) (string, error) { return "anew" + f.Question, nil })
			wants(t, "who comes later", again, "anew", nil)
			d.update(func() {
				if n := len(lead.Followers()); n != 0 || d.Len() != 0 {
					t.Errorf("%d searches and %d followers are left", d.Len(), n)
				}
			})
		})
	}
}

// An error that concerns the leader alone ends no other's wait: the next one leads, and the leader gets its own error.
func TestAnotherLeadsWhenTheLeaderGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		mine := errors.New("cancelled")
		end, led := make(chan struct{}), 0
		lead := func(*one) (string, error) {
			d.update(func() { led++ })
			<-end
			return "found", nil
		}
		up := make(chan struct{})
		first := d.do(t.Context(), "k", "first", func(*one) (string, error) {
			<-up
			return "half", fmt.Errorf("a start: %w", flight.Undecided{Err: mine})
		})
		second, third := d.do(t.Context(), "k", "second", lead), d.do(t.Context(), "k", "third", lead)
		close(up)
		wants(t, "the first", first, "half", mine)
		synctest.Wait()
		d.update(func() {
			if led != 1 || d.Len() != 1 {
				t.Errorf("%d lead %d searches", led, d.Len())
			}
		})
		close(end)
		wants(t, "the second", second, "found", nil)
		wants(t, "the third", third, "found", nil)
		if led != 1 {
			t.Errorf("%d searches after the first", led)
		}
	})
}

// A follower whose context ends stops waiting, with its cause; the search goes on for the others.
func TestFollowerStopsWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		gone := errors.New("gone")
		end := make(chan struct{})
		first := d.do(t.Context(), "k", "first", func(*one) (string, error) {
			<-end
			return "found", nil
		})
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, gone)
		defer cancel()
		second, third := d.do(ctx, "k", "second", never(t)), d.do(t.Context(), "k", "third", never(t))
		wants(t, "who stopped waiting", second, "", gone)
		if got := d.told(); !slices.Equal(got, []string{`second+1 ""`, `third+1 ""`, `second-1 ""`}) {
			t.Errorf("told %q", got)
		}
		close(end)
		wants(t, "the first", first, "found", nil)
		wants(t, "the third", third, "found", nil)
	})
}

// A search that panics leaves nobody waiting: the next one leads.
func TestPanicOfTheLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		end, caught := make(chan struct{}), make(chan any, 1)
		go func() {
			defer func() { caught <- recover() }()
			_, _ = d.Do(t.Context(), "k", "first", func(*one) (string, error) {
				<-end
				panic("broken")
			})
		}()
		synctest.Wait()
		second := d.do(t.Context(), "k", "second", func(*one) (string, error) { return "found", nil })
		close(end)
		if got := <-caught; got != "broken" {
			t.Errorf("caught %v", got)
		}
		wants(t, "the second", second, "found", nil)
	})
}

// A caller that waits twice counts twice, and leaves one at a time.
func TestOneThatWaitsTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		gone := errors.New("gone")
		end := make(chan struct{})
		var f *one
		first := d.do(t.Context(), "k", "first", func(lead *one) (string, error) {
			d.update(func() { f = lead })
			<-end
			return "found", nil
		})
		ctx, cancel := context.WithCancelCause(t.Context())
		leaves, stays := d.do(ctx, "k", "twice", never(t)), d.do(t.Context(), "k", "twice", never(t))
		cancel(gone)
		wants(t, "the one", leaves, "", gone)
		synctest.Wait()
		d.update(func() {
			if got := f.Followers(); !slices.Equal(got, []string{"twice"}) {
				t.Errorf("the followers are %q", got)
			}
		})
		close(end)
		wants(t, "the first", first, "found", nil)
		wants(t, "the other", stays, "found", nil)
	})
}

// A nil flight has no followers.
func TestNoFlight(t *testing.T) {
	if got := (*one)(nil).Followers(); got != nil {
		t.Errorf("%q", got)
	}
}

// Whatever the order in which callers come, go and give up: at most one searches for a key at a time, one that waited
// to the end has the value of its key, and nothing is left.
func TestManyAtOnce(t *testing.T) {
	const people, keys = 24, 3
	for seed := range uint64(40) {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk()
			random := rand.New(rand.NewPCG(seed, 1))
			gone, mine := errors.New("gone"), errors.New("given up")
			searching, searches := map[string]bool{}, 0
			var group sync.WaitGroup
			for i := range people {
				key, who := fmt.Sprint("k", i%keys), fmt.Sprint("p", i)
				comes, stays := time.Duration(random.IntN(20)), time.Duration(1+random.IntN(20))
				takes, decides := time.Duration(random.IntN(8)), random.IntN(3) > 0
				group.Go(func() {
					time.Sleep(comes)
					ctx, cancel := context.WithTimeoutCause(t.Context(), stays, gone)
					defer cancel()
					value, err := d.Do(ctx, key, who, func(*one) (string, error) {
						d.update(func() {
							if searching[key] {
								t.Errorf("seed %d: two search for %s", seed, key)
							}
							searching[key] = true
							searches++
						})
						defer d.update(func() { searching[key] = false })
						time.Sleep(takes)
						if !decides {
							return "", flight.Undecided{Err: mine}
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
			by := 0
			for _, text := range d.told() {
				if slices.Contains([]byte(text), '+') {
					by++
				} else {
					by--
				}
			}
			if d.Len() != 0 || by != 0 || searches < keys {
				t.Errorf("seed %d: %d searches under way, %d followers, after %d searches", seed, d.Len(), by, searches)
			}
		})
	}
}
