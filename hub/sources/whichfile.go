package sources

import (
	"context"
	"slices"
	"strings"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/config/edit"
	"github.com/mcphub-go/mcphub/hub/event"
)

// known returns the sources that are files.
func (f *Files) known() (list []Source) {
	for _, s := range f.Sources() {
		if s.JSON == "" && s.Path != "" {
			list = append(list, s)
		}
	}
	return list
}

// sourceToAdd returns the file that a server is added to: the file that is named, else the last one of the user, else
// the last one of the host. A file of a workspace is taken only if it is named.
func (f *Files) sourceToAdd(ctx context.Context, to Target) (Source, error) {
	known := f.known()
	if to.File != "" {
		return f.sourceNamed(known, to)
	}
	for _, scope := range []string{"user", "host"} {
		for _, s := range slices.Backward(known) {
			if s.Scope != scope {
				continue
			}
			if with := f.withEntry(ctx, known, to.Server); len(with) > 0 {
				return Source{}, f.notWritten(&edit.Refusal{Kind: edit.Exists,
					Message: "there is an entry of this name; change that one, choose another name, or name the file to add to"},
					with[0].Path, to.Server, "added")
			}
			return s, nil
		}
	}
	return Source{}, event.Fail(event.CodeFailedPrecondition, event.ReasonConfigFileNeeded, []string{"server",
		bounds.Printable(to.Server)}, "server %q was not added: no config file of the user is known; name the file to add to",
		bounds.Printable(to.Server))
}

// sourceNamed returns the source of the file that to names.
func (f *Files) sourceNamed(known []Source, to Target) (Source, error) {
	file := Absolute([]Source{{Path: to.File}})[0].Path
	for _, s := range known {
		if s.Path == file {
			return s, nil
		}
	}
	return Source{}, event.Fail(event.CodeNotFound, event.ReasonConfigFileNeeded, []string{"file",
		bounds.Printable(to.File)}, "%q is none of the config files of this hub; load the config with it first",
		bounds.Printable(to.File))
}

// withEntry returns the sources whose files have an entry of this name now.
func (f *Files) withEntry(ctx context.Context, known []Source, name string) (list []Source) {
	for _, s := range known {
		text, err := readFile(ctx, s.Path, s.Scope)
		if err != nil {
			continue
		}
		if layout := config.LayoutOf(s.text(text)); len(layout.Named(name)) > 0 {
			list = append(list, s)
		}
	}
	return list
}

// resolveAddress resolves the address of an entry (config.Address) to the name of the entry and the sources of its
// scope. If the whole address is the name of an entry in the file that is named, or in a file of the user or the host,
// that entry goes first.
func (f *Files) resolveAddress(ctx context.Context, to Target) (Target, []Source) {
	known := f.known()
	name, scope, ok := config.SplitAddress(to.Server)
	if !ok {
		return to, known
	}
	var of []Source
	for _, s := range known {
		if (config.Origin{Scope: s.Scope}).Holder() == scope {
			of = append(of, s)
		}
	}
	exact := slices.ContainsFunc(f.withEntry(ctx, known, to.Server), func(s Source) bool {
		return to.File != "" && s.Path == Absolute([]Source{{Path: to.File}})[0].Path ||
			!(config.Origin{Scope: s.Scope}).OfWorkspace()
	})
	if exact || len(f.withEntry(ctx, of, name)) == 0 {
		return to, known
	}
	to.Server = name
	return to, of
}

// sourceOf returns the file that has the entry, and the target with the name that the entry has in that file.
func (f *Files) sourceOf(ctx context.Context, to Target) (Source, Target, error) {
	to, known := f.resolveAddress(ctx, to)
	s, err := f.sourceAmong(ctx, known, to)
	return s, to, err
}

func (f *Files) sourceAmong(ctx context.Context, known []Source, to Target) (Source, error) {
	if to.File != "" {
		s, err := f.sourceNamed(known, to)
		if err != nil {
			return Source{}, err
		}
		for _, of := range f.withEntry(ctx, known, to.Server) { // one file may be a source for each of several folders
			if of.Path == s.Path {
				return of, nil
			}
		}
		return s, nil // the caller finds no entry in it, and says so
	}
	var files []string
	with := f.withEntry(ctx, known, to.Server)
	for _, s := range with {
		if !slices.Contains(files, s.Path) {
			files = append(files, s.Path)
		}
	}
	name := bounds.Printable(to.Server)
	switch len(files) {
	case 1:
		return with[0], nil
	case 0:
		return Source{}, event.Fail(event.CodeNotFound, event.ReasonServerNotFound, []string{"server", name},
			"no config file of this hub that can be read and changed has a server %q", name)
	}
	return Source{}, event.Fail(event.CodeInvalidArgument, event.ReasonConfigFileNeeded, []string{"server", name},
		"server %q stands in several files; name the one that is meant: %s", name,
		bounds.Printable(strings.Join(files, ", ")))
}
