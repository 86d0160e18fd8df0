//go:build unix

package statefile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"github.com/gofrs/flock"
)

// openPlain opens no link and waits for no pipe that has taken the place of a file since that was looked at.
const openPlain = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

func patiently(f func() error) error { return f() }

// noLocks are the errors of file systems, such as network file systems, that have no locks on folders.
var noLocks = []error{syscall.ENOTSUP, syscall.EBADF, syscall.ENOLCK, syscall.ENOSYS, syscall.EINVAL}

// lockFolder locks the folder itself, so that no lock file is left in it. Where there are no such locks, a change by
// another hub is detected by the content of the file just before it is replaced.
func lockFolder(ctx context.Context, folder string) (func(), error) {
	l := flock.New(folder, flock.SetFlag(os.O_RDONLY))
	ok, err := l.TryLockContext(ctx, lockPause)
	switch {
	case ok:
		return func() { _ = l.Unlock() }, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case slices.ContainsFunc(noLocks, func(e error) bool { return errors.Is(err, e) }):
		return func() {}, nil
	}
	return nil, err
}

// keepOwner sets the owner of the new file to that of the old one, which differs if an administrator runs the hub.
func keepOwner(file *os.File, like fs.FileInfo) error {
	was, ok := like.Sys().(*syscall.Stat_t)
	if !ok || int(was.Uid) == os.Geteuid() {
		return nil
	}
	return file.Chown(int(was.Uid), int(was.Gid))
}
