//go:build unix

package statefile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/gofrs/flock"
)

// lockFolder takes a lock on the folder itself, so that nothing is left in it. Where the file system has no such locks,
// as some over a network have not, hubs are told apart by what the file holds just before it is replaced.
func (systemDisk) lockFolder(ctx context.Context, folder string) (func(), error) {
	l := flock.New(folder, flock.SetFlag(os.O_RDONLY))
	ok, err := l.TryLockContext(ctx, lockPause)
	switch {
	case ok:
		return func() { _ = l.Unlock() }, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.EBADF), errors.Is(err, syscall.ENOLCK),
		errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.EINVAL):
		return func() {}, nil
	}
	return nil, err
}

// keepOwner gives the new file the owner of the old one, which differs when an administrator runs the hub.
func keepOwner(file newFile, like fs.FileInfo) error {
	was, ok := like.Sys().(*syscall.Stat_t)
	if !ok || int(was.Uid) == os.Geteuid() {
		return nil
	}
	return file.Chown(int(was.Uid), int(was.Gid))
}
