package statefile

import "os"

// These are for files that are not kept by a File. On Windows a file that somebody reads, a virus scanner above all,
// can be neither replaced nor removed at that moment, nor sometimes opened: each of them tries again there, for a
// second in all.

// Rename puts a file in the place of another.
func Rename(from, to string) error { return rename(from, to) }

// OpenForReading opens a file.
func OpenForReading(path string) (*os.File, error) { return open(path) }

// Remove removes a file.
func Remove(path string) error { return remove(path) }
