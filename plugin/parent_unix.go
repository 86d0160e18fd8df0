//go:build unix

package plugin

import "os"

// parentAtStart is read as early as Go code can, since the parent may die while this process starts.
var parentAtStart = os.Getppid()

// newParent returns a function that tells whether the process that spawned this one is gone. An orphan gets another
// parent: init, or the nearest subreaper.
func newParent() func() bool {
	return func() bool { return os.Getppid() != parentAtStart }
}
