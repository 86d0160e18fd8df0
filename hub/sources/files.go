package sources

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync/atomic"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/config/edit"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/redact"
	"github.com/mcphub-go/mcphub/hub/statefile"
)

// FilesOptions of Files.
type FilesOptions struct {
	Sources  func() []Source // where servers are; those that are no files are not written
	AnyFile  bool            // an undo may be of a file that is none of Sources
	StateDir string          // where the last write is kept for an undo; "" = memory
	Redactor *redact.Redactor
	Logger   *slog.Logger
}

// Files are config files that are written, one change at a time. What is written by them alone is a person's own hand:
// nobody is asked about it. Config asks.
type Files struct {
	FilesOptions
	// outdated tells whether an entry is another one than people have seen; nil: none is.
	outdated func(src Source, now *config.Server, name string) bool
	// note notes that a program writes an entry, before it is written, or tells, of a preview, what it would; nil: no
	// program does.
	note func(src config.Source, before *config.Server, edited edit.Edited, to Target) (noted, error)

	undone    *statefile.File
	writing   chan struct{}          // holds one token while somebody writes
	lastWrite atomic.Pointer[[]byte] // what undone would hold if it had a place; nil: it has
}

// NewFiles makes Files.
func NewFiles(o FilesOptions) *Files {
	return &Files{FilesOptions: o, writing: make(chan struct{}, 1),
		undone: statefile.Open(o.StateDir, "config-undo.json", statefile.Options{Logger: o.Logger})}
}

// Target is which entry is written, and for whom.
type Target struct {
	Server string
	File   string        // path of a source; "" where only one can be meant
	By     config.Writer // its Name is never ""
	// Preview: nothing is written or noted, and Written tells what would be.
	Preview bool
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
	UndoID   string // of this write; "" when it cannot be undone
	// Gone and Come are, of a preview, the lines that would go, and those that would come in their place.
	Gone, Come string
}

// Add adds an entry to a file.
func (f *Files) Add(ctx context.Context, to Target, form edit.Form, set edit.Settings) (Written, error) {
	to.Server = bounded(to.Server)
	src, err := f.sourceToAdd(ctx, to)
	if err != nil {
		return Written{}, err
	}
	return f.write(ctx, src, to, "added", func(text config.Source) (edit.Edited, error) {
		return edit.Add(text, to.Server, form, set)
	})
}

// Update changes an entry.
func (f *Files) Update(ctx context.Context, to Target, u edit.Update) (Written, error) {
	to.Server = bounded(to.Server)
	src, to, err := f.sourceOf(ctx, to)
	if err != nil {
		return Written{}, err
	}
	return f.write(ctx, src, to, "changed", func(text config.Source) (edit.Edited, error) {
		return edit.Change(text, to.Server, u)
	})
}

// Remove takes an entry out of its file.
func (f *Files) Remove(ctx context.Context, to Target) (Written, error) {
	to.Server = bounded(to.Server)
	src, to, err := f.sourceOf(ctx, to)
	if err != nil {
		return Written{}, err
	}
	return f.write(ctx, src, to, "removed", func(text config.Source) (edit.Edited, error) {
		return edit.Remove(text, to.Server)
	})
}

// bounded keeps a name that cannot be one from going through messages and comparisons whole.
func bounded(name string) string {
	const most = 4096
	return name[:min(len(name), most)]
}

// write changes a file, one change at a time, and applies it.
func (f *Files) write(ctx context.Context, src Source, to Target, did string,
	change func(config.Source) (edit.Edited, error)) (Written, error) {
	select {
	case f.writing <- struct{}{}:
		defer func() { <-f.writing }()
	case <-ctx.Done():
		return Written{}, context.Cause(ctx)
	}
	out := Written{Server: to.Server, File: src.Path}
	var last undo
	rewrite := statefile.Rewrite
	if to.Preview {
		rewrite = statefile.Rehearse
	}
	err := rewrite(ctx, src.Path, rewriting(src, did == "added"), func(old []byte) ([]byte, error) {
		text := src.text(old)
		before := config.LayoutOf(text)
		if f.outdated != nil && did != "added" && did != "put back" && f.outdated(src, before.Server(to.Server), to.Server) {
			return nil, errOutdated
		}
		edited, err := change(text)
		if err != nil {
			return nil, err
		}
		var by noted
		if to.Preview {
			out.Gone, out.Come = edit.Changed(old, edited.Text)
		}
		if f.note != nil {
			if by, err = f.note(text, before.Server(to.Server), edited, to); err != nil {
				return nil, err
			}
		}
		last = undo{File: src.Path, Scope: src.Scope, Dialect: src.Dialect, Folder: src.Folder,
			Server: to.Server, Before: old, Existed: old != nil, Noted: by.before,
			After: statefile.Sum(string(edited.Text))}
		out.Line, out.LeftOut, out.MustAsk, out.Problems = edited.Line, edited.LeftOut, by.now, nil
		for _, p := range edited.Problems {
			out.Problems = append(out.Problems, f.problem(p))
		}
		if out.Dialect = src.Dialect; edited.Server != nil {
			out.Dialect = edited.Server.Origin.Dialect
			out.MustAsk = out.MustAsk || edited.Server.Origin.NeedsConsent()
		}
		return edited.Text, nil
	})
	if err != nil {
		return Written{}, f.notWritten(err, src.Path, to.Server, did)
	}
	if to.Preview {
		return out, nil
	}
	last.ID = rand.Text()
	if out.CanUndo = f.keepUndo(last); out.CanUndo {
		out.UndoID = last.ID
	}
	f.Logger.Info("a config file was changed through the hub", "file", src.Path, "server", bounds.Printable(to.Server),
		"what", did)
	return out, nil
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

// problem is a problem as people see it.
func (f *Files) problem(p config.Problem) event.ConfigProblem {
	return event.ConfigProblem{File: p.File, Line: p.Line, Column: p.Column, Server: p.Server, Key: p.Key,
		Message: f.Redactor.Text(p.Message), Fatal: p.Fatal}
}
