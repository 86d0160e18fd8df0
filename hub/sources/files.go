package sources

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"sync/atomic"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/config/edit"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/redact"
	"github.com/mcphub-go/mcphub/hub/statefile"
)

// FilesOptions are the options of Files.
type FilesOptions struct {
	Sources  func() []Source // returns the sources; only those that are files are written
	AnyFile  bool            // Undo also accepts a file that is none of Sources
	StateDir string          // where the last write is kept for an undo; "" = memory
	Redactor *redact.Redactor
	Logger   *slog.Logger
	// Outdated reports whether an entry differs from what people have seen of it. nil means that none does.
	Outdated func(src Source, now *config.Server, name string) bool
	// Note records that a program writes an entry, before the entry is written. For a preview it records nothing, and
	// returns what it would record. nil means that no program writes entries.
	Note func(src config.Source, before *config.Server, edited edit.Edited, to Target) (Noted, error)
}

// Noted says whether an entry counts as written by a program, before a change and after it.
type Noted struct{ Before, Now bool }

// UnnotedError says that Note failed. The entry is then not written, since the next hub would start it without a
// question.
type UnnotedError struct{ Err error }

func (e *UnnotedError) Error() string { return e.Err.Error() }

// errOutdated says that an entry differs from what people have seen of it.
var errOutdated = errors.New("the entry changed since the hub read it")

// Files changes config files, one change at a time. An entry that is written through Files alone counts as written by
// the user, so nobody is asked about it. A hub also records the program that has an entry written (Note), and then the
// user is asked.
type Files struct {
	FilesOptions

	undone    *statefile.File
	writing   chan struct{}          // holds one token while a file is being written
	lastWrite atomic.Pointer[[]byte] // what undone would hold if there were a StateDir; nil if there is
}

// NewFiles returns Files with these options.
func NewFiles(o FilesOptions) *Files {
	return &Files{FilesOptions: o, writing: make(chan struct{}, 1),
		undone: statefile.Open(o.StateDir, "config-undo.json", statefile.Options{Logger: o.Logger, Version: 1})}
}

// Target says which entry is read or written, and for whom.
type Target struct {
	Server string
	File   string        // path of a source; "" where only one can be meant
	By     config.Writer // its Name is never ""
	// Preview means that nothing is written or recorded, and that Written describes what would be.
	Preview bool
}

// Written describes a change that was written to a file.
type Written struct {
	Server  string
	File    string
	Line    int    // of the entry; 0 if it was removed
	Dialect string // of the file
	MustAsk bool   // the server starts only after the user's consent: a program or a workspace wrote it
	// Problems are the problems of the entry. None of them keeps the entry from being used.
	Problems []event.ConfigProblem
	LeftOut  []string // keys that were to be added and that the dialect does not have
	CanUndo  bool
	UndoID   string // of this write; "" when it cannot be undone
	// LinesBefore and LinesAfter are set for a preview: the lines that would be removed, and the lines that would take
	// their place.
	LinesBefore, LinesAfter string
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

// bounded cuts a name that is too long to be one, so that messages and comparisons do not have to handle all of it.
func bounded(name string) string {
	const most = 4096
	return name[:min(len(name), most)]
}

// write changes a file, one change at a time. did completes "server x was not ..." in errors, and tells additions and
// undos from other changes.
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
	how := rewriting(src, did == "added")
	how.Preview = to.Preview
	err := statefile.Rewrite(ctx, src.Path, how, func(old []byte) ([]byte, error) {
		text := src.text(old)
		before := config.LayoutOf(text)
		if f.Outdated != nil && did != "added" && did != "put back" && f.Outdated(src, before.Server(to.Server), to.Server) {
			return nil, errOutdated
		}
		edited, err := change(text)
		if err != nil {
			return nil, err
		}
		var by Noted
		if to.Preview {
			out.LinesBefore, out.LinesAfter = edit.Changed(old, edited.Text)
		}
		if f.Note != nil {
			if by, err = f.Note(text, before.Server(to.Server), edited, to); err != nil {
				return nil, err
			}
		}
		last = undo{File: src.Path, Scope: src.Scope, Dialect: src.Dialect, Folder: src.Folder,
			Server: to.Server, Before: old, Existed: old != nil, Noted: by.Before,
			After: statefile.Sum(string(edited.Text))}
		out.Line, out.LeftOut, out.MustAsk, out.Problems = edited.Line, edited.LeftOut, by.Now, nil
		for _, p := range edited.Problems {
			out.Problems = append(out.Problems, f.Problem(p))
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

// text returns s with the content old, in the form of package config.
func (s Source) text(old []byte) config.Source {
	return config.Source{Path: s.Path, JSON: append([]byte{}, old...), Scope: s.Scope, Dialect: s.Dialect,
		Folder: s.Folder, Trusted: s.Trusted}
}

// rewriting returns how the file of a source is rewritten. A file of a workspace must not lead, by links, to files
// outside of its folder.
func rewriting(src Source, add bool) statefile.Rewriting {
	r := statefile.Rewriting{Make: add}
	if (config.Origin{Scope: src.Scope}).OfWorkspace() {
		r.Within = src.Folder
	}
	r.Cline = config.LayoutOf(src.text(nil)).Dialect == config.DialectCline
	return r
}

// Problem converts a problem to the form that people see, without secrets.
func (f *Files) Problem(p config.Problem) event.ConfigProblem {
	return event.ConfigProblem{File: p.File, Line: p.Line, Column: p.Column, Server: p.Server, Key: p.Key,
		Message: f.Redactor.Text(p.Message), Fatal: p.Fatal}
}
