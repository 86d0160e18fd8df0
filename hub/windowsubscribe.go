package hub

import (
	"context"
	"errors"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
)

// Each window has its own subscriptions, since the page in it shows them. They end when the window has closed for good.

// unsubscribeLimit bounds how long the hub tries to tell servers that the subscriptions of a window have ended.
const unsubscribeLimit = 10 * time.Second

var errNotUnsubscribed = errors.New("the server did not end the subscriptions of a window that is gone in time")

// subscriber returns the name under which a window is subscribed to resources.
func subscriber(windowID string) string { return "window " + windowID }

// SubscribeResource subscribes the window to a resource, until it unsubscribes or has closed for good.
func (w *Window) SubscribeResource(ctx context.Context, server, uri string) error {
	if err := w.h.SubscribeFor(ctx, subscriber(w.ID()), server, uri, bounds.ClientSubscriptions); err != nil {
		return err
	}
	w.h.update(func(st *state) {
		if st.core.WindowGone(w.ID()) { // while the server was asked, and nobody else ends the subscription
			st.unsubscribe(w.ID())
		}
	})
	return nil
}

// UnsubscribeResource ends a subscription of the window. Without a subscription it does nothing.
func (w *Window) UnsubscribeResource(ctx context.Context, server, uri string) error {
	return w.h.UnsubscribeFor(ctx, subscriber(w.ID()), server, uri)
}

// unsubscribe ends the subscriptions of a window that is gone. The hub's lock is held.
func (st *state) unsubscribe(windowID string) {
	h := st.hub
	if st.closed || len(st.subscriptions(windowID)) == 0 {
		return
	}
	st.work.Go(func() {
		ctx, stop := context.WithTimeoutCause(h.life, unsubscribeLimit, errNotUnsubscribed)
		defer stop()
		h.UnsubscribeAll(ctx, subscriber(windowID))
	})
}

func (st *state) subscriptions(windowID string) (list []event.Subscription) {
	for _, s := range st.servers {
		for _, uri := range s.SubscribedBy(subscriber(windowID)) {
			list = append(list, event.Subscription{Server: s.name, URI: uri})
		}
	}
	return list
}

// Subscriptions returns the subscriptions of a window.
func (s screen) Subscriptions(windowID string) []event.Subscription {
	return s.h.held().subscriptions(windowID)
}
