package statefile

import (
	"io/fs"
	"os"
	"time"
)

// steady reports whether a file with this info that looks the same later is the same. For a missing file that is
// certain.
func steady(info fs.FileInfo) bool { return info == nil || time.Since(info.ModTime()) > racy }

func sameInfo(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && a.Mode() == b.Mode()
}
