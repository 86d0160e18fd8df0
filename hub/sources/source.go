package sources

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/statefile"
)

// Source is one config file or its text. Scope is "user", "workspace" or "host". The servers of a workspace file start
// only after the user has agreed to each, unless the host vouches for the file (Trusted). Dialect may be empty. Folder
// is the workspace folder that the file belongs to.
type Source struct {
	Path, JSON, Scope string
	Trusted           bool
	Dialect, Folder   string
	MayBeMissing      bool // a missing file is no problem: servers can be added there
}

// Absolute returns sources with absolute paths for those that are files. Relative paths begin at the working directory
// of the hub. The paths have to be absolute because a server runs beside its file, and because the answers of people
// about a file apply to that file alone. The Path of a source that is a text stays as it is.
func Absolute(sources []Source) []Source {
	sources = slices.Clone(sources) // nil stays nil
	for i := range sources {
		if s := &sources[i]; s.JSON == "" && s.Path != "" {
			if path, err := filepath.Abs(s.Path); err == nil { // else reading it fails as well
				s.Path = path
			}
		}
	}
	return sources
}

// ReadAll reads the files. A missing file brings no servers: it may appear later, and whoever deleted it wants its
// servers to go. A file that cannot be read is left to config.Read, which says why; its servers stay.
func ReadAll(ctx context.Context, sources []Source) (read []config.Source, missing []config.Problem) {
	for _, s := range sources {
		src := config.Source{Path: s.Path, Scope: s.Scope, Dialect: s.Dialect, Folder: s.Folder, Trusted: s.Trusted}
		if s.JSON != "" {
			src.JSON = []byte(s.JSON)
		} else if text, err := readFile(ctx, s.Path, s.Scope); err == nil {
			src.JSON = append([]byte{}, text...) // never nil, since config.Read would then read the file
		} else if errors.Is(err, fs.ErrNotExist) && s.MayBeMissing {
			continue
		} else if errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, config.Problem{File: s.Path, Message: "there is no such file; it brings no servers"})
			continue
		}
		read = append(read, src)
	}
	return read, missing
}

// readFile reads a file when no other program is writing it, as far as its writers show that: Cline and its relatives
// hold a lock beside the file.
func readFile(ctx context.Context, path, scope string) ([]byte, error) {
	// a lock that stays is ignored; config.Read detects a text that is only half written
	_ = statefile.AwaitForeignLock(ctx, path)
	return config.ReadFile(path, scope)
}
