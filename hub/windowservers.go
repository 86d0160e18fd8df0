package hub

import (
	"context"

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
