//go:build unix

package watch

import (
	"io/fs"
	"syscall"
)

// inode returns the inode number, which distinguishes a file from a copy with the same size and time.
func inode(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino)
	}
	return 0
}
