package signin

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/event"
)

// A 403 for lack of scopes asks for what was granted and what is wanted (SEP-2350).
func TestStepUpAsksForUnion(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.as.challenge = "read list"
		w.works(t)
		w.as.set(func() { w.as.challenge, w.as.required = "write", []string{"write"} })
		w.works(t)
		consent, _ := w.asked()
		if len(consent) != 2 {
			t.Fatalf("prompts %+v", consent)
		}
		if diff := cmp.Diff([]string{"list", "read", "write"}, consent[1].Scopes); diff != "" {
			t.Error(diff)
		}
	})
}

// What was granted is known after a restart too.
func TestStepUpAfterRestart(t *testing.T) {
	store := NewMemory()
	live(t, Options{Store: store}, func(t *testing.T, w *world) {
		w.as.challenge = "read"
		w.works(t)
		w.s.Close()
		w.open(Options{Store: store})
		w.as.set(func() { w.as.challenge, w.as.required = "write", []string{"write"} })
		w.works(t)
		consent, _ := w.asked()
		if diff := cmp.Diff([]string{"read", "write"}, consent[1].Scopes); diff != "" {
			t.Error(diff)
		}
	})
}

// If a server is never content, the user is asked at most maxStepUps times for one set of scopes.
func TestStepUpLimit(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.works(t)
		w.as.set(func() {
			w.as.challenge, w.as.required = "admin", []string{"admin"}
			w.as.grants = func(asked string) string { return strings.ReplaceAll(asked, "admin", "") }
		})
		for range maxStepUps {
			if status, err := w.call(t.Context()); status != http.StatusForbidden || err != nil {
				t.Fatalf("status %d, %v", status, err)
			}
		}
		if e := fails[*RefusedError](t, w); !strings.Contains(e.Error(), "admin") {
			t.Errorf("%v", e)
		}
		w.askedTimes(t, 1+maxStepUps)
		w.as.set(func() { w.as.challenge, w.as.required = "write", []string{"write"} })
		w.works(t) // another set has a limit of its own
	})
}

// A 403 for other reasons starts no flow.
func TestPlain403IsAnError(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.works(t)
		w.as.set(func() { w.as.plain403 = true })
		fails[*RefusedError](t, w)
		w.askedTimes(t, 1)
	})
}

// Calls that need the same scopes share the flow; one that needs others gets a flow of its own after it.
func TestStepUpsShareAndQueue(t *testing.T) {
	live(t, Options{}, func(t *testing.T, w *world) {
		w.works(t)
		open := make(chan struct{})
		w.person(func(ctx context.Context, p event.SignInQuestion) error {
			if !p.Waiting {
				<-open
			}
			return w.accept(ctx, p)
		})
		refused := func(scope string) (*http.Request, *http.Response) {
			req, _ := http.NewRequest(http.MethodPost, mcpURL, nil)
			if err := w.s.Sign(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			header := http.Header{"Www-Authenticate": {`Bearer error="insufficient_scope", scope="` + scope + `"`}}
			return req, &http.Response{StatusCode: http.StatusForbidden, Header: header, Body: http.NoBody}
		}
		var calls sync.WaitGroup
		for _, scope := range []string{"write", "write", "write", "admin"} {
			req, resp := refused(scope)
			calls.Go(func() {
				if err := w.s.Authorize(t.Context(), req, resp); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait() // so that the first one begins the flow
		}
		close(open)
		calls.Wait()
		consent, _ := w.asked()
		if len(consent) != 3 || !slices.Contains(consent[1].Scopes, "write") ||
			!cmp.Equal(consent[2].Scopes, []string{"admin", "write"}) {
			t.Errorf("prompts %+v", consent)
		}
	})
}
