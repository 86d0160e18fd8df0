package hub

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// told gives what a server was told of subscriptions, in order: "+uri" and "-uri".
func told(s *fakeserver.Server) (list []string) {
	synctest.Wait()
	for _, m := range s.Received() {
		switch uri := string(m.Param("uri")); m.Method {
		case "resources/subscribe":
			list = append(list, "+"+uri[1:len(uri)-1])
		case "resources/unsubscribe":
			list = append(list, "-"+uri[1:len(uri)-1])
		}
	}
	return list
}

// What one is subscribed to at several servers is given up at once. The end of nothing starts no server.
func TestUnsubscribeAtAllServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newInside(t, Options{}, map[string]*fakeserver.Server{"s": offering("", nil), "other": offering("", nil)},
			config.Server{Name: "s"}, config.Server{Name: "other"})
		if err := h.UnsubscribeFor(t.Context(), "g1", "s", "a:1"); err != nil || h.started("s") != 0 {
			t.Errorf("%v; %d starts", err, h.started("s"))
		}
		for _, one := range []struct{ by, server, uri string }{{"g1", "s", "a:1"}, {"g2", "s", "a:1"}, {"g1", "s", "a:2"},
			{"g1", "other", "a:1"}} {
			if err := h.SubscribeFor(t.Context(), one.by, one.server, one.uri, 0); err != nil {
				t.Fatal(err)
			}
		}
		h.UnsubscribeAll(t.Context(), "g1")
		for name, want := range map[string][]string{"s": {"+a:1", "+a:2", "-a:2"}, "other": {"+a:1", "-a:1"}} {
			if diff := cmp.Diff(want, told(h.fakes[name])); diff != "" {
				t.Errorf("%s was told (-want +got):\n%s", name, diff)
			}
		}
	})
}

// A subscription that the server refuses is none, and may be asked for again.
func TestRefusedSubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refuse := true
		fake := offering("resources/subscribe", func(c *fakeserver.CallContext) {
			if refuse {
				c.Error(-32002, "no such resource")
				return
			}
			c.Result(`{}`)
		})
		h := newInside(t, Options{}, map[string]*fakeserver.Server{"s": fake}, config.Server{Name: "s"})
		wantsRefused(t, "refused", h.SubscribeResource(t.Context(), "s", "a:1"), event.CodeUnavailable,
			event.ReasonServerFailed, "no such resource")
		if err := h.UnsubscribeResource(t.Context(), "s", "a:1"); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff([]string{"+a:1"}, told(fake)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		refuse = false
		if err := h.SubscribeResource(t.Context(), "s", "a:1"); err != nil {
			t.Error(err)
		}
	})
}

// Many subscribe and unsubscribe at the same time: what the server was told last of each resource is true in the end.
func TestSubscriptionsAtOnce(t *testing.T) {
	for seed := range uint64(50) {
		synctest.Test(t, func(t *testing.T) {
			fake := offering("", nil)
			h := newInside(t, Options{}, map[string]*fakeserver.Server{"s": fake}, config.Server{Name: "s"})
			random := rand.New(rand.NewPCG(seed, 1))
			var group sync.WaitGroup
			stays := map[string]bool{}
			for i := range 6 {
				by, uri, last := fmt.Sprint("g", i), fmt.Sprint("a:", i%2), random.IntN(3) == 0
				stays[uri] = stays[uri] || last
				group.Go(func() {
					for range 3 {
						if err := h.SubscribeFor(t.Context(), by, "s", uri, 0); err != nil {
							t.Error(err)
						}
						if err := h.UnsubscribeFor(t.Context(), by, "s", uri); err != nil {
							t.Error(err)
						}
					}
					if !last {
						return
					}
					if err := h.SubscribeFor(t.Context(), by, "s", uri, 0); err != nil {
						t.Error(err)
					}
				})
			}
			group.Wait()
			on := map[string]bool{}
			for _, one := range told(fake) {
				on[one[1:]] = one[0] == '+'
			}
			for uri, want := range stays {
				if on[uri] != want {
					t.Errorf("seed %d: the server was told that %s is subscribed to: %v, want %v: %v", seed, uri, on[uri], want,
						told(fake))
				}
			}
		})
	}
}
