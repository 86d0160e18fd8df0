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

// maxText bounds what is read: the hub's own files are small.
const maxText = 64 << 20

// lockPause is the time between two looks at a lock that another process holds.
const lockPause = 5 * time.Millisecond

// disk is what a File does to the system, step by step.
type disk interface {
	makeDir(dir string, log *slog.Logger) error
	lock(ctx context.Context, path string) (unlock func(), err error)
	lockFolder(ctx context.Context, folder string) (unlock func(), err error)
	stat(path string) (fs.FileInfo, error)         // nil when there is no file
	read(path string) ([]byte, fs.FileInfo, error) // nil when there is no file
	create(path string) (newFile, error)           // for this user only; replaces what lies there
	rename(from, to string) error
	remove(path string) error
	syncDir(path string) // of the folder that path is in
}

type newFile interface {
	io.Writer
	Chmod(mode fs.FileMode) error
	Chown(uid, gid int) error
	Sync() error
	Close() error
}

type systemDisk struct{}

// makeDir makes sure that the directory is there, and that nobody else can put files into it or list it.
func (systemDisk) makeDir(dir string, log *slog.Logger) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSticky != 0 { // /tmp and its like: not ours to close, and anybody can lay links there
		return fmt.Errorf("%w: %s is a directory for everybody", errReadOnly, dir)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		log.Warn("the directory of the hub's own files was open to others; it is closed now", "directory", dir)
		return os.Chmod(dir, 0o700)
	}
	return nil
}

// lock takes the lock file at path. The file stays for ever: a lock on a file that is deleted locks nobody out. The
// system frees the lock of a process that dies.
func (systemDisk) lock(ctx context.Context, path string) (func(), error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s", errIrregular, path)
	}
	l := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	ok, err := l.TryLockContext(ctx, lockPause)
	switch {
	case ok:
		// For the error of those who wait in vain. Windows lets nobody write to a locked file.
		_ = os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())), 0o600)
		return func() { _ = l.Unlock() }, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%w: %s%s", context.Cause(ctx), path, holder(path))
	}
	return nil, err
}

// holder names the process that wrote itself into the lock file.
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

// read refuses links, which could lead anywhere, and pipes, whose opening would block.
func (d systemDisk) read(path string) ([]byte, fs.FileInfo, error) {
	for range 100 {
		before, err := d.stat(path)
		if before == nil || err != nil {
			return nil, nil, err
		}
		if !before.Mode().IsRegular() || before.Size() > maxText {
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
		if err == nil && !os.SameFile(before, info) { // replaced at this moment
			_ = file.Close()
			continue
		}
		text, readErr := io.ReadAll(io.LimitReader(file, maxText))
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

// syncDir makes a rename last through a power cut, where the system can do that.
func (systemDisk) syncDir(path string) {
	if d, err := os.Open(filepath.Dir(path)); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}
