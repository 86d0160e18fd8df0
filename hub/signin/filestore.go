package signin

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"runtime"

	"github.com/mcphub-go/mcphub/hub/statefile"
)

const maxEntry = 1 << 20 // the highest size of an entry in a file, in bytes

var (
	errCorrupt = errors.New("the kept sign-in cannot be read")
	errExposed = errors.New("other users of this computer can read the kept sign-in")
)

// fileStore has one file for each entry, so that two hubs of one user do not overwrite each other's entries. Only the
// user can read the files. A file that others can read is not used any more, because they may know its token; the next
// sign-in replaces it. (It is not made private in place, which would hide what happened while the token was still
// used.) On Windows the access list of the profile does this, and the mode has no meaning.
type fileStore struct {
	dir string
	log *slog.Logger
}

func (f *fileStore) path(key Key) string { return filepath.Join(f.dir, key.id()+".json") }

// Lock implements Store. The lock file is not the entry's file, which is replaced.
func (f *fileStore) Lock(ctx context.Context, key Key) (unlock func(), err error) {
	if err := f.makeDir(); err != nil {
		return nil, err
	}
	return statefile.Lock(ctx, filepath.Join(f.dir, key.id()+".lock"))
}

// Load implements Store. A file that cannot be used is logged and treated as missing.
func (f *fileStore) Load(_ context.Context, key Key) (*Entry, error) {
	text, err := f.read(f.path(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var e *Entry
	if err == nil {
		e, err = decodeEntry(text, key)
	}
	if err != nil {
		f.log.Warn("a kept sign-in is not used", "server", key.Server, "file", f.path(key), "error", err.Error())
		return nil, nil
	}
	return e, nil
}

func (f *fileStore) read(path string) ([]byte, error) {
	text, info, err := statefile.Read(path, maxEntry)
	switch {
	case err != nil:
		return nil, err
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return nil, errExposed
	}
	return text, nil
}

// Save implements Store. The file is replaced in one step, so after a crash it has the old entry or the new one.
func (f *fileStore) Save(_ context.Context, e *Entry) error {
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if err := f.makeDir(); err != nil {
		return err
	}
	path := f.path(Key{e.Server, e.URL})
	// Not everybody who saves holds the lock, so the new file has a name of its own.
	return statefile.Replacement{Beside: path + "." + rand.Text()}.Replace(path, append(text, '\n'))
}

func (f *fileStore) makeDir() error { return statefile.MakeDir(f.dir, f.log) }

// Delete implements Store.
func (f *fileStore) Delete(_ context.Context, key Key) error {
	err := statefile.Remove(f.path(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
