package watch

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// maxHashed bounds the files that are compared by content, in bytes. Longer ones are not config files, and are compared
// by size and time.
const maxHashed = 16 << 20

// racy is the age that a file's modification time must have before an equal time means equal content. For a younger
// file, the clock of the file system may be too coarse to distinguish two writes.
const racy = 2 * time.Second

// file is one config file.
type file struct {
	burst
	s      *state
	path   string // absolute
	places []place
	print  print
	sure   bool // an event was received: the content is read even if size and time are equal

	// The size and time that belong to print. steady reports whether they can be relied on.
	info   fs.FileInfo
	steady bool
}

// print identifies the state of a file, as far as a reader of the file would notice it.
type print struct {
	kind string // missing, unreadable, special, long or text
	sum  [sha256.Size]byte
}

func newFile(s *state, path string) *file {
	abs, err := filepath.Abs(path)
	if err != nil { // there is no working directory: the path leads nowhere, and is watched all the same
		abs = filepath.Clean(path)
	}
	return &file{s: s, path: abs}
}

func (f *file) touched(_ string, sure bool, now time.Time) {
	f.sure = f.sure || sure
	if sure || !f.pending() {
		f.add(now, f.s.settle)
	}
}

// look updates the watched places on the way to the file, and reports whether the file has changed since the last look.
func (f *file) look() (changed bool) {
	f.burst = burst{}
	// The folders are watched before the file is read: a change after the reading has its event.
	f.places = f.s.follow(f, f.path, false, f.places)
	before := f.print
	f.print = f.fingerprint()
	f.sure = false
	return f.print != before
}

func (f *file) fingerprint() print {
	info, err := os.Stat(f.path)
	before, steady := f.info, f.steady
	f.info, f.steady = nil, false
	switch {
	case err != nil && absent(err):
		return print{kind: "missing"}
	case err != nil:
		return print{kind: "unreadable"}
	case !info.Mode().IsRegular():
		return print{kind: "special"} // opening a pipe would block
	case info.Size() > maxHashed:
		return print{"long", sha256.Sum256(fmt.Append(nil, info.Size(), info.ModTime().UnixNano()))}
	}
	f.info, f.steady = info, time.Since(info.ModTime()) > racy
	if !f.sure && steady && before != nil && sameFile(before, info) {
		return f.print
	}
	text, err := f.s.read(f.path)
	if err == nil {
		return print{"text", sha256.Sum256(text)}
	}
	f.info = nil // the reason may not show in the info
	if absent(err) {
		return print{kind: "missing"}
	}
	return print{kind: "unreadable"}
}

// sameFile compares two files without reading them. The mode counts, because it determines whether the file can be
// read.
func sameFile(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && a.Mode() == b.Mode()
}

func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxHashed))
}
