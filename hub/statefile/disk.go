package statefile

import (
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

// disk has the operations of a File on the file system. Tests replace it.
type disk interface {
	makeDir(dir string, log *slog.Logger) error
	lock(ctx context.Context, path string) (unlock func(), err error)
	lockFolder(ctx context.Context, folder string) (unlock func(), err error)
	stat(path string) (fs.FileInfo, error)         // nil if there is no file
	read(path string) ([]byte, fs.FileInfo, error) // nil if there is no file
	create(path string) (newFile, error)           // for this user only; replaces an existing file
	rename(from, to string) error
	remove(path string) error
	syncDir(path string) // syncs the directory that path is in
}

type newFile interface {
	io.Writer
	Chmod(mode fs.FileMode) error
	Chown(uid, gid int) error
	Sync() error
	Close() error
}

type systemDisk struct{}

// makeDir makes sure that the directory exists, and that nobody else can list it or put files into it.
func (systemDisk) makeDir(dir string, log *slog.Logger) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSticky != 0 { // such as /tmp: the hub must not change its mode, and others can make links in it
		return fmt.Errorf("%w: %s is a directory for everybody", errReadOnly, dir)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		log.Warn("the directory of the hub's own files was open to others; it is closed now", "directory", dir)
		return os.Chmod(dir, 0o700)
	}
	return nil
}

// lock takes the lock file at path. The file is never deleted: a lock on a deleted file excludes nobody. The system
// releases the lock of a process that dies.
func (systemDisk) lock(ctx context.Context, path string) (func(), error) {
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
		return nil, fmt.Errorf("%w: %s%s", context.Cause(ctx), path, holder(path))
	}
	return nil, err
}

// holder returns a clause with the id of the process that wrote itself into the lock file, or "".
func holder(path string) string {
	file, err := open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	text, _ := io.ReadAll(io.LimitReader(file, 20))
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return ""
	}
	return fmt.Sprintf(" is held by process %d", pid)
}

func (systemDisk) stat(path string) (fs.FileInfo, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return info, err
}

func (systemDisk) read(path string) ([]byte, fs.FileInfo, error) {
	text, info, err := Read(path, maxText)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	return text, info, err
}

// Read reads a file of at most most bytes, which others may replace by a rename at the same time. It is for files that
// are not kept by a File. It refuses links, which could lead anywhere, and pipes, which would block when they are
// opened. The error is fs.ErrNotExist if there is no file. On Windows, Read waits for up to a second for another
// program that holds the file.
func Read(path string, most int64) ([]byte, fs.FileInfo, error) {
	for range 100 {
		before, err := os.Lstat(path)
		if err != nil {
			return nil, nil, err
		}
		if !before.Mode().IsRegular() || before.Size() > most {
			return nil, nil, fmt.Errorf("%w: %s", errIrregular, path)
		}
		file, err := open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		info, err := file.Stat()
		if err == nil && !os.SameFile(before, info) { // replaced between stat and open
			_ = file.Close()
			continue
		}
		text, readErr := io.ReadAll(io.LimitReader(file, most))
		_ = file.Close()
		return text, info, errors.Join(err, readErr)
	}
	return nil, nil, fmt.Errorf("%s is replaced faster than it can be read", path)
}

func (systemDisk) create(path string) (newFile, error) {
	if err := remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

func (systemDisk) rename(from, to string) error { return rename(from, to) }
func (systemDisk) remove(path string) error     { return remove(path) }

// syncDir makes a rename survive a power cut, on systems that can do that.
func (systemDisk) syncDir(path string) {
	if d, err := os.Open(filepath.Dir(path)); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}
