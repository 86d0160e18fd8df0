package hub_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// guardedWorld is a world with one server s that requires a token.
func guardedWorld(t *testing.T, entries ...string) (*webWorld, *site) {
	t.Helper()
	if len(entries) == 0 {
		entries = []string{"s:" + allow}
	}
	w := newWebWorld(t, fakeserver.HTTPOptions{}, serversOf("s", hanging()), entries...)
	w.sites["s"].guarded = true
	return w, w.sites["s"]
}

// background runs do, which returns a server, in the background.
func background(do func() (event.ServerInfo, error)) *pendingServer {
	p := &pendingServer{done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.info, p.err = do()
	}()
	return p
}

type pendingServer struct {
	done chan struct{}
	info event.ServerInfo
	err  error
}

func (p *pendingServer) over() bool {
	synctest.Wait()
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Many want the first sign-in of a server at once: one question, and all are told the same.
func TestSignInManyAtOnce(t *testing.T) {
	for range 8 {
		synctest.Test(t, func(t *testing.T) {
			w, at := guardedWorld(t)
			v := w.person()
			var all []*pendingServer
			for range 8 {
				all = append(all, background(func() (event.ServerInfo, error) { return w.hub.SignIn(context.Background(), "s") }))
			}
			w.signIn(v)
			for _, one := range all {
				if !one.over() {
					t.Error("a SignIn still waits after the sign-in")
				} else if one.err != nil {
					t.Errorf("SignIn: %v", one.err)
				}
			}
			if n := at.visited("/authorize"); n != 1 {
				t.Errorf("%d visits to the page", n)
			}
			w.nothingLeft()
		})
	}
}

// After the sign-in a list has what was left of its time, no more and no less.
func TestLimitOfAListAfterASignIn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, at := guardedWorld(t, `s:"timeouts":{"connect":"30s"}`)
		v := w.person()
		at.set(func() { at.guarded = false })
		if _, err := w.hub.StartServer(context.Background(), "s"); err != nil {
			t.Fatal(err)
		}
		w.server("s")
		at.set(func() { at.guarded = true })
		at.http.On("POST tools/list", 0, fakeserver.Act{Silent: true})
		done := make(chan error, 1)
		go func() { _, _, err := w.hub.Tools(context.Background(), "s"); done <- err }()
		v.prompt()
		pass(20 * time.Minute)
		signedIn := time.Now()
		w.signIn(v)
		wantReason(t, <-done, event.ReasonConnectTimeout)
		if d := time.Since(signedIn); d < 29*time.Second || d > 32*time.Second {
			t.Errorf("it ended %v after the sign-in", d)
		}
		w.nothingLeft()
	})
}
