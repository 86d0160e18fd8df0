package signin

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
)

const tokenLine = "POST as.example/token "

// An expired token is refreshed without asking the user, and the new one is used and stored.
func TestRefreshExpired(t *testing.T) {
	store := NewMemory()
	live(t, Options{Store: store}, func(t *testing.T, w *world) {
		w.works(t)
		time.Sleep(time.Hour - early/2) // still good by its date, but not for long enough
		w.works(t)
		if n := w.as.count(tokenLine + "refresh_token"); n != 1 {
			t.Errorf("%d refreshes", n)
		}
		w.askedTimes(t, 1)
		kept, err := store.Load(t.Context(), w.s.key)
		if err != nil || kept.AccessToken != w.s.current().AccessToken || kept.RefreshToken != w.s.current().RefreshToken {
			t.Errorf("kept %v, %v", kept, err)
		}
	})
}

// Without a new refresh token in the answer the old one stays (RFC 6749 section 6).
func TestRefreshKeepsOldRefreshToken(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.works(t)
		before := w.s.current().RefreshToken
		w.as.set(func() { w.as.noRefresh, w.as.rotate = true, false })
		time.Sleep(2 * time.Hour)
		w.works(t)
		if got := w.s.current().RefreshToken; got != before {
			t.Error("the refresh token has changed")
		}
		time.Sleep(2 * time.Hour)
		w.works(t)
		w.askedTimes(t, 1)
	})
}

// Many calls share one refresh: a rotating refresh token used twice would be the end of the sign-in.
func TestRefreshIsShared(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.works(t)
		time.Sleep(2 * time.Hour)
		slow := make(chan struct{})
		w.as.set(func() { w.as.slow = slow })
		var calls sync.WaitGroup
		for range 10 {
			calls.Go(func() {
				if status, err := w.call(t.Context()); status != http.StatusOK || err != nil {
					t.Errorf("status %d, %v", status, err)
				}
			})
		}
		synctest.Wait()
		close(slow)
		calls.Wait()
		if n := w.as.count(tokenLine + "refresh_token"); n != 1 {
			t.Errorf("%d refreshes", n)
		}
	})
}

// The refresh goes on after its caller was cancelled, as the server may have replaced the refresh token already.
func TestRefreshGoesOnWithoutWaiters(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.works(t)
		time.Sleep(2 * time.Hour)
		slow := make(chan struct{})
		w.as.set(func() { w.as.slow = slow })
		ctx, stop := context.WithCancelCause(t.Context())
		done := make(chan error)
		go func() { _, err := w.call(ctx); done <- err }()
		synctest.Wait()
		stop(errStop)
		if err := <-done; !errors.Is(err, errStop) {
			t.Errorf("%v", err)
		}
		close(slow)
		synctest.Wait()
		if !w.s.current().usable(time.Now()) {
			t.Error("the refreshed token was lost")
		}
	})
}

// A refresh may take requestLimit; after that the request fails, and the next one tries again.
func TestRefreshTimeLimit(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.works(t)
		time.Sleep(2 * time.Hour)
		w.as.set(func() { w.as.slow = make(chan struct{}) })
		start := time.Now()
		fails[*Error](t, w)
		if got := time.Since(start); got != requestLimit {
			t.Errorf("after %v", got)
		}
		w.as.set(func() { w.as.slow = nil })
		w.works(t)
		w.askedTimes(t, 1)
	})
}

// An invalid refresh token: the request goes out without a token, and the 401 starts the flow.
func TestRefreshInvalidGrantStartsFlow(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.works(t)
		time.Sleep(2 * time.Hour)
		w.as.set(func() { w.as.refreshError = "invalid_grant" })
		w.works(t)
		w.askedTimes(t, 2)
		if n := w.as.count("POST as.example/register"); n != 1 {
			t.Errorf("%d registrations: the first one was still good", n)
		}
	})
}

// The authorization server has forgotten the client: the registration is dropped, too.
func TestRefreshInvalidClientRegistersAnew(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.works(t)
		time.Sleep(2 * time.Hour)
		w.as.set(func() { clear(w.as.clients) })
		w.works(t)
		w.askedTimes(t, 2)
		if n := w.as.count("POST as.example/register"); n != 2 {
			t.Errorf("%d registrations", n)
		}
	})
}

// A temporary error fails the request; the token stays.
func TestRefreshErrorFailsRequest(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.works(t)
		time.Sleep(2 * time.Hour)
		w.as.set(func() { w.as.refreshError = "temporarily_unavailable" })
		fails[*Error](t, w)
		w.as.set(func() { w.as.refreshError = "" })
		w.works(t)
		w.askedTimes(t, 1)
	})
}

// A token that is refused before it expires is refreshed first, without asking the user; but only once in a while.
func TestRefreshAfter401(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.works(t)
		time.Sleep(time.Minute)
		w.as.revoke()
		w.works(t)
		w.askedTimes(t, 1)
		if n := w.as.count(tokenLine + "refresh_token"); n != 1 {
			t.Errorf("%d refreshes", n)
		}
		w.as.revoke() // what came of that is refused too
		w.works(t)
		w.askedTimes(t, 2)
		if n := w.as.count(tokenLine + "refresh_token"); n != 1 {
			t.Errorf("%d refreshes", n)
		}
	})
}

// Two hubs of one user share a store: the one that comes second takes the token that the first one has refreshed.
func TestRefreshUsesTokenOfAnotherHub(t *testing.T) {
	store := NewMemory()
	live(t, Options{Store: store}, func(t *testing.T, w *world) {
		w.works(t)
		first := w.s
		w.open(Options{Store: store})
		w.works(t)
		time.Sleep(2 * time.Hour)
		w.works(t) // the second hub refreshes; the first one's refresh token is invalid now
		second := w.s
		w.s = first
		w.works(t)
		w.askedTimes(t, 1)
		second.Close()
	})
}

// The same without refresh tokens: a hub takes the token for which the other hub has asked the user, and asks nobody.
func TestTokenOfAnotherHubIsBorrowed(t *testing.T) {
	store := NewMemory()
	live(t, Options{Store: store}, func(t *testing.T, w *world) {
		w.as.noRefresh = true
		w.works(t)
		first := w.s
		w.open(Options{Store: store})
		time.Sleep(2 * time.Hour)
		w.works(t) // the second hub has asked
		second := w.s
		w.s = first
		w.works(t)
		w.askedTimes(t, 2)
		second.Close()
	})
}

// Signing out during a refresh: the new token is not used, and the store stays empty.
func TestForgetDuringRefresh(t *testing.T) {
	store := NewMemory()
	live(t, Options{Store: store}, func(t *testing.T, w *world) {
		w.works(t)
		time.Sleep(2 * time.Hour)
		w.as.set(func() { w.as.slow = make(chan struct{}) })
		done := make(chan error)
		go func() { _, err := w.call(t.Context()); done <- err }()
		synctest.Wait()
		if err := w.s.Forget(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-done; !errors.Is(err, ErrSignedOut) {
			t.Errorf("%v", err)
		}
		synctest.Wait()
		if kept, _ := store.Load(t.Context(), w.s.key); kept != nil || w.s.State() != 0 {
			t.Errorf("kept %v, state %v", kept, w.s.State())
		}
	})
}

// A sign-in that overtakes a refresh wins, whatever the refresh brings later.
func TestSignInOvertakesRefresh(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.works(t)
		time.Sleep(2 * time.Hour)
		slow := make(chan struct{})
		w.as.set(func() { w.as.slow = slow })
		done := make(chan error)
		go func() { _, err := w.call(t.Context()); done <- err }()
		synctest.Wait()
		if err := w.s.SignIn(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := w.s.current().AccessToken
		close(slow)
		if err := <-done; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if got := w.s.current().AccessToken; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

// Signing out while the code is being exchanged, over a connection that ignores the cancellation: the token that comes
// is not used.
func TestForgetDuringExchange(t *testing.T) {
	store := NewMemory()
	live(t, Options{Store: store}, func(t *testing.T, w *world) {
		held := &deaf{inProcess{w.as}, make(chan struct{})}
		w.s.guard.Base = held
		w.person(func(ctx context.Context, p event.SignInQuestion) error {
			if !p.Waiting {
				w.browsers.Go(func() { w.browse(p.URL) })
				return nil
			}
			return hold(ctx, p)
		})
		done := make(chan error)
		go func() { _, err := w.call(t.Context()); done <- err }()
		synctest.Wait()
		if err := w.s.Forget(t.Context()); err != nil {
			t.Fatal(err)
		}
		close(held.open)
		if err := <-done; !errors.Is(err, ErrSignedOut) {
			t.Errorf("%v", err)
		}
		synctest.Wait()
		if n := w.as.count(tokenLine + "authorization_code"); n != 1 {
			t.Fatalf("%d exchanges: nothing was tried", n)
		}
		if kept, _ := store.Load(t.Context(), w.s.key); kept != nil && kept.AccessToken != "" || w.s.State() != 0 {
			t.Errorf("kept %v, state %v", kept, w.s.State())
		}
	})
}

// deaf holds requests for tokens until open is closed, and ignores their cancellation.
type deaf struct {
	next inProcess
	open chan struct{}
}

func (d *deaf) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Path == "/token" {
		<-d.open
		req = req.WithContext(context.WithoutCancel(req.Context()))
	}
	return d.next.RoundTrip(req)
}

// Forget removes the token everywhere, and the next call asks.
func TestForgetSignsOut(t *testing.T) {
	store := NewMemory()
	live(t, Options{Store: store}, func(t *testing.T, w *world) {
		w.works(t)
		if err := w.s.Forget(t.Context()); err != nil {
			t.Fatal(err)
		}
		if kept, _ := store.Load(t.Context(), w.s.key); kept != nil || w.s.State() != 0 {
			t.Errorf("kept %v, state %v", kept, w.s.State())
		}
		w.works(t)
		w.askedTimes(t, 2)
	})
}

// A sign-in that runs while the user signs out is ended.
func TestForgetEndsFlow(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.person(hold)
		done := make(chan error)
		go func() { _, err := w.call(t.Context()); done <- err }()
		synctest.Wait()
		if err := w.s.Forget(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-done; !errors.Is(err, ErrSignedOut) {
			t.Errorf("%v", err)
		}
	})
}

// The next run finds the token in the store, and nobody is asked; another server finds nothing.
func TestTokenSurvivesRestart(t *testing.T) {
	store := NewMemory()
	live(t, Options{Store: store}, func(t *testing.T, w *world) {
		w.works(t)
		w.s.Close()
		w.open(Options{Store: store})
		w.works(t)
		w.askedTimes(t, 1)
		w.s.Close()
		w.open(Options{Store: store, Server: "another"})
		w.works(t)
		w.askedTimes(t, 2)
	})
}

// If the store fails, the token is kept in memory, and calls work.
func TestStoreTrouble(t *testing.T) {
	live(t, Options{Store: broken{}}, func(t *testing.T, w *world) {
		w.works(t)
		w.works(t)
		w.askedTimes(t, 1)
	})
}

type broken struct{}

func (broken) Lock(context.Context, Key) (func(), error) { return nil, errors.New("no disk") }
func (broken) Load(context.Context, Key) (*Entry, error) { return nil, errors.New("no disk") }
func (broken) Save(context.Context, *Entry) error        { return errors.New("no disk") }
func (broken) Delete(context.Context, Key) error         { return errors.New("no disk") }
