package statefile

import "context"

// These functions are for files that are not kept by a File. On Windows, a file that another program has open, most
// often a virus scanner, cannot be replaced or removed at that moment. There, each function tries again, for up to a
// second in all.

// Rename renames a file, and replaces the file to if there is one.
func Rename(from, to string) error { return rename(from, to) }

// Remove removes a file.
func Remove(path string) error { return remove(path) }

// Lock takes the lock file at path, which is made if it is missing and never removed. The directory has to exist. Lock
// waits until no other process, and nobody else in this one, holds it, or until ctx ends; the lock of a process that
// died is free.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	return systemDisk{}.lock(ctx, path)
}
