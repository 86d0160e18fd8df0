package statefile

import (
	"context"
	"errors"
	"fmt"
	"os"
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
//
// The hub only reads such files, so it never takes the lock.
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
