package signin

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/event"
)

func lookupPublic(context.Context, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("203.0.113.7")}, nil
}

var errStop = errors.New("the caller stopped")

// The whole way: 401, metadata, registration, consent, browser, redirect, exchange, and the call goes through.
func TestSignInAndCall(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.as.supported = []string{"read"}
		if got := w.s.State(); got != 0 {
			t.Errorf("state %v before", got)
		}
		w.works(t)
		consent, waiting := w.asked()
		if len(consent) != 1 || len(waiting) > 1 {
			t.Fatalf("%d prompts, %d waiting", len(consent), len(waiting))
		}
		p := consent[0]
		want := event.SignInQuestion{URL: p.URL, URLHost: "as.example", Issuer: issuerAS, Resource: mcpURL,
			Scopes: []string{"read"}}
		if diff := cmp.Diff(want, p); diff != "" {
			t.Error(diff)
		}
		e := w.s.current()
		if w.s.State() != event.SignInSignedIn || e.Issuer != issuerAS || e.RefreshToken == "" || e.Expiry.IsZero() ||
			!cmp.Equal(e.Scopes, []string{"read"}) {
			t.Errorf("state %v, %v", w.s.State(), e)
		}
		w.works(t)
		w.askedTimes(t, 1)
	})
}

// Ten calls that meet a 401 together share one flow and one prompt, and all go through.
func TestSharedFlow(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		open := make(chan struct{})
		w.person(func(ctx context.Context, p event.SignInQuestion) error {
			if !p.Waiting {
				<-open
			}
			return w.accept(ctx, p)
		})
		var calls sync.WaitGroup
		for range 10 {
			calls.Go(func() {
				if status, err := w.call(t.Context()); status != http.StatusOK || err != nil {
					t.Errorf("status %d, %v", status, err)
				}
			})
		}
		synctest.Wait()
		w.askedTimes(t, 1)
		if got := w.s.State(); got != event.SignInAsking {
			t.Errorf("phase %v while a person is asked", got)
		}
		close(open)
		calls.Wait()
		w.askedTimes(t, 1)
		if n := w.as.count("POST as.example/token"); n != 1 {
			t.Errorf("%d token requests", n)
		}
	})
}

// A call that is cancelled leaves the flow to the others; with the last one the flow and its prompt end.
func TestLastWaiterGoneEndsFlow(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.person(hold)
		var calls sync.WaitGroup
		var stops []context.CancelCauseFunc
		for range 3 {
			ctx, stop := context.WithCancelCause(t.Context())
			stops = append(stops, stop)
			calls.Go(func() {
				if _, err := w.call(ctx); !errors.Is(err, errStop) {
					t.Errorf("%v", err)
				}
			})
		}
		synctest.Wait()
		for i, stop := range stops {
			if got := w.s.State(); got != event.SignInAsking {
				t.Fatalf("phase %v with %d waiters", got, 3-i)
			}
			stop(errStop)
			synctest.Wait()
		}
		calls.Wait()
		if got := w.s.State(); got != 0 {
			t.Errorf("phase %v after the last one has gone", got)
		}
		if diff := cmp.Diff([]string{errNobodyWaits.Error()}, w.endings()); diff != "" {
			t.Error(diff)
		}
		if n := w.net.listeners(); n != 0 {
			t.Errorf("%d listeners are left", n)
		}
	})
}

func (w *world) endings() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []string
	for _, err := range w.ends {
		all = append(all, err.Error())
	}
	return all
}

// Cancelling the call while it waits for the browser ends the flow, and the user is not asked again at once.
func TestCancelEndsFlow(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.person(consent)
		ctx, stop := context.WithCancelCause(t.Context())
		done := make(chan error)
		go func() { _, err := w.call(ctx); done <- err }()
		synctest.Wait()
		if _, waiting := w.asked(); len(waiting) != 1 {
			t.Fatalf("%d waiting prompts", len(waiting))
		}
		stop(errStop)
		if err := <-done; !errors.Is(err, errStop) {
			t.Errorf("%v", err)
		}
		synctest.Wait()
		if e := fails[*DeclinedError](t, w); e.How != "abandoned" {
			t.Errorf("%v", e)
		}
		w.askedTimes(t, 1)
	})
}

// Cancelled before anybody was asked: nothing was abandoned, and the next call asks.
func TestCancelBeforePromptLeavesNoTrace(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		never := make(chan struct{})
		w.s.guard.Lookup = func(ctx context.Context, _ string) ([]netip.Addr, error) {
			select {
			case <-never:
			case <-ctx.Done():
			}
			return nil, context.Cause(ctx)
		}
		ctx, stop := context.WithCancelCause(t.Context())
		done := make(chan error)
		go func() { _, err := w.call(ctx); done <- err }()
		synctest.Wait()
		stop(errStop)
		<-done
		synctest.Wait()
		w.s.guard.Lookup = lookupPublic
		w.askedTimes(t, 0)
		w.works(t)
		w.askedTimes(t, 1)
	})
}

// After the user has declined, calls fail at once for a minute, with the same error; then the user is asked again.
func TestDeclinedDoesNotAskAgainAtOnce(t *testing.T) {
	for how, err := range map[string]error{"declined": ErrDeclined, "dismissed": ErrDismissed} {
		t.Run(how, func(t *testing.T) {
			live(t, Options{}, func(t *testing.T, w *world) {
				w.person(says(err))
				first := fails[*DeclinedError](t, w)
				if first.How != how {
					t.Errorf("%v", first)
				}
				time.Sleep(quiet - time.Second)
				if again := fails[*DeclinedError](t, w); again != first {
					t.Errorf("%v", again)
				}
				w.askedTimes(t, 1)
				time.Sleep(2 * time.Second)
				w.person(nil)
				w.works(t)
				w.askedTimes(t, 2)
			})
		})
	}
}

// Declining while the flow waits for the browser ends the flow.
func TestDeclinedWhileWaiting(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.person(func(_ context.Context, p event.SignInQuestion) error {
			if p.Waiting {
				return ErrDeclined
			}
			return nil
		})
		fails[*DeclinedError](t, w)
		if _, waiting := w.asked(); len(waiting) != 1 {
			t.Errorf("%d waiting prompts", len(waiting))
		}
	})
}

// The user's own sign-in asks at once, whatever was declined.
func TestExplicitSignInAsksAtOnce(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.person(says(ErrDeclined))
		fails[*DeclinedError](t, w)
		w.person(nil)
		if err := w.s.SignIn(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.askedTimes(t, 2)
		w.works(t)
		if err := w.s.SignIn(t.Context()); err != nil { // another account, say
			t.Fatal(err)
		}
		w.askedTimes(t, 3)
	})
}

// An explicit sign-in ends the quiet time after a decline, even if it fails for technical reasons.
func TestExplicitSignInEndsSilence(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.person(says(ErrDeclined))
		fails[*DeclinedError](t, w)
		w.person(nil)
		w.as.set(func() { w.as.tokenError = "temporarily_unavailable" })
		if err := w.s.SignIn(t.Context()); err == nil {
			t.Fatal("signed in")
		}
		w.as.set(func() { w.as.tokenError = "" })
		w.works(t)
		w.askedTimes(t, 3)
	})
}

// An explicit sign-in needs no 401 before it: the metadata is at its well-known place.
func TestExplicitSignInWithoutChallenge(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		if err := w.s.SignIn(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.works(t)
		w.askedTimes(t, 1)
	})
}

// A flow that failed for technical reasons may be tried again by the next call.
func TestTechnicalFailureMayBeTriedAgain(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.as.tokenError = "temporarily_unavailable"
		if e := fails[*Error](t, w); e.Code != "temporarily_unavailable" {
			t.Errorf("%v", e)
		}
		w.as.set(func() { w.as.tokenError = "" })
		w.works(t)
		w.askedTimes(t, 2)
	})
}

// That nobody can be asked is no refusal, and the caller learns what the asker said.
func TestNobodyToAskIsNoRefusal(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		noWindow := errors.New("no window is open")
		w.person(says(noWindow))
		if e := fails[*Error](t, w); !errors.Is(e, noWindow) {
			t.Errorf("%v hides why", e)
		}
		w.person(nil)
		w.works(t)
	})
}

// The waiting prompt ends with the cause *Completed when the browser has come back.
func TestPromptEndsWithCompleted(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.person(func(ctx context.Context, p event.SignInQuestion) error {
			if p.Waiting {
				w.browsers.Go(func() { w.browse(p.URL) })
				return hold(ctx, p)
			}
			return nil
		})
		w.works(t)
		if diff := cmp.Diff([]string{(&Completed{}).Error()}, w.endings()); diff != "" {
			t.Error(diff)
		}
	})
}

// A host may open the URL itself, before it answers the prompt.
func TestRedirectBeforeConsentReturns(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.person(func(_ context.Context, p event.SignInQuestion) error {
			w.browse(p.URL)
			return nil
		})
		w.works(t)
	})
}

// After "I have finished" the flow waits a minute for the redirect, and fails without one.
func TestFinishedWithoutRedirect(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.person(says(nil))
		start := time.Now()
		fails[*Error](t, w)
		if got := time.Since(start); got < finished || got > finished+pageLimit {
			t.Errorf("after %v", got)
		}
	})
}

// Close ends a flow and its prompt, and every call that waits gets the cause.
func TestCloseEndsFlow(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.person(hold)
		done := make(chan error)
		go func() { _, err := w.call(t.Context()); done <- err }()
		synctest.Wait()
		go w.s.Close()
		if err := <-done; !errors.Is(err, ErrClosed) {
			t.Errorf("%v", err)
		}
		synctest.Wait()
		if diff := cmp.Diff([]string{ErrClosed.Error()}, w.endings()); diff != "" {
			t.Error(diff)
		}
		if _, err := w.call(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("a call after Close: %v", err)
		}
	})
}

// If a token is refused right after the user signed in for it, the user is not asked again and again.
func TestFreshTokenRefused(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.as.alwaysRefuse = true
		if status, err := w.call(t.Context()); status != http.StatusUnauthorized || err != nil {
			t.Errorf("status %d, %v", status, err)
		}
		fails[*RefusedError](t, w)
		w.askedTimes(t, 1)
	})
}

// Requests elsewhere get no token.
func TestForeignRequestIsNotSigned(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.works(t)
		for _, address := range []string{"https://evil.example/mcp", "http://mcp.example/mcp",
			"https://mcp.example:8443/mcp"} {
			req, _ := http.NewRequest(http.MethodGet, address, nil)
			if err := w.s.Sign(t.Context(), req); err == nil || len(req.Header) != 0 {
				t.Errorf("%s: %v, %v", address, err, req.Header)
			}
		}
	})
}

// A server that answers 401 and says nothing of a sign-in wants a key: nobody is asked, and the error says where a key
// is set. Finding D8.
func TestPlain401AdvisesAHeader(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.as.none = true
		_, err := w.call(t.Context())
		failed, ok := errors.AsType[*Error](err)
		if !ok || !strings.Contains(failed.Text, `--header 'Authorization: Bearer ...'`) ||
			!strings.Contains(failed.Text, `"headers"`) || strings.Contains(failed.Text, "registration") {
			t.Errorf("%v", err)
		}
		w.askedTimes(t, 0)
	})
}
