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

// maxHashed bounds the files that are compared by content; longer ones are no config files, and compared by size and
// time.
const maxHashed = 16 << 20

// racy is how old a file's time of change has to be before the same time means the same content: within it, the clock
// of a file system may be too coarse to tell two writes apart.
const racy = 2 * time.Second

// file is one config file.
type file struct {
	burst
	s      *state
	path   string // absolute
	places []place
	print  print
	sure   bool // an event came: the content is read, whatever size and time say

	// The size and time that go with print; steady when they can be trusted.
	info   fs.FileInfo
	steady bool
}

// print says what a file is, as far as a reader of it would notice.
type print struct {
	kind string // missing, unreadable, special, long or text
	sum  [sha256.Size]byte
}

func newFile(s *state, path string) *file {
	abs, err := filepath.Abs(path)
	if err != nil { // no current folder: the path leads nowhere, and is watched as that
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

// look follows the file to where it is now and says whether it is another one than it was.
func (f *file) look() (changed bool) {
	f.burst = burst{}
	// Watch first, read then: what changes after the reading has its event.
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
	f.info = nil // what keeps it from being read may be no part of it
	if absent(err) {
		return print{kind: "missing"}
	}
	return print{kind: "unreadable"}
}

// sameFile compares without reading. The mode counts: it decides whether the file can be read.
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
