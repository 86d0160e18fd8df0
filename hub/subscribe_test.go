package hub_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// wanted returns the URIs that the server is subscribed to, once nothing moves.
func (s *offer) wanted() []string {
	pass(10 * time.Second) // time for a stream with another filter to take the place of the open one
	if s.modern {
		uris := map[string]bool{}
		for _, sub := range s.Subscriptions() {
			for _, uri := range strings.FieldsFunc(string(sub.Filter), func(r rune) bool {
				return strings.ContainsRune(`"[]{},`, r)
			}) {
				if strings.HasPrefix(uri, "file:") {
					uris[uri] = true
				}
			}
		}
		return slices.Sorted(maps.Keys(uris))
	}
	newest, on := 0, map[string]bool{}
	for _, m := range s.Received() {
		if m.Conn != newest {
			newest = m.Conn
			clear(on)
		}
		switch uri := strings.Trim(string(m.Param("uri")), `"`); m.Method {
		case "resources/subscribe":
			on[uri] = true
		case "resources/unsubscribe":
			delete(on, uri)
		}
	}
	return slices.Sorted(maps.Keys(on))
}

func (s *offer) update(uri string) error {
	if !s.modern {
		return s.Notify("notifications/resources/updated", `{"uri":"`+uri+`"}`)
	}
	for _, sub := range s.Subscriptions() {
		if strings.Contains(string(sub.Filter), uri) {
			return sub.Notify("notifications/resources/updated", `{"uri":"`+uri+`"}`)
		}
	}
	return fakeserver.ErrNotConnected
}

// A subscription holds until it is given up, across connections.
func TestSubscribeResource(t *testing.T) {
	inBothEras(t, func(t *testing.T, s *offer) {
		w := newWorld(t, serversOf("s", s.Server))
		v := w.everything()
		ctx := context.Background()
		for _, uri := range []string{"file:///a", "file:///b", "file:///a"} {
			if err := w.hub.SubscribeResource(ctx, "s", uri); err != nil {
				t.Fatal(err)
			}
		}
		both := []string{"file:///a", "file:///b"}
		if diff := cmp.Diff(both, s.wanted()); diff != "" {
			t.Fatal(diff)
		}
		if err := s.update("file:///a"); err != nil {
			t.Fatal(err)
		}
		if got := last[*event.ResourceUpdated](v); got.Server != "s" || got.URI != "file:///a" {
			t.Errorf("%+v", got)
		}
		for range 2 {
			s.Disconnect()
			pass(time.Second)
			if _, err := w.hub.StartServer(ctx, "s"); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(both, s.wanted()); diff != "" {
				t.Errorf("on the new connection: %s", diff)
			}
		}
		if err := w.hub.UnsubscribeResource(ctx, "s", "file:///a"); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"file:///b"}, s.wanted()); diff != "" {
			t.Error(diff)
		}
		s.Disconnect()
		pass(time.Second / 2)
		if err := w.hub.UnsubscribeResource(ctx, "s", "file:///b"); err != nil { // while it is gone
			t.Fatal(err)
		}
		if w.starts("s") != 3 {
			t.Errorf("%d starts: a subscription that is taken back starts nothing", w.starts("s"))
		}
		if _, err := w.hub.StartServer(ctx, "s"); err != nil {
			t.Fatal(err)
		}
		if got := s.wanted(); len(got) != 0 {
			t.Errorf("subscribed to %v", got)
		}
		if err := w.hub.UnsubscribeResource(ctx, "s", "file:///none"); err != nil {
			t.Errorf("none is no error: %v", err)
		}
		wantReason(t, w.hub.UnsubscribeResource(ctx, "none", "file:///a"), event.ReasonServerNotFound)
		w.nothingLeft()
	})
}

// The connection ends while a subscription is on its way: either it fails, or it holds on the next connection, too.
func TestSubscribeWhileTheConnectionChanges(t *testing.T) {
	t.Parallel()
	inBothEras(t, func(t *testing.T, s *offer) {
		w := newWorld(t, serversOf("s", s.Server))
		ctx := context.Background()
		for range 50 {
			if _, err := w.hub.StartServer(ctx, "s"); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			done := make(chan error, 1)
			go func() { done <- w.hub.SubscribeResource(ctx, "s", "file:///a") }()
			s.Disconnect()
			err := <-done
			pass(time.Second)
			if _, err := w.hub.StartServer(ctx, "s"); err != nil {
				t.Fatal(err)
			}
			if got := s.wanted(); (err == nil) != (len(got) == 1) {
				t.Fatalf("the subscription ended with %v, and the server tells of %v", err, got)
			}
			if err := w.hub.UnsubscribeResource(ctx, "s", "file:///a"); err != nil {
				t.Fatal(err)
			}
			if got := s.wanted(); len(got) != 0 {
				t.Fatalf("the server tells of %v", got)
			}
		}
		w.nothingLeft()
	})
}

// An update with a URI that nobody can have subscribed to is dropped: it would be kept for every window.
func TestUpdateWithAHugeURI(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := offering()
		w := newWorld(t, serversOf("s", s.Server))
		v := w.everything()
		if err := w.hub.SubscribeResource(context.Background(), "s", "file:///a"); err != nil {
			t.Fatal(err)
		}
		for _, uri := range []string{"file:///" + strings.Repeat("x", 64<<10), "file:///a"} {
			if err := s.update(uri); err != nil {
				t.Fatal(err)
			}
		}
		if got := eventsOf[*event.ResourceUpdated](v); len(got) != 1 || got[0].URI != "file:///a" {
			t.Errorf("%d updates were told", len(got))
		}
	})
}

// A resource is unsubscribed while its server, just connected anew, is still busy with the subscription that the hub
// brings over. In the end the server has none. Finding B15.
func TestUnsubscribeWhileTheConnectionIsRenewed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging(fakeserver.WithCapabilities(`{"resources":{"subscribe":true}}`))
		var mu sync.Mutex // guards on and gate
		on := map[string]bool{}
		gate := make(chan struct{})
		close(gate)
		s.Handle("resources/subscribe", func(c *fakeserver.CallContext) {
			mu.Lock()
			wait := gate
			mu.Unlock()
			<-wait
			mu.Lock()
			on["file:///a"] = true
			mu.Unlock()
			c.Result(`{}`)
		})
		s.Handle("resources/unsubscribe", func(c *fakeserver.CallContext) {
			mu.Lock()
			delete(on, "file:///a")
			mu.Unlock()
			c.Result(`{}`)
		})
		w := newWorld(t, serversOf("s", s))
		if err := w.hub.SubscribeResource(context.Background(), "s", "file:///a"); err != nil {
			t.Fatal(err)
		}
		release := make(chan struct{})
		mu.Lock()
		gate = release
		mu.Unlock()
		if _, err := w.hub.RestartServer(context.Background(), "s", ""); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		clear(on) // of the process before
		mu.Unlock()
		synctest.Wait()
		if err := w.hub.UnsubscribeResource(context.Background(), "s", "file:///a"); err != nil {
			t.Fatal(err)
		}
		close(release)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if len(on) != 0 {
			t.Error("the server has the subscription that was taken back")
		}
	})
}

// Subscriptions are brought over to a new connection within the server's own timeouts.connect, not within a fixed time.
func TestSubscriptionsAreTakenOverInTheServersTime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging(fakeserver.WithCapabilities(`{"resources":{"subscribe":true}}`))
		s.Handle("resources/subscribe", func(c *fakeserver.CallContext) {
			time.Sleep(90 * time.Second)
			c.Result(`{}`)
		})
		w := newWorld(t, serversOf("s", s), "s:"+allow+`,"timeouts":{"connect":"5m"}`)
		if err := w.hub.SubscribeResource(context.Background(), "s", "file:///a"); err != nil {
			t.Fatal(err)
		}
		if _, err := w.hub.RestartServer(context.Background(), "s", ""); err != nil {
			t.Fatal(err)
		}
		pass(2 * time.Minute)
		if got := cancels(s); len(got) != 0 {
			t.Errorf("the subscription on the new connection was cancelled: %+v", got)
		}
	})
}

// The server is asked once for what the host and gateways are subscribed to, and told when the last of them gives it
// up; a gateway that closes gives up its own.
func TestSharedSubscriptions(t *testing.T) {
	inBothEras(t, func(t *testing.T, s *offer) {
		w := newWorld(t, serversOf("s", s.Server))
		ctx := context.Background()
		var ways []*hub.Gateway
		for range 2 {
			way, err := w.hub.OpenGateway()
			if err != nil {
				t.Fatal(err)
			}
			defer way.Close()
			ways = append(ways, way)
		}
		const uri = "file:///a"
		for _, subscribe := range []func() error{
			func() error { return w.hub.SubscribeResource(ctx, "s", uri) },
			func() error { return ways[0].Subscribe(ctx, "s", uri) },
			func() error { return ways[1].Subscribe(ctx, "s", uri) },
			func() error { return ways[1].Subscribe(ctx, "s", uri) },
			func() error { return ways[1].Subscribe(ctx, "s", "file:///b") },
		} {
			if err := subscribe(); err != nil {
				t.Fatal(err)
			}
		}
		asked := s.Count(func(m fakeserver.Message) bool {
			return m.Method == "resources/subscribe" && strings.Contains(string(m.Param("uri")), uri)
		})
		if !s.modern && asked != 1 {
			t.Errorf("the server was asked %d times", asked)
		}
		for i, leave := range []func() error{
			func() error { return ways[0].Unsubscribe(ctx, "s", uri) },
			func() error { return ways[0].Unsubscribe(ctx, "s", uri) }, // it is not subscribed any more
			func() error { return w.hub.UnsubscribeResource(ctx, "s", uri) },
		} {
			if err := leave(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{uri, "file:///b"}, s.wanted()); diff != "" {
				t.Errorf("after %d have left: %s", i+1, diff)
			}
		}
		s.Disconnect()
		pass(time.Second)
		if _, err := w.hub.StartServer(ctx, "s"); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{uri, "file:///b"}, s.wanted()); diff != "" {
			t.Errorf("on the new connection: %s", diff)
		}
		ways[1].UnsubscribeAll(ctx)
		if got := s.wanted(); len(got) != 0 {
			t.Errorf("nobody is left, and the server holds %v", got)
		}
		w.nothingLeft()
	})
}
