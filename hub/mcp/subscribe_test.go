package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

const onlySubscribe = `{"resources":{"subscribe":true}}`

func subscribed(t *testing.T, s *Session, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, s.subs.uris(true)); diff != "" {
		t.Errorf("subscriptions (-want +got):\n%s", diff)
	}
}

// TestSubscribeLegacy: one request each, nothing for what is agreed already, and the changes arrive.
func TestSubscribeLegacy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New(fakeserver.WithCapabilities(allCapabilities))
		f.Handle(protocol.MethodSubscribe, func(c *fakeserver.CallContext) {
			if stringOf(c.Param("uri")) == "bad" {
				c.Error(-32602, "no such resource")
				return
			}
			c.Result(`{}`)
		})
		f.Handle(protocol.MethodUnsubscribe, func(c *fakeserver.CallContext) { c.Result(`{}`) })
		h := &recorder{}
		s := connect(t, f, h)
		for _, uri := range []string{"b", "a", "a"} {
			if err := s.Subscribe(background, uri); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Subscribe(background, "bad"); rpcError(err) == nil {
			t.Errorf("got %v", err)
		}
		subscribed(t, s, "a", "b")
		if n := len(lines(f, protocol.MethodSubscribe)); n != 3 {
			t.Errorf("%d requests", n)
		}
		for _, params := range []string{`{"uri":"a\/x"}`, `{"uri":""}`, `{"uri":7}`, `{}`, `[]`} {
			f.Notify(protocol.MethodResourceUpdated, params)
		}
		f.Notify(protocol.MethodPromptsChanged, "")
		f.Notify(protocol.MethodResourcesChanged, `{}`)
		f.Notify(protocol.MethodToolsChanged, "")
		synctest.Wait()
		if diff := cmp.Diff([]string{"a/x", "prompts", "resources"}, h.heard()); diff != "" || h.changed() != 1 {
			t.Errorf("%d tool changes, told (-want +got):\n%s", h.changed(), diff)
		}
		for range 2 {
			if err := s.Unsubscribe(background, "a"); err != nil {
				t.Error(err)
			}
		}
		if n := len(lines(f, protocol.MethodUnsubscribe)); n != 1 {
			t.Errorf("%d requests", n)
		}
		subscribed(t, s, "b")
		f.Disconnect()
		<-s.Done()
		subscribed(t, s, "b") // for the next session
		var closed *jsonrpc.ClosedError
		if err := s.Subscribe(background, "c"); !errors.As(err, &closed) {
			t.Errorf("on a session that is over: %v", err)
		}
	})
}

// TestSubscribeLegacyCancelled: a caller who gives up leaves no subscription behind, unless another one waits for the
// same.
func TestSubscribeLegacyCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New(fakeserver.WithCapabilities(allCapabilities))
		asked := make(chan *fakeserver.CallContext, 2)
		f.Handle(protocol.MethodSubscribe, func(c *fakeserver.CallContext) { asked <- c })
		s := connect(t, f, &recorder{})
		ctx, cancel := context.WithCancelCause(background)
		errs := [2]chan error{make(chan error, 1), make(chan error, 1)}
		go func() { errs[0] <- s.Subscribe(ctx, "a") }()
		<-asked
		go func() { errs[1] <- s.Subscribe(background, "a") }()
		second := <-asked
		cancel(&stopped{"enough"})
		var cancelled *jsonrpc.CancelledError
		if err := <-errs[0]; !errors.As(err, &cancelled) {
			t.Errorf("got %v", err)
		}
		subscribed(t, s)
		second.Result(`{}`)
		if err := <-errs[1]; err != nil {
			t.Error(err)
		}
		subscribed(t, s, "a")
	})
}

// TestSubscribeModern: the listen stream is opened anew, one at a time, with the whole set; when it is acknowledged,
// all of it is announced as changed once.
func TestSubscribeModern(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New(fakeserver.WithModern(), fakeserver.WithCapabilities(allCapabilities))
		h := &recorder{}
		s := connect(t, f, h)
		first := openStream(t, f)
		if want := `{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true}`; string(
			first.Filter) != want {
			t.Errorf("asked for %s", first.Filter)
		}
		synctest.Wait()
		if told := h.heard(); told != nil || h.changed() != 0 {
			t.Errorf("told at the start: %v", told)
		}
		if err := s.Subscribe(background, "file:///\u00e9\"a"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		subscribed(t, s, "file:///\u00e9\"a")
		if told := h.heard(); !slices.Equal(told, []string{"prompts", "resources"}) || h.changed() != 1 {
			t.Errorf("told after the switch: %v and %d tool changes", told, h.changed())
		}
		if err := s.Subscribe(background, "b"); err != nil {
			t.Fatal(err)
		}
		if err := s.Subscribe(background, "b"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		// A URI that was subscribed to before is announced as updated, a new one is not.
		if told := h.heard(); !slices.Equal(told, []string{"prompts", "resources", "file:///\u00e9\"a"}) {
			t.Errorf("told after the second switch: %v", told)
		}
		streams := f.Subscriptions()
		if len(streams) != 1 || string(member(streams[0].Filter, uriListName)) != `["b","file:///é\"a"]` {
			t.Fatalf("%d streams, the first is for %s", len(streams), streams[0].Filter)
		}
		if err := streams[0].Notify(protocol.MethodResourceUpdated, `{"uri":"b"}`); err != nil {
			t.Fatal(err)
		}
		// What comes on the stream that was left is dropped: the switch has announced all changes.
		if err := first.Notify(protocol.MethodResourceUpdated, `{"uri":"left"}`); err != nil {
			t.Fatal(err)
		}
		f.Notify(protocol.MethodResourceUpdated, `{"uri":"unsigned"}`)
		// a string is another id
		f.Notify(protocol.MethodPromptsChanged, `{"_meta":{"io.modelcontextprotocol/subscriptionId":"`+string(streams[0].ID)+
			`"}}`)
		synctest.Wait()
		if told := h.heard(); !slices.Equal(told, []string{"b", "unsigned"}) {
			t.Errorf("told: %v", told)
		}
		if n := len(lines(f, protocol.MethodListen)); n != 3 {
			t.Errorf("%d streams were opened", n)
		}
		for i, cancel := range lines(f, "notifications/cancelled") {
			if string(cancel.Param("requestId")) != string(lines(f, protocol.MethodListen)[i].ID) {
				t.Errorf("cancel %d is for %s", i, cancel.Param("requestId"))
			}
		}
		if err := s.Unsubscribe(background, "b"); err != nil {
			t.Error(err)
		}
		pass(time.Second)
		subscribed(t, s, "file:///\u00e9\"a")
		if got := string(member(openStream(t, f).Filter, uriListName)); got != `["file:///é\"a"]` {
			t.Errorf("asked for %s", got)
		}
	})
}

// TestSubscribeNothingElse: a server without list changes has no stream until somebody subscribes, and none after the
// last one has left.
func TestSubscribeNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New(fakeserver.WithModern(), fakeserver.WithCapabilities(onlySubscribe))
		h := &recorder{}
		s := connect(t, f, h)
		pass(time.Hour)
		if n := len(lines(f, protocol.MethodListen)); n != 0 {
			t.Fatalf("%d streams", n)
		}
		if err := s.Subscribe(background, "a"); err != nil {
			t.Fatal(err)
		}
		if got := string(openStream(t, f).Filter); got != `{"resourceSubscriptions":["a"]}` {
			t.Errorf("asked for %s", got)
		}
		if err := s.Unsubscribe(background, "a"); err != nil {
			t.Fatal(err)
		}
		pass(time.Hour)
		if n := len(f.Subscriptions()); n != 0 || len(lines(f, protocol.MethodListen)) != 1 {
			t.Errorf("%d streams are open", n)
		}
		if told := h.heard(); told != nil {
			t.Errorf("told %v", told)
		}
	})
}

// TestSubscribeTogether: subscriptions that come at once share a change of the stream.
func TestSubscribeTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New(fakeserver.WithModern(), fakeserver.WithCapabilities(allCapabilities))
		s := connect(t, f, &recorder{})
		openStream(t, f)
		var work sync.WaitGroup
		var want []string
		for i := range 20 {
			uri := fmt.Sprintf("file:///%02d", i)
			want = append(want, uri)
			work.Go(func() {
				if err := s.Subscribe(background, uri); err != nil {
					t.Error(err)
				}
			})
		}
		work.Wait()
		synctest.Wait()
		subscribed(t, s, want...)
		if n := len(lines(f, protocol.MethodListen)); n > 4 || len(f.Subscriptions()) != 1 {
			t.Errorf("%d streams for 20 subscriptions", n)
		}
	})
}

// TestSubscribeNotHonoured: the acknowledgement says what is honoured. A URI that is not is an error for its caller
// alone, and no further stream is opened for it.
func TestSubscribeNotHonoured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New(fakeserver.WithModern(), fakeserver.WithCapabilities(allCapabilities))
		f.Handle(protocol.MethodListen, func(c *fakeserver.CallContext) {
			f.Notify(protocol.MethodAcknowledged,
				`{"notifications":{"toolsListChanged":true,"promptsListChanged":false,"resourceSubscriptions":["a"]},"_meta":{"io.modelcontextprotocol/subscriptionId":`+string(c.ID)+`}}`)
			c.Hang()
		})
		w := &warnings{}
		s := connect(t, f, &recorder{}, withWarnings(w))
		synctest.Wait()
		if n := w.said("changes that it declared"); n != 2 {
			t.Errorf("%d warnings", n)
		}
		var work sync.WaitGroup
		work.Go(func() {
			if err := s.Subscribe(background, "a"); err != nil {
				t.Error(err)
			}
		})
		work.Go(func() {
			var wrong *ProtocolError
			if err := s.Subscribe(background, "b"); !errors.As(err, &wrong) {
				t.Errorf("got %v", err)
			}
		})
		work.Wait()
		pass(time.Hour)
		subscribed(t, s, "a")
		if n := len(lines(f, protocol.MethodListen)); n > 3 {
			t.Errorf("%d streams were opened", n)
		}
		if w.said("does not honour subscriptions to resources") == 0 {
			t.Error("no warning")
		}
	})
}

// TestSubscribeRefused: an error in answer to a new set fails what is new in it; the old set goes on.
func TestSubscribeRefused(t *testing.T) {
	for _, code := range []int64{-32602, -32603} {
		synctest.Test(t, func(t *testing.T) {
			f := fakeserver.New(fakeserver.WithModern(), fakeserver.WithCapabilities(allCapabilities))
			var bad counted
			f.Handle(protocol.MethodListen, func(c *fakeserver.CallContext) {
				filter := c.Param("notifications")
				if list := versions(member(filter, uriListName)); slices.Contains(list, "bad") {
					bad.add("")
					c.Error(code, "no such resource")
					return
				}
				f.Notify(protocol.MethodAcknowledged, `{"notifications":`+string(filter)+
					`,"_meta":{"io.modelcontextprotocol/subscriptionId":`+string(c.ID)+`}}`)
				c.Hang()
			})
			h := &recorder{}
			s := connect(t, f, h)
			synctest.Wait()
			if err := s.Subscribe(background, "bad"); rpcError(err) == nil || rpcError(err).Code != code {
				t.Errorf("got %v", err)
			}
			pass(time.Hour)
			subscribed(t, s)
			if h.changed() == 0 || bad.of("") != 1 {
				t.Errorf("%d changes were told, the bad set was tried %d times", h.changed(), bad.of(""))
			}
			if err := s.Subscribe(background, "good"); err != nil {
				t.Error(err)
			}
			subscribed(t, s, "good")
		})
	}
}

// TestSubscribeNoListen: where the listen stream does not exist, a subscription fails at once, now and later.
func TestSubscribeNoListen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New(fakeserver.WithModern(), fakeserver.WithCapabilities(onlySubscribe))
		f.Handle(protocol.MethodListen, func(c *fakeserver.CallContext) { c.Error(-32601, "method not found") })
		s := connect(t, f, &recorder{})
		for range 2 {
			if err := s.Subscribe(background, "a"); rpcError(err) == nil {
				t.Errorf("got %v", err)
			}
			synctest.Wait()
		}
		if n := len(lines(f, protocol.MethodListen)); n != 1 {
			t.Errorf("asked %d times", n)
		}
		subscribed(t, s)
	})
}

// TestSubscribeSilent: if the server never acknowledges, callers can give up and the session can be closed; a stream
// that nobody needs any more is cancelled.
func TestSubscribeSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New(fakeserver.WithModern(), fakeserver.WithCapabilities(onlySubscribe))
		f.Handle(protocol.MethodListen, func(c *fakeserver.CallContext) { c.Hang() })
		s := connect(t, f, &recorder{})
		ctx, cancel := context.WithCancelCause(background)
		errs := make(chan error, 2)
		go func() { errs <- s.Subscribe(ctx, "a") }()
		synctest.Wait()
		cancel(&stopped{"enough"})
		var cancelled *jsonrpc.CancelledError
		if err := <-errs; !errors.As(err, &cancelled) {
			t.Errorf("got %v", err)
		}
		pass(time.Second)
		if n := len(lines(f, "notifications/cancelled")); n != 1 {
			t.Errorf("%d cancels for the stream that nobody wants", n)
		}
		go func() { errs <- s.Subscribe(background, "b") }()
		synctest.Wait()
		s.Close(nil)
		if err := <-errs; !errors.Is(err, jsonrpc.ErrClosed) {
			t.Errorf("got %v", err)
		}
		subscribed(t, s)
	})
}

// TestSubscribeWaitsForTheLeft: the new stream is opened when the server has answered the one that was left, since it
// may tidy up before that; if it does not answer, as it should, the new stream is opened after listenSettle.
func TestSubscribeWaitsForTheLeft(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(*fakeserver.CallContext)
		took   time.Duration
	}{
		"answers": {func(c *fakeserver.CallContext) {
			pass(100 * time.Millisecond)
			c.Result(`{"resultType":"complete"}`)
		}, 100 * time.Millisecond},
		"silent": {func(*fakeserver.CallContext) {}, listenSettle},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := fakeserver.New(fakeserver.WithModern(), fakeserver.WithCapabilities(allCapabilities))
				f.Handle(protocol.MethodListen, func(call *fakeserver.CallContext) {
					f.Notify(protocol.MethodAcknowledged, `{"notifications":`+string(call.Param("notifications"))+
						`,"_meta":{"io.modelcontextprotocol/subscriptionId":`+string(call.ID)+`}}`)
					call.Hang()
					c.answer(call)
				})
				s := connect(t, f, &recorder{})
				synctest.Wait()
				began := time.Now()
				if err := s.Subscribe(background, "a"); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); took != c.took {
					t.Errorf("took %v, want %v", took, c.took)
				}
			})
		})
	}
}

// TestSubscribeRandom: callers subscribe, give up and unsubscribe at many moments, while the server ends streams. At
// the end the open stream is for the subscriptions that the session has, and no caller waits.
func TestSubscribeRandom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New(fakeserver.WithModern(), fakeserver.WithCapabilities(allCapabilities))
		s := connect(t, f, &recorder{})
		var work sync.WaitGroup
		for i := range 6 {
			work.Go(func() {
				uri := fmt.Sprint(i % 3)
				for n := range 20 {
					ctx, stop := context.WithTimeoutCause(background, time.Duration(n*37%500)*time.Millisecond, errors.New("given up"))
					err := s.Subscribe(ctx, uri)
					stop()
					if err != nil && !errors.Is(err, errUnsubscribed) && !errors.As(err, new(*jsonrpc.CancelledError)) {
						t.Errorf("Subscribe: %v", err)
					}
					pass(time.Duration(i*53%200) * time.Millisecond)
					if err := s.Unsubscribe(background, uri); err != nil {
						t.Errorf("Unsubscribe: %v", err)
					}
				}
				if i < 3 {
					return
				}
				if err := s.Subscribe(background, uri); err != nil && !errors.Is(err, errUnsubscribed) {
					t.Errorf("Subscribe: %v", err)
				}
			})
		}
		work.Go(func() {
			for range 10 {
				pass(333 * time.Millisecond)
				for _, sub := range f.Subscriptions() {
					sub.EndWithResult()
				}
			}
		})
		work.Wait()
		pass(5 * time.Minute)
		streams := f.Subscriptions()
		if len(streams) != 1 {
			t.Fatalf("%d streams", len(streams))
		}
		if diff := cmp.Diff(s.subs.uris(true), versions(member(streams[0].Filter, uriListName))); diff != "" {
			t.Errorf("the stream is for something else (-book +stream):\n%s", diff)
		}
		if all := s.subs.uris(false); !slices.Equal(all, s.subs.uris(true)) {
			t.Errorf("in the book: %v, agreed: %v", all, s.subs.uris(true))
		}
		var waiting int
		s.subs.mu.Lock()
		for _, w := range s.subs.wanted {
			waiting += w.waiters
		}
		s.subs.mu.Unlock()
		if waiting != 0 {
			t.Errorf("%d callers are waited for", waiting)
		}
	})
}
