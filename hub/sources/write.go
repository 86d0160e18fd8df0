package sources

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/config/edit"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/statefile"
)

// Target is which entry is written, and for whom.
type Target struct {
	Server string
	File   string        // path of a source; "" where only one can be meant
	By     config.Writer // its Name is never ""
}

// Written is what was written, and applied.
type Written struct {
	Server  string
	File    string
	Line    int    // of the entry; 0: it is gone
	Dialect string // of the file
	MustAsk bool   // the server starts only after a yes to its form, as a program wrote it
	// Problems are what there is to say of the entry. None keeps it from being used.
	Problems []event.ConfigProblem
	LeftOut  []string // keys of what was to be added that the dialect has no words for
	CanUndo  bool
}

// AddServer adds an entry to a file and waits until that is applied, as all that follow do.
func (c *Config) AddServer(ctx context.Context, to Target, f edit.Form, set edit.Settings) (Written, error) {
	to.Server = bounded(to.Server)
	src, err := c.sourceToAdd(ctx, to)
	if err != nil {
		return Written{}, err
	}
	return c.write(ctx, src, to, "added", func(text config.Source) (edit.Edited, error) {
		return edit.Add(text, to.Server, f, set)
	})
}

// UpdateServer changes an entry.
func (c *Config) UpdateServer(ctx context.Context, to Target, u edit.Update) (Written, error) {
	to.Server = bounded(to.Server)
	src, err := c.sourceOf(ctx, to)
	if err != nil {
		return Written{}, err
	}
	return c.write(ctx, src, to, "changed", func(text config.Source) (edit.Edited, error) {
		return edit.Change(text, to.Server, u)
	})
}

// RemoveServer takes an entry out of its file.
func (c *Config) RemoveServer(ctx context.Context, to Target) (Written, error) {
	to.Server = bounded(to.Server)
	src, err := c.sourceOf(ctx, to)
	if err != nil {
		return Written{}, err
	}
	return c.write(ctx, src, to, "removed", func(text config.Source) (edit.Edited, error) {
		return edit.Remove(text, to.Server)
	})
}

// bounded keeps a name that cannot be one from going through messages and comparisons whole.
func bounded(name string) string {
	const most = 4096
	return name[:min(len(name), most)]
}

// applyWait bounds how long a write waits for servers that its reload stops.
const applyWait = 10 * time.Second

// write changes a file, one change at a time, and applies it.
func (c *Config) write(ctx context.Context, src Source, to Target, did string,
	change func(config.Source) (edit.Edited, error)) (Written, error) {
	select {
	case c.writing <- struct{}{}:
		defer func() { <-c.writing }()
	case <-ctx.Done():
		return Written{}, context.Cause(ctx)
	}
	out := Written{Server: to.Server, File: src.Path}
	var last undo
	err := statefile.Rewrite(ctx, src.Path, rewriting(src, did == "added"), func(old []byte) ([]byte, error) {
		text := src.text(old)
		before := config.LayoutOf(text)
		if did != "added" && did != "put back" && c.outdated(src, before.Server(to.Server), to.Server) {
			return nil, errOutdated
		}
		edited, err := change(text)
		if err != nil {
			return nil, err
		}
		noted, err := c.note(text, to.Server, before.Server(to.Server), edited, to.By)
		if err != nil {
			return nil, err
		}
		last = undo{File: src.Path, Server: to.Server, Before: old, Existed: old != nil, Noted: noted.before,
			After: statefile.Sum(string(edited.Text))}
		out.Line, out.LeftOut, out.MustAsk, out.Problems = edited.Line, edited.LeftOut, noted.now, nil
		for _, p := range edited.Problems {
			out.Problems = append(out.Problems, c.problem(p))
		}
		if out.Dialect = src.Dialect; edited.Server != nil {
			out.Dialect = edited.Server.Origin.Dialect
			out.MustAsk = out.MustAsk || edited.Server.Origin.NeedsConsent()
		}
		return edited.Text, nil
	})
	if errors.Is(err, errOutdated) {
		_ = c.applied(ctx, src.Path) // so that people see it as it is
	}
	if err != nil {
		return Written{}, c.notWritten(err, src.Path, to.Server, did)
	}
	out.CanUndo = c.keepUndo(last)
	c.Logger.Info("a config file was changed through the hub", "file", src.Path, "server", bounds.Printable(to.Server),
		"what", did)
	return out, c.applied(ctx, src.Path)
}

// text is a source as its reader takes it.
func (s Source) text(old []byte) config.Source {
	return config.Source{Path: s.Path, JSON: append([]byte{}, old...), Scope: s.Scope, Dialect: s.Dialect,
		Folder: s.Folder, Trusted: s.Trusted}
}

// rewriting says how the file of a source is changed. What a folder brings must not lead to other files of the user.
func rewriting(src Source, add bool) statefile.Rewriting {
	r := statefile.Rewriting{Make: add}
	if (config.Origin{Scope: src.Scope}).OfWorkspace() {
		r.Within = src.Folder
	}
	r.Cline = config.LayoutOf(src.text(nil)).Dialect == config.DialectCline
	return r
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
func (c *Config) note(src config.Source, name string, before *config.Server, edited edit.Edited,
	by config.Writer) (n noted, err error) {
	if before != nil {
		n.before = c.Launches.Grants.Writers()(*before) != config.Writer{}
	}
	after := edited.Server
	if after == nil {
		return n, nil
	}
	n.now = n.before || before == nil || before.LaunchKey() != after.LaunchKey() || allowsMore(*before, *after)
	if n.now = n.now && !edited.AsBefore; !n.now {
		return n, nil
	}
	src.JSON = edited.Text
	err = c.Launches.Grants.NoteWritten(src.Path, *after, by, config.LayoutOf(src).Servers)
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

// problem is a problem as people see it.
func (c *Config) problem(p config.Problem) event.ConfigProblem {
	return event.ConfigProblem{File: p.File, Line: p.Line, Column: p.Column, Server: p.Server, Key: p.Key,
		Message: c.Redactor.Text(p.Message), Fatal: p.Fatal}
}
