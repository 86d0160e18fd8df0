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

// lockFolder locks the folder itself, so that no lock file is left in it. Some file systems, such as network file
// systems, have no such locks. There, a change by another hub is detected by the content of the file just before it is
// replaced.
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

// keepOwner sets the owner of the new file to that of the old one, which differs if an administrator runs the hub.
func keepOwner(file newFile, like fs.FileInfo) error {
	was, ok := like.Sys().(*syscall.Stat_t)
	if !ok || int(was.Uid) == os.Geteuid() {
		return nil
	}
	return file.Chown(int(was.Uid), int(was.Gid))
}
