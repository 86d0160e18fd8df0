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
	foreignWait  = 2 * time.Second       // at most
	foreignStale = 10 * time.Second      // Cline takes a lock over that is as old as this
	foreignPause = 25 * time.Millisecond // and looks this often
)

// errForeignLock is what AwaitForeignLock returns when another program did not let go in time.
var errForeignLock = errors.New("another program holds the file for too long")

// AwaitForeignLock waits while another program writes the file at path under Cline's protocol: a directory path +
// ".lock" with the owner's file in it, stale ten seconds after it was made. An empty one is being given up. It waits
// for two seconds at most. After any error the file can be read all the same: the lock asks for patience, nothing more.
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

// holdForeignLock takes the lock, for who writes the file. A lock that is stale, or is being given up, is taken over.
func holdForeignLock(ctx context.Context, path string) (release func(), err error) {
	lock := path + ".lock"
	for {
		if err := AwaitForeignLock(ctx, path); err != nil {
			return nil, err
		}
		err := os.Mkdir(lock, 0o700)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if info, err := os.Lstat(lock); err != nil || !info.IsDir() || foreignHeld(lock) {
			if err == nil && !info.IsDir() {
				return nil, fmt.Errorf("%s is no folder", lock)
			}
			continue
		}
		if err := os.RemoveAll(lock); err != nil {
			return nil, err
		}
	}
	owner := filepath.Join(lock, "mcphub-"+strconv.Itoa(os.Getpid()))
	if err := os.WriteFile(owner, nil, 0o600); err != nil {
		_ = os.Remove(lock)
		return nil, err
	}
	return func() {
		_ = os.Remove(owner)
		_ = os.Remove(lock)
	}, nil
}
