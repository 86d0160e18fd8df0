package fakeserver_test

import (
	"testing"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

func TestSubscriptionEndings(t *testing.T) {
	const listenLine = `{"jsonrpc":"2.0","id":"L","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + modernMeta + `}}`
	for _, tc := range []struct {
		name string
		end  func(*fakeserver.Server, *fakeserver.Subscription)
		want string // "" is the end of the connection
	}{
		{"result", func(_ *fakeserver.Server, u *fakeserver.Subscription) { u.EndWithResult() },
			`{"jsonrpc":"2.0","id":"L","result":{"_meta":{"io.modelcontextprotocol/subscriptionId":"L"},"resultType":"complete"}}`},
		{"cancel", func(_ *fakeserver.Server, u *fakeserver.Subscription) { u.EndWithCancel("bye") },
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"bye","requestId":"L"}}`},
		{"error", func(_ *fakeserver.Server, u *fakeserver.Subscription) { u.EndWithError(-32603, "gone") },
			`{"jsonrpc":"2.0","id":"L","error":{"code":-32603,"message":"gone"}}`},
		{"close", func(s *fakeserver.Server, _ *fakeserver.Subscription) { s.Disconnect() }, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in(t, with(fakeserver.WithModern()), func(t *testing.T, s *fakeserver.Server, c *client) {
				c.send(listenLine)
				c.want(
					`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"L"},"notifications":{"toolsListChanged":true}}}`)
				sub, err := s.WaitForSubscription(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if err := s.NotifyToolsChanged(); err != nil {
					t.Fatal(err)
				}
				c.want(
					`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"L"}}}`)
				tc.end(s, sub)
				if tc.want == "" {
					c.ended()
					return
				}
				c.want(tc.want)
				tc.end(s, sub) // it has ended already: this has no effect
				c.quiet()
				if n := len(s.Subscriptions()); n != 0 {
					t.Errorf("%d subscriptions left", n)
				}
			})
		})
	}
}

func TestClientCancelEndsSubscription(t *testing.T) {
	in(t, with(fakeserver.WithModern()), func(t *testing.T, s *fakeserver.Server, c *client) {
		c.send(`{"jsonrpc":"2.0","id":"L","method":"subscriptions/listen","params":{"notifications":{},` + modernMeta + `}}`)
		c.wantPart(`acknowledged`)
		if _, err := s.WaitForSubscription(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"L"}}`)
		c.quiet()
		if n := len(s.Subscriptions()); n != 0 {
			t.Errorf("%d subscriptions left", n)
		}
	})
}
