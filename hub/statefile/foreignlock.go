package statefile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

const (
	foreignWait  = 2 * time.Second       // the longest wait for another program's lock
	foreignStale = 10 * time.Second      // the age at which Cline takes over a lock
	foreignPause = 25 * time.Millisecond // the time between two checks of the lock
)

// errForeignLock is returned by AwaitForeignLock if another program did not release the lock in time.
var errForeignLock = errors.New("another program holds the file for too long")

// AwaitForeignLock waits while another program writes the file at path under Cline's protocol: the lock is a directory
// path + ".lock" that contains a file of its owner, and is stale ten seconds after it was made. An empty directory is a
// lock that is being released. AwaitForeignLock waits for at most two seconds. After an error the file can still be
// read: the lock only asks readers to wait.
func AwaitForeignLock(ctx context.Context, path string) error {
	lock := path + ".lock"
	ctx, cancel := context.WithTimeoutCause(ctx, foreignWait, fmt.Errorf("%w: %s", errForeignLock, lock))
	defer cancel()
	for foreignHeld(lock) {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(foreignPause):
		}
	}
	return nil
}

func foreignHeld(lock string) bool {
	info, err := os.Stat(lock)
	if err != nil || !info.IsDir() || time.Since(info.ModTime()) >= foreignStale {
		return false
	}
	dir, err := os.Open(lock)
	if err != nil {
		return false
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(1)
	return len(names) > 0
}

// holdForeignLock takes the lock, in order to write the file. It takes over a lock that is stale or is being released.
func holdForeignLock(ctx context.Context, path string) (release func(), err error) {
	lock := path + ".lock"
	for {
		if err := AwaitForeignLock(ctx, path); err != nil {
			return nil, err
		}
		if err = os.Mkdir(lock, 0o700); !errors.Is(err, fs.ErrExist) {
			break
		}
		if info, err := os.Lstat(lock); err == nil && !info.IsDir() {
			return nil, fmt.Errorf("%s is no folder", lock)
		}
		if foreignHeld(lock) {
			continue
		}
		if err := os.RemoveAll(lock); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	owner := filepath.Join(lock, "mcphub-"+strconv.Itoa(os.Getpid()))
	release = func() {
		_ = os.Remove(owner)
		_ = os.Remove(lock)
	}
	if err := os.WriteFile(owner, nil, 0o600); err != nil {
		release()
		return nil, err
	}
	return release, nil
}
