package sources

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"time"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/config/edit"
	"github.com/mcphub-go/mcphub/hub/event"
)

// AddServer adds an entry to a file and waits until the change is applied, for at most applyWait. UpdateServer,
// RemoveServer and Undo wait likewise.
func (c *Config) AddServer(ctx context.Context, to Target, f edit.Form, set edit.Settings) (Written, error) {
	return c.afterWrite(ctx, to.Preview)(c.files.Add(ctx, to, f, set))
}

// UpdateServer changes an entry.
func (c *Config) UpdateServer(ctx context.Context, to Target, u edit.Update) (Written, error) {
	return c.afterWrite(ctx, to.Preview)(c.files.Update(ctx, to, u))
}

// RemoveServer takes an entry out of its file.
func (c *Config) RemoveServer(ctx context.Context, to Target) (Written, error) {
	return c.afterWrite(ctx, to.Preview)(c.files.Remove(ctx, to))
}

// Undo restores the text that a file had before the last write, as Files.Undo does.
func (c *Config) Undo(ctx context.Context, id string, by config.Writer) (Written, error) {
	return c.afterWrite(ctx, false)(c.files.Undo(ctx, id, by))
}

// applyWait bounds how long a write waits for the servers that its reload stops.
const applyWait = 10 * time.Second

// afterWrite returns a function that applies the result of a write. If the write was refused because the entry was
// outdated, that function also reads the config again, so that people see the entry as it is. A preview has written
// nothing.
func (c *Config) afterWrite(ctx context.Context, preview bool) func(Written, error) (Written, error) {
	return func(w Written, err error) (Written, error) {
		if err != nil {
			if e, ok := errors.AsType[*event.Error](err); ok && e.Reason == event.ReasonConfigChanged {
				_ = c.applied(ctx, e.Meta["file"])
			}
			return Written{}, err
		}
		if preview {
			return w, nil
		}
		return w, c.applied(ctx, w.File)
	}
}

// applied reads the config again and waits, for at most applyWait, until the servers that have to stop have stopped.
func (c *Config) applied(ctx context.Context, changed string) error {
	_, _, waits, err := c.Load(ctx, nil, changed)
	if err != nil {
		return err
	}
	late := time.NewTimer(applyWait)
	defer late.Stop()
	for _, w := range waits {
		select {
		case <-w:
		case <-late.C:
			return nil // the state of the server says that it is being stopped
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

var errOutdated = errors.New("the entry changed since the hub read it")

// outdated reports whether an entry differs from what the hub has read last, which is what people have seen.
func (c *Config) outdated(src Source, now *config.Server, name string) bool {
	var known *config.Server
	c.House.Update(func() {
		for _, l := range c.Owner.Launches() {
			for _, e := range l.Entries() {
				if e.Conf.Name == name && e.Conf.Origin.File == src.Path && e.Conf.Origin.Folder == src.Folder {
					conf := e.Conf
					known = &conf
				}
			}
		}
	})
	if known == nil || now == nil { // of an entry that cannot be used, people see only the problems
		return false
	}
	return known.LaunchKey() != now.LaunchKey() || known.Disabled != now.Disabled ||
		!maps.Equal(known.Approvals, now.Approvals) || !reflect.DeepEqual(known.Tools, now.Tools) ||
		!reflect.DeepEqual(known.Timeouts, now.Timeouts)
}

// noted says whether an entry counts as written by a program, before a change and after it.
type noted struct{ before, now bool }

// note records that a program writes an entry, before the entry is written. It records nothing if the entry stays the
// user's own, as it was before. For a preview it only returns what it would record.
func (c *Config) note(src config.Source, before *config.Server, edited edit.Edited,
	to Target) (n noted, err error) {
	if before != nil {
		n.before = c.Launches.Grants.Writers()(*before) != config.Writer{}
	}
	after := edited.Server
	if after == nil {
		return n, nil
	}
	n.now = n.before || before == nil || before.LaunchKey() != after.LaunchKey() || allowsMore(*before, *after)
	if n.now = n.now && !edited.AsBefore; !n.now || to.Preview {
		return n, nil
	}
	src.JSON = edited.Text
	err = c.Launches.Grants.NoteWritten(src.Path, *after, to.By, config.LayoutOf(src).Servers)
	if err != nil && !after.Origin.NeedsConsent() {
		return n, &unnotedError{err}
	}
	return n, nil
}

// unnotedError says that note failed. The entry is then not written, since the next hub would start it without a
// question.
type unnotedError struct{ err error }

func (e *unnotedError) Error() string { return e.err.Error() }

// allowsMore reports whether a change allows more: whether a tool may be called without a question, or at all, that
// could not be before.
func allowsMore(before, after config.Server) bool {
	if !after.Tools.Within(before.Tools) {
		return true
	}
	for pattern, p := range after.Approvals {
		if p == config.Allow && before.Approvals[pattern] != config.Allow {
			return true
		}
	}
	for pattern, p := range before.Approvals {
		now, said := after.Approvals[pattern]
		if p != config.Allow && (!said || now == config.Ask && p == config.Deny) {
			return true
		}
	}
	return false
}
