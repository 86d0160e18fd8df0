package signin

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

// hubs are several SignIns of one user for one server, each with a store of its own over the same directory, as two
// windows have them. The first one is that of the world.
func (w *world) hubs(n int, store func() Store) (all []*SignIn) {
	for range n {
		w.open(Options{Store: store()})
		all = append(all, w.s)
	}
	return all
}

// at makes a call by one hub.
func (w *world) at(s *SignIn) *world {
	return &world{t: w.t, as: w.as, net: w.net, logs: w.logs, s: s}
}

// stores returns functions that make stores which several hubs share.
func stores(t *testing.T) map[string]func() Store {
	dir, memory := filepath.Join(t.TempDir(), "sign-in"), NewMemory()
	return map[string]func() Store{
		"files":  func() Store { return &fileStore{dir: dir, log: slog.New(slog.DiscardHandler)} },
		"memory": func() Store { return memory },
	}
}

// Two hubs whose token expires at the same moment refresh it once: an authorization server that sees a refresh token
// twice revokes everything, and the user would have to sign in again. This goes on for six weeks.
func TestTwoHubsRefreshOnce(t *testing.T) {
	for name, store := range stores(t) {
		t.Run(name, func(t *testing.T) {
			live(t, Options{}, func(t *testing.T, w *world) {
				first := w.s
				w.as.detects = true
				hubs := w.hubs(2, store)
				for _, s := range hubs {
					w.s = s
					w.works(t)
				}
				const rounds = 1000
				for range rounds {
					time.Sleep(time.Hour)
					var calls sync.WaitGroup
					for _, s := range hubs {
						calls.Go(func() {
							if status, err := w.at(s).call(t.Context()); status != http.StatusOK || err != nil {
								t.Errorf("status %d, %v", status, err)
							}
						})
					}
					calls.Wait()
					if w.as.reused > 0 || t.Failed() {
						break
					}
				}
				if n := w.as.count(tokenLine + "refresh_token"); n != rounds || w.as.reused != 0 {
					t.Errorf("%d refreshes, %d with a token that had been used", n, w.as.reused)
				}
				w.askedTimes(t, 1)
				hubs[1].Close()
				hubs[0].Close()
				w.s = first
			})
		})
	}
}

// together runs a test with two hubs that share a store in memory and are signed in. Their token has just expired.
func together(t *testing.T, test func(t *testing.T, w *world, store Store, first, second *SignIn)) {
	store := NewMemory()
	live(t, Options{Store: store}, func(t *testing.T, w *world) {
		w.as.detects = true
		w.works(t)
		first := w.s
		w.open(Options{Store: store})
		w.works(t)
		time.Sleep(2 * time.Hour)
		second := w.s
		test(t, w, store, first, second)
		first.Close()
		if w.as.reused != 0 {
			t.Errorf("%d refreshes with a token that had been used", w.as.reused)
		}
	})
}

// A hub whose sign-in fails, and that writes down what it knows, does not bring back a token that another hub has used
// meanwhile.
func TestFailedStepUpOfOneHub(t *testing.T) {
	together(t, func(t *testing.T, w *world, store Store, first, second *SignIn) {
		w.works(t) // the second one refreshes, and the first one takes that
		w.s = first
		w.works(t)
		w.as.set(func() { w.as.required, w.as.challenge, w.as.refuse = []string{"write"}, "write", "access_denied" })
		w.person(func(ctx context.Context, p event.SignInQuestion) error {
			if !p.Waiting {
				w.as.revoke()
				w.as.set(func() { w.as.required, w.as.challenge = nil, "" })
				if status, err := w.at(second).call(ctx); status != http.StatusOK || err != nil {
					t.Errorf("status %d, %v", status, err)
				}
			}
			return w.accept(ctx, p)
		})
		fails[*DeclinedError](t, w)
		w.as.set(func() { w.as.refuse = "" })
		for range 3 {
			time.Sleep(time.Hour)
			w.works(t)
			if status, err := w.at(second).call(t.Context()); status != http.StatusOK || err != nil {
				t.Errorf("status %d, %v", status, err)
			}
		}
		w.askedTimes(t, 2)
		w.s = second
	})
}

// A sign-out at one hub is not undone by a refresh that another one has begun before.
func TestForgetDuringRefreshOfAnotherHub(t *testing.T) {
	together(t, func(t *testing.T, w *world, store Store, first, second *SignIn) {
		slow := make(chan struct{})
		w.as.set(func() { w.as.slow = slow })
		var calls sync.WaitGroup
		calls.Go(func() { _, _ = w.at(first).call(t.Context()) })
		synctest.Wait()
		calls.Go(func() {
			if err := second.Forget(t.Context()); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		close(slow)
		calls.Wait()
		if kept, err := store.Load(t.Context(), second.key); kept != nil || err != nil {
			t.Errorf("kept %v, %v", kept, err)
		}
	})
}

// A refresh whose result could not be kept is not begun anew from what is kept, which has been used.
func TestRefreshThatWasNotKept(t *testing.T) {
	store := &full{Store: NewMemory()}
	live(t, Options{Store: store}, func(t *testing.T, w *world) {
		w.as.detects = true
		w.works(t)
		store.is = true
		for range 3 {
			time.Sleep(time.Hour)
			w.works(t)
		}
		w.askedTimes(t, 1)
		if w.as.reused != 0 {
			t.Error("a token was used twice")
		}
	})
}

// full is a store that takes nothing once it is full.
type full struct {
	Store
	is bool
}

func (f *full) Save(ctx context.Context, e *Entry) error {
	if f.is {
		return errors.New("no room")
	}
	return f.Store.Save(ctx, e)
}

// While another hub does not come to an end with its refresh, nobody refreshes beside it, and the call says why.
func TestRefreshWaitsForAnotherHub(t *testing.T) {
	together(t, func(t *testing.T, w *world, store Store, first, second *SignIn) {
		unlock, err := store.Lock(t.Context(), second.key)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if e := fails[*Error](t, w); time.Since(start) != lockLimit || !strings.Contains(e.Text, "another program of yours") {
			t.Errorf("after %v: %v", time.Since(start), e)
		}
		if n := w.as.count(tokenLine + "refresh_token"); n != 0 {
			t.Errorf("%d refreshes", n)
		}
		unlock()
		w.works(t)
		w.askedTimes(t, 1)
	})
}
