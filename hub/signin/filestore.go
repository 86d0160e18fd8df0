package signin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
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
	tmp, err := os.CreateTemp(f.dir, ".entry-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // after the rename there is nothing to remove
	_, err = tmp.Write(append(text, '\n'))
	if err == nil {
		err = tmp.Sync()
	}
	if closeErr := tmp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = statefile.Rename(tmp.Name(), f.path(Key{e.Server, e.URL}))
	}
	if err == nil {
		f.syncDir()
	}
	return err
}

// makeDir makes sure that nobody else can list the directory or put files into it.
func (f *fileStore) makeDir() error {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(f.dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is no directory", f.dir)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		f.log.Warn("the directory of kept sign-ins was open to others; it is closed now", "directory", f.dir)
		return os.Chmod(f.dir, 0o700)
	}
	return nil
}

// syncDir makes the rename survive a power cut, on systems that can do that.
func (f *fileStore) syncDir() {
	if d, err := os.Open(f.dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// Delete implements Store.
func (f *fileStore) Delete(_ context.Context, key Key) error {
	err := statefile.Remove(f.path(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
