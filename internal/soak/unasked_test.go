package soak

import (
	"context"
	"log/slog"
	"sync/atomic"
)

// unasked counts the questions that the hub refused without asking, because the user had declined several in a row just
// before (docs/protocol.md, "What a server may cost"). The call of such a question fails, although nobody refused that
// question. unasked is the hub's log handler, because only the log reports these refusals.
type unasked struct{ n atomic.Int64 }

// take reports whether there is a refusal that has not yet explained a failed call, and uses it up.
func (u *unasked) take() bool {
	if u.n.Add(-1) >= 0 {
		return true
	}
	u.n.Add(1)
	return false
}

func (u *unasked) Enabled(context.Context, slog.Level) bool { return true }

func (u *unasked) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "a question of a server was refused without asking" {
		u.n.Add(1)
	}
	return nil
}

func (u *unasked) WithAttrs([]slog.Attr) slog.Handler { return u }

func (u *unasked) WithGroup(string) slog.Handler { return u }
