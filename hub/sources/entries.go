package sources

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/config/edit"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/statefile"
)

// File is a source, with what is needed to choose a file for a new server.
type File struct {
	Source
	edit.Place
	Exists bool
	// NotWritable says, in words for people, why no server can be added; it is "" if one can. Line is the line that
	// NotWritable is about, 0 for none.
	NotWritable string
	Line        int
	Default     bool // Add takes this file if none is named
}

// List returns all sources, and for each whether a server can be added to it.
func (f *Files) List(ctx context.Context) (list []File) {
	for _, s := range f.Sources() {
		list = append(list, f.look(ctx, s))
	}
	for _, scope := range []string{"user", "host"} {
		for i := range slices.Backward(list) {
			if list[i].Scope == scope && list[i].JSON == "" && list[i].Path != "" {
				list[i].Default = true
				return list
			}
		}
	}
	return list
}

func (f *Files) look(ctx context.Context, s Source) File {
	out := File{Source: s, Place: edit.Place{Dialect: s.Dialect}}
	if s.JSON != "" || s.Path == "" {
		out.NotWritable = "it is no file: the program that started the hub handed over its text"
		return out
	}
	text, err := readFile(ctx, s.Path, s.Scope)
	_, missing := os.Stat(s.Path)
	out.Exists = !errors.Is(missing, fs.ErrNotExist)
	if err != nil && out.Exists {
		out.NotWritable = "it cannot be read: " + bounds.Printable(err.Error())
		return out
	}
	place, err := edit.PlaceIn(s.text(text))
	if r, ok := errors.AsType[*edit.Refusal](err); ok {
		out.NotWritable, out.Line = f.Redactor.Text(r.Error()), r.Line
		return out
	}
	out.Place = place
	if err := statefile.Writable(s.Path, rewriting(s, true)); err != nil {
		out.NotWritable = err.Error()
	}
	return out
}

// Entry returns the entry that to names, and its file.
func (f *Files) Entry(ctx context.Context, to Target) (edit.Found, File, error) {
	to.Server = bounded(to.Server)
	src, to, err := f.sourceOf(ctx, to)
	if err != nil {
		return edit.Found{}, File{}, err
	}
	text, err := readFile(ctx, src.Path, src.Scope)
	if err != nil {
		err = &statefile.RewriteError{Path: src.Path, Message: "cannot be read", Err: err}
	}
	var found edit.Found
	if err == nil {
		found, err = edit.EntryOf(src.text(text), to.Server)
	}
	if err != nil {
		return edit.Found{}, File{}, f.notWritten(err, src.Path, to.Server, "read")
	}
	return found, f.look(ctx, src), nil
}

// Problems converts the problems of a text to the form that people see.
func (f *Files) Problems(list []config.Problem) (out []event.ConfigProblem) {
	for _, p := range list {
		out = append(out, f.Problem(p))
	}
	return out
}
