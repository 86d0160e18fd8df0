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

// AddServer adds an entry to a file and waits until that is applied, as all that follow do.
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

// Undo gives the file of the last write the text that it had before, as Files.Undo does.
func (c *Config) Undo(ctx context.Context, id string, by config.Writer) (Written, error) {
	return c.afterWrite(ctx, false)(c.files.Undo(ctx, id, by))
}

// applyWait bounds how long a write waits for servers that its reload stops.
const applyWait = 10 * time.Second

// afterWrite applies what was written. After a refusal of what is outdated it does so, too, for people to see it as it
// is. A preview has written nothing.
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

// applied reads the config anew and waits, within bounds, until what had to be stopped has stopped.
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

// outdated tells whether an entry says something else now than the hub has read last, which is what people have seen.
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
	if known == nil || now == nil { // one that cannot be used is seen as its problems alone
		return false
	}
	return known.LaunchKey() != now.LaunchKey() || known.Disabled != now.Disabled ||
		!maps.Equal(known.Approvals, now.Approvals) || !reflect.DeepEqual(known.Timeouts, now.Timeouts)
}

// noted tells whether a program wrote an entry, before a change and after it.
type noted struct{ before, now bool }

// note notes that a program writes an entry, before it is written: unless it is as little a program's as it was before.
// Of a preview it tells that alone.
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

// unnotedError: the entry would start without a question in the next hub.
type unnotedError struct{ err error }

func (e *unnotedError) Error() string { return e.err.Error() }

// allowsMore tells whether a tool may be called without a question after a change that could not be before.
func allowsMore(before, after config.Server) bool {
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
