package hub

import (
	"context"
	"errors"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
)

// The orders that a user gives to servers in a window. They are the hub's methods of the same names, but their cancels
// have the origin user.

// StopServer is [Hub.StopServer] with origin user.
func (w *Window) StopServer(ctx context.Context, name, reason string) (event.ServerInfo, error) {
	return w.h.stopServer(ctx, name, event.OriginUser, reason)
}

// RestartServer is [Hub.RestartServer] with origin user.
func (w *Window) RestartServer(ctx context.Context, name, reason string) (event.ServerInfo, error) {
	return w.h.restartServer(ctx, name, event.OriginUser, reason)
}

// SetServerEnabled is [Hub.SetServerEnabled] with origin user.
func (w *Window) SetServerEnabled(ctx context.Context, name string, enabled bool) (event.ServerInfo, error) {
	return w.h.setServerEnabled(ctx, name, event.OriginUser, enabled)
}

// SignOut is [Hub.SignOut] with origin user.
func (w *Window) SignOut(ctx context.Context, name string) (event.ServerInfo, error) {
	return w.h.signOut(ctx, name, event.OriginUser)
}

// Each window has its own subscriptions, since the page in it shows them. They end when the window has closed for good.

// unsubscribeLimit bounds how long the hub tries to tell servers that the subscriptions of a window have ended.
const unsubscribeLimit = 10 * time.Second

var errNotUnsubscribed = errors.New("the server did not end the subscriptions of a window that is gone in time")

// subscriber returns the name under which a window is subscribed to resources.
func subscriber(windowID string) string { return "window " + windowID }

// SubscribeResource subscribes the window to a resource, until it unsubscribes or has closed for good.
func (w *Window) SubscribeResource(ctx context.Context, server, uri string) error {
	if err := w.h.SubscribeFor(ctx, subscriber(w.id), server, uri, bounds.ClientSubscriptions); err != nil {
		return err
	}
	w.h.update(func(st *state) {
		if st.core.WindowGone(w.id) { // while the server was asked, and nobody else ends the subscription
			st.unsubscribe(w.id)
		}
	})
	return nil
}

// UnsubscribeResource ends a subscription of the window. Without a subscription it does nothing.
func (w *Window) UnsubscribeResource(ctx context.Context, server, uri string) error {
	return w.h.UnsubscribeFor(ctx, subscriber(w.id), server, uri)
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
		for _, uri := range s.subscribedBy(subscriber(windowID)) {
			list = append(list, event.Subscription{Server: s.name, URI: uri})
		}
	}
	return list
}
