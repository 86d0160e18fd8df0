package statefile

import (
	"io/fs"
	"os"
	"time"
)

// Version tells one state of a file from another. The zero Version is none.
type Version struct {
	info   fs.FileInfo
	edits  uint64
	known  bool
	steady bool
}

// Changed says cheaply, by time, size and identity, whether the file may be another one than at since, and which it is now. It
// may say so without need within two seconds of a write, and never fails to say so.
func (f *File) Changed(since Version) (now Version, changed bool) {
	f.mu.Lock()
	now.edits = f.edits
	detached := f.detached
	f.mu.Unlock()
	now.known = true
	if detached {
		now.steady = true
	} else {
		info, err := f.disk.stat(f.path)
		now.info, now.steady = info, steady(info)
		now.known = err == nil
	}
	same := since.known && now.known && since.steady && since.edits == now.edits && sameInfo(since.info, now.info)
	return now, !same
}

// steady says whether a file seen now and looking the same later is the same. That there is no file is sure.
func steady(info fs.FileInfo) bool { return info == nil || time.Since(info.ModTime()) > racy }

func sameInfo(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && a.Mode() == b.Mode()
}
