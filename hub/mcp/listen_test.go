package mcp

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

func openStream(t *testing.T, f *fakeserver.Server) *fakeserver.Subscription {
	t.Helper()
	sub, err := f.WaitForSubscription(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return sub
}

func TestListenDeliversChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New(fakeserver.WithModern())
		h := &recorder{}
		s := connect(t, f, h)
		sub := openStream(t, f)
		if string(sub.Filter) != `{"toolsListChanged":true}` {
			t.Errorf("asked for %s", sub.Filter)
		}
		synctest.Wait()
		if h.changed() != 0 {
			t.Error("the first acknowledgement was taken for a change")
		}
		f.NotifyToolsChanged()
		synctest.Wait()
		if h.changed() != 1 {
			t.Errorf("%d changes", h.changed())
		}
		if len(s.Pending()) != 0 || s.InFlight() != 0 {
			t.Errorf("the stream shows as a call: %v", s.Pending())
		}
		// Close ends the stream as a client does on stdio.
		s.Close(&stopped{"done"})
		synctest.Wait()
		cancels := lines(f, "notifications/cancelled")
		if len(cancels) != 1 || string(cancels[0].Param("requestId")) != string(sub.ID) {
			t.Errorf("cancels %+v", cancels)
		}
	})
}

// Each of the four ways to end the stream is a normal end. Those that leave the link up are followed by a new stream,
// after a wait that grows, and then everything that the stream is about is announced as changed, because changes in
// between were not notified.

func TestListenTeardownResult(t *testing.T) {
	testListenTeardown(t, func(s *fakeserver.Subscription) { s.EndWithResult() })
}

func TestListenTeardownCancelled(t *testing.T) {
	testListenTeardown(t, func(s *fakeserver.Subscription) { s.EndWithCancel("going away") })
}

func TestListenTeardownError(t *testing.T) {
	testListenTeardown(t, func(s *fakeserver.Subscription) { s.EndWithError(-32603, "internal") })
}

// TestListenTeardownErrorCodes: whatever error ends a stream that was acknowledged, it is not a refusal of streams.
func TestListenTeardownErrorCodes(t *testing.T) {
	for _, code := range []int64{-32601, -32602, -32000} {
		testListenTeardown(t, func(s *fakeserver.Subscription) { s.EndWithError(code, "over") })
	}
}

func testListenTeardown(t *testing.T, end func(*fakeserver.Subscription)) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New(fakeserver.WithModern(), fakeserver.WithCapabilities(allCapabilities))
		f.Tool("t", func(c *fakeserver.CallContext) { c.Text("ok") })
		h := &recorder{}
		s := connect(t, f, h)
		if err := s.Subscribe(background, "file:///a"); err != nil {
			t.Fatal(err)
		}
		sub := openStream(t, f)
		synctest.Wait()
		h.heard()
		before, cancels := h.changed(), len(lines(f, "notifications/cancelled"))
		for i, delay := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second,
			16 * time.Second, 32 * time.Second, time.Minute, time.Minute} {
			began := time.Now()
			end(sub)
			synctest.Wait()
			if n := len(f.Subscriptions()); n != 0 {
				t.Fatalf("end %d: %d streams at once", i, n)
			}
			sub = openStream(t, f)
			if took := time.Since(began); took != delay {
				t.Errorf("end %d: reopened after %v, want %v", i, took, delay)
			}
			synctest.Wait()
			if told := h.heard(); h.changed() != before+i+1 || !slices.Equal(told,
				[]string{"prompts", "resources", "file:///a"}) {
				t.Errorf("end %d: %d changes of tools were announced, and %v", i, h.changed()-before, told)
			}
		}
		// After a stream that has lasted, the wait is short again.
		pass(2 * time.Minute)
		began := time.Now()
		end(sub)
		synctest.Wait()
		openStream(t, f)
		if took := time.Since(began); took != time.Second {
			t.Errorf("after a long stream: reopened after %v", took)
		}
		if n := len(lines(f, "notifications/cancelled")); n != cancels {
			t.Errorf("%d cancels for streams that the server had ended", n-cancels)
		}
		subscribed(t, s, "file:///a")
		if _, err := s.CallTool(background, &CallRequest{Name: "t"}); err != nil {
			t.Error(err)
		}
	})
}

func TestListenTeardownLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New(fakeserver.WithModern())
		s := connect(t, f, &recorder{})
		openStream(t, f)
		f.Disconnect()
		<-s.Done()
		pass(5 * time.Minute)
		if n := len(lines(f, protocol.MethodListen)); n != 1 {
			t.Errorf("%d streams were opened", n)
		}
	})
}

// TestListenTeardownWhileWaiting: a subscription does not wait for the backoff of a stream that has ended.
func TestListenTeardownWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New(fakeserver.WithModern(), fakeserver.WithCapabilities(allCapabilities))
		h := &recorder{}
		s := connect(t, f, h)
		for range 8 {
			openStream(t, f).EndWithError(-32603, "internal")
			synctest.Wait()
		}
		began := time.Now()
		if err := s.Subscribe(background, "a"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if took := time.Since(began); took != 0 || h.changed() == 0 {
			t.Errorf("took %v, %d changes were told", took, h.changed())
		}
	})
}

// TestListenLateAnswer: the handler is not told of a late answer to a listen stream that the session has ended: it
// belongs to no call.
func TestListenLateAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New(fakeserver.WithModern(), fakeserver.WithCapabilities(allCapabilities))
		f.Handle(protocol.MethodListen, func(c *fakeserver.CallContext) {
			f.Notify(protocol.MethodAcknowledged, `{"notifications":`+string(c.Param("notifications"))+
				`,"_meta":{"io.modelcontextprotocol/subscriptionId":`+string(c.ID)+`}}`)
			c.Hang()
			c.Result(`{"resultType":"complete"}`)
		})
		f.Tool("t", func(c *fakeserver.CallContext) {
			c.Hang()
			c.Text("late")
		})
		h := &recorder{}
		s := connect(t, f, h)
		synctest.Wait()
		if err := s.Subscribe(background, "a"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := h.lateResponses(); n != 0 || s.Stats().LateResponses != 1 {
			t.Errorf("%d late responses were told, %d came", n, s.Stats().LateResponses)
		}
		ctx, cancel := context.WithCancelCause(background)
		out := begin(ctx, s, &CallRequest{Name: "t"})
		synctest.Wait()
		cancel(&stopped{"enough"})
		finished(t, out)
		synctest.Wait()
		if n := h.lateResponses(); n != 1 {
			t.Errorf("%d late responses of a call were told", n)
		}
	})
}

// TestListenRefused: a server that has no listen stream after all is not asked again.
func TestListenRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New(fakeserver.WithModern())
		f.Handle(protocol.MethodListen, func(c *fakeserver.CallContext) { c.Error(-32601, "method not found") })
		s := connect(t, f, &recorder{})
		pass(time.Hour)
		if n := len(lines(f, protocol.MethodListen)); n != 1 {
			t.Errorf("asked %d times", n)
		}
		if err := s.Ping(background); err != nil {
			t.Error(err)
		}
	})
}

// TestListenOnlyWhenOffered: no listen stream is opened to legacy servers and to servers without tools.listChanged.
func TestListenOnlyWhenOffered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, f := range []*fakeserver.Server{
			fakeserver.New(), fakeserver.New(fakeserver.WithModern(),
				fakeserver.WithCapabilities(`{"tools":{"listChanged":false}}`)),
		} {
			connect(t, f, &recorder{})
			synctest.Wait()
			if n := len(lines(f, protocol.MethodListen)); n != 0 {
				t.Errorf("%d streams", n)
			}
		}
	})
}

// TestServerCannotCancelCalls: the one request of ours that a server may end by notifications/cancelled is the listen
// stream.
func TestServerCannotCancelCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New(fakeserver.WithModern())
		calls := make(chan *fakeserver.CallContext, 1)
		f.Tool("t", func(c *fakeserver.CallContext) {
			calls <- c
			c.Hang()
		})
		s := connect(t, f, &recorder{})
		out := begin(background, s, &CallRequest{Name: "t"})
		c := <-calls
		f.Notify("notifications/cancelled", `{"requestId":`+string(c.ID)+`,"reason":"no"}`)
		synctest.Wait()
		c.Text("ok")
		if o := finished(t, out); o.err != nil {
			t.Errorf("got %v", o.err)
		}
	})
}
