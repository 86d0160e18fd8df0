package statefile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// maxText bounds the size of a file that is read, in bytes. The hub's own files are small.
const maxText = 64 << 20

// lockPause is the time between two attempts to take a lock that another process holds.
const lockPause = 5 * time.Millisecond

// steps is called with the name of each step on the disk before the step is made, which fails if an error is returned.
// Outside of tests it is nil.
type steps func(name string) error

func (s steps) before(name string) error {
	if s == nil {
		return nil
	}
	return s(name)
}

// Replacement says how a file is replaced in one step, so that readers see the old text or the new one, and so does who
// looks after a crash. The zero value is ready for use.
type Replacement struct {
	// Beside is the path of the new file until it is complete; "" means that of the old file with ".new". It must be in
	// the same folder, and nobody else may use it meanwhile. What a writer that was killed has left there is removed.
	Beside string
	// Volatile is for a text that nobody needs after a crash of the system: it is not synced.
	Volatile bool

	like  fs.FileInfo  // the file whose mode and owner the new one gets; nil means that it is for this user only
	still func() error // called when the new file is complete; an error keeps the old one
	at    steps
}

// Replace replaces the file at path. After an error the file is as it was.
func (r Replacement) Replace(path string, text []byte) error {
	fresh := cmp.Or(r.Beside, path+".new")
	if err := r.at.before("create"); err != nil {
		return err
	}
	if err := Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = r.write(file, text)
	if err == nil && r.still != nil {
		err = r.still()
	}
	if err == nil {
		err = r.at.before("rename")
	}
	if err == nil {
		err = patiently(func() error { return os.Rename(fresh, path) })
	}
	if err != nil {
		_ = Remove(fresh)
		return err
	}
	if r.Volatile || r.at.before("syncDir") != nil {
		return nil
	}
	if dir, err := os.Open(filepath.Dir(path)); err == nil {
		_ = dir.Sync() // so that the rename survives a power cut, on systems that can do that
		_ = dir.Close()
	}
	return nil
}

// write fills the new file and closes it.
func (r Replacement) write(file *os.File, text []byte) (err error) {
	step := func(name string, do func() error) {
		if err == nil {
			err = r.at.before(name)
		}
		if err == nil {
			err = do()
		}
	}
	if r.like != nil {
		step("chmod", func() error { return errors.Join(keepOwner(file, r.like), file.Chmod(r.like.Mode().Perm())) })
	}
	step("write", func() error { _, err := file.Write(text); return err })
	if !r.Volatile {
		step("sync", file.Sync) // some file systems report a full disk only here
	}
	step("close", func() error { return nil })
	return errors.Join(err, file.Close())
}

// Remove removes a file. On Windows, Remove waits for up to a second for another program that holds the file.
func Remove(path string) error { return patiently(func() error { return os.Remove(path) }) }

// Read reads a file of at most most bytes, which others may replace by a rename at the same time. It refuses links,
// which could lead anywhere, and pipes, which would block. The error is fs.ErrNotExist if there is no file. On Windows,
// Read waits for up to a second for another program that holds the file.
func Read(path string, most int64) ([]byte, fs.FileInfo, error) {
	plain := func(info fs.FileInfo, err error) error {
		if err == nil && (!info.Mode().IsRegular() || info.Size() > most) {
			err = fmt.Errorf("%w: %s", errIrregular, path)
		}
		return err
	}
	if err := plain(os.Lstat(path)); err != nil {
		return nil, nil, err
	}
	var file *os.File
	err := patiently(func() (err error) {
		file, err = os.OpenFile(path, os.O_RDONLY|openPlain, 0)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err := plain(info, err); err != nil {
		return nil, nil, err
	}
	text, err := io.ReadAll(io.LimitReader(file, most))
	return text, info, err
}

// read is Read for a file that may be missing: then info is nil.
func (s steps) read(path string) (text []byte, info fs.FileInfo, err error) {
	if err := s.before("read"); err != nil {
		return nil, nil, err
	}
	text, info, err = Read(path, maxText)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	return text, info, err
}

// MakeDir makes sure that a directory of the hub's own exists, and that nobody else can list it or put files into it.
func MakeDir(dir string, log *slog.Logger) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSticky != 0 { // such as /tmp: the hub must not change its mode, and others can make links in it
		return fmt.Errorf("%w: %s", errShared, dir)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		log.Warn("a directory of the hub's own files was open to others; it is closed now", "directory", dir)
		return os.Chmod(dir, 0o700)
	}
	return nil
}

// Lock takes the lock file at path, which is made if it is missing and never removed: a lock on a removed file excludes
// nobody. The directory has to exist. Lock waits until no other process, and nobody else in this one, holds it, or
// until ctx ends; the lock of a process that died is free.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s", errIrregular, path)
	}
	l := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	ok, err := l.TryLockContext(ctx, lockPause)
	switch {
	case ok:
		// The process id is for the error of processes that wait in vain. On Windows, nobody can write to a locked file.
		_ = os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())), 0o600)
		return func() { _ = l.Unlock() }, nil
	case ctx.Err() != nil:
		held := ""
		text, _, _ := Read(path, 20)
		if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			held = fmt.Sprintf(" is held by process %d", pid)
		}
		return nil, fmt.Errorf("%w: %s%s", context.Cause(ctx), path, held)
	}
	return nil, err
}
