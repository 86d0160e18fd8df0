package mcp

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

func subscription(t *testing.T, f *fakeserver.Server) *fakeserver.Subscription {
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
		sub := subscription(t, f)
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

// TestListenTeardown: each of the four ways to end the stream is a normal end; those that leave the link up are followed by a new stream, after
// a wait that grows, and by a look at the tools, because changes in between were told to nobody.
func TestListenTeardown(t *testing.T) {
	for name, end := range map[string]func(*fakeserver.Subscription){
		"result":    func(s *fakeserver.Subscription) { s.EndWithResult() },
		"cancelled": func(s *fakeserver.Subscription) { s.EndWithCancel("going away") },
		"error":     func(s *fakeserver.Subscription) { s.EndWithError(-32603, "internal") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := fakeserver.New(fakeserver.WithModern())
				f.Tool("t", func(c *fakeserver.CallContext) { c.Text("ok") })
				h := &recorder{}
				s := connect(t, f, h)
				sub := subscription(t, f)
				for i, delay := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second, time.Minute, time.Minute} {
					began := time.Now()
					end(sub)
					synctest.Wait()
					if n := len(f.Subscriptions()); n != 0 {
						t.Fatalf("end %d: %d streams at once", i, n)
					}
					sub = subscription(t, f)
					if took := time.Since(began); took != delay {
						t.Errorf("end %d: reopened after %v, want %v", i, took, delay)
					}
					synctest.Wait()
					if h.changed() != i+1 {
						t.Errorf("end %d: %d changes were announced", i, h.changed())
					}
				}
				// A stream that has held earns a short wait again.
				pass(2 * time.Minute)
				began := time.Now()
				end(sub)
				synctest.Wait()
				subscription(t, f)
				if took := time.Since(began); took != time.Second {
					t.Errorf("after a long stream: reopened after %v", took)
				}
				if n := len(lines(f, "notifications/cancelled")); n != 0 {
					t.Errorf("%d cancels for streams that the server had ended", n)
				}
				if _, err := s.CallTool(background, &CallRequest{Name: "t"}); err != nil {
					t.Error(err)
				}
			})
		})
	}
	t.Run("link", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := fakeserver.New(fakeserver.WithModern())
			s := connect(t, f, &recorder{})
			subscription(t, f)
			f.Disconnect()
			<-s.Done()
			pass(5 * time.Minute)
			if n := len(lines(f, methodListen)); n != 1 {
				t.Errorf("%d streams were opened", n)
			}
		})
	})
}

// TestListenRefused: a server that has no listen stream after all is not asked again.
func TestListenRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New(fakeserver.WithModern())
		f.Handle(methodListen, func(c *fakeserver.CallContext) { c.Error(-32601, "method not found") })
		s := connect(t, f, &recorder{})
		pass(time.Hour)
		if n := len(lines(f, methodListen)); n != 1 {
			t.Errorf("asked %d times", n)
		}
		if err := s.Ping(background); err != nil {
			t.Error(err)
		}
	})
}

// TestListenOnlyWhenOffered: legacy servers and servers without tools.listChanged are not listened to.
func TestListenOnlyWhenOffered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, f := range []*fakeserver.Server{
			fakeserver.New(), fakeserver.New(fakeserver.WithModern(), fakeserver.WithCapabilities(`{"tools":{"listChanged":false}}`)),
		} {
			connect(t, f, &recorder{})
			synctest.Wait()
			if n := len(lines(f, methodListen)); n != 0 {
				t.Errorf("%d streams", n)
			}
		}
	})
}

// TestServerCannotCancelCalls: the one request of ours that a server may end by notifications/cancelled is the listen stream.
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
