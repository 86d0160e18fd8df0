package statefile

import (
	"io/fs"
	"os"
	"time"
)

// steady says whether a file seen now and looking the same later is the same. That there is no file is sure.
func steady(info fs.FileInfo) bool { return info == nil || time.Since(info.ModTime()) > racy }

func sameInfo(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && a.Mode() == b.Mode()
}
