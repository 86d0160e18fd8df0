package statefile

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// maxWait bounds how long an Update waits for the lock.
const maxWait = 5 * time.Second

// racy is the age that a file's modification time must have before an equal time means an equal text: the clocks of
// some file systems are coarse.
const racy = 2 * time.Second

// ErrNoPlace is returned by Update if there is no directory for the hub's own files.
var ErrNoPlace = errors.New("there is no directory for the hub's own files")

// Reasons beside those of the system why a file cannot be read or written. Each is wrapped with the path.
var (
	errShared    = errors.New("the hub keeps no files of its own in a directory for everybody")
	errBusy      = errors.New("another hub holds the file for too long")
	errIrregular = errors.New("the hub's own file must be a plain one of bounded size, and is not")
	errBroken    = errors.New("the hub's own file cannot be understood")
	errNewer     = errors.New("a newer hub wrote the file; update this hub, or move the file away")

	// errOtherForm does not quote the text, which may hold secrets.
	errOtherForm = errors.New("it is no JSON text of the form that this hub writes")
)

// Options are the options of a [File]. The zero value is ready for use.
type Options struct {
	Logger *slog.Logger // nil discards the records
	// Version is the version of the texts that the caller writes, which is their member "version"; 0 means that they have
	// none. A text of a later version is neither read nor written.
	Version int
	// Check returns an error if the caller does not understand a text. Such a text is kept under another name when another
	// one is written. nil accepts any JSON value.
	Check func(text []byte) error

	wait time.Duration // for tests: how long to wait for other writers; 0 means maxWait
	at   steps
}

// Change returns the new text for the old one, which is nil if there is none. It must not keep or change old. If it
// returns nil, the file stays as it is.
type Change func(old []byte) ([]byte, error)

// File is one text that several processes share. Its methods are safe for concurrent use.
type File struct {
	path string // "" if there is no place for the file
	o    Options

	mu      sync.Mutex // guards the fields below; never held while the disk is used or a Change runs
	seen    snapshot   // the file as it was last read
	failing bool       // the disk did not take the last change; this was logged
}

// snapshot is the state of a file at one moment.
type snapshot struct {
	text   []byte      // nil if there is no usable text
	info   fs.FileInfo // nil if there is no file
	err    error       // why text is nil although there is a file
	steady bool        // while the info is equal, text and err are
}

// Open returns the file name in dir. If dir is "", there is no place for the file, as without a home directory: then
// there is no text, and every Update fails with ErrNoPlace. Open does not use the disk, so it cannot fail.
func Open(dir, name string, o Options) *File {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Check == nil {
		o.Check = func(text []byte) error {
			if !json.Valid(text) {
				return errors.New("no valid JSON")
			}
			return nil
		}
	}
	f := &File{o: o}
	if dir != "" {
		f.path = filepath.Join(dir, name)
	}
	return f
}

// Read returns the text, or nil if there is none. It is cheap while the file does not change, and sees what other
// processes wrote. If there is an error, the text is nil. The caller must not change the text.
func (f *File) Read() ([]byte, error) {
	if f.path == "" {
		return nil, nil
	}
	f.mu.Lock()
	seen := f.seen
	f.mu.Unlock()
	if seen.steady {
		now, err := os.Lstat(f.path)
		if (err == nil || errors.Is(err, fs.ErrNotExist)) && sameInfo(seen.info, now) {
			return seen.text, seen.err
		}
	}
	seen = f.load()
	f.mu.Lock()
	news := seen.err != nil && f.seen.err == nil
	f.seen = seen
	f.mu.Unlock()
	if news {
		f.o.Logger.Warn("the hub's own file could not be read", "file", f.path, "error", seen.err.Error())
	}
	return seen.text, seen.err
}

func sameInfo(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && a.Mode() == b.Mode()
}

// load reads the file.
func (f *File) load() (s snapshot) {
	text, info, err := f.o.at.read(f.path)
	s = snapshot{info: info, err: err, steady: err == nil && (info == nil || time.Since(info.ModTime()) > racy)}
	if err != nil || len(bytes.TrimSpace(text)) == 0 { // in an empty file nothing can be lost
		return s
	}
	var head struct {
		Version int `json:"version"`
	}
	if err = errOtherForm; f.o.Version == 0 || json.Unmarshal(text, &head) == nil {
		err = f.o.Check(text)
	}
	switch {
	case head.Version > f.o.Version:
		s.err = fmt.Errorf("%w: %s is of version %d, and this hub knows versions up to %d", errNewer, f.path, head.Version,
			f.o.Version)
	case err != nil:
		s.err = fmt.Errorf("%w: %s: %w", errBroken, f.path, err)
	default:
		s.text = text
	}
	return s
}

// Update changes the text for all processes. It waits for the lock that all of them take; the lock of a process that
// died is free. An error of change is returned unchanged. Any other error says why the disk did not take the change.
// After an error the file has no new text.
func (f *File) Update(change Change) error {
	if f.path == "" {
		return ErrNoPlace
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), cmp.Or(f.o.wait, maxWait), errBusy)
	defer cancel()
	var refused error
	err := f.write(ctx, func(old []byte) (next []byte, err error) {
		next, refused = change(old)
		return next, refused
	})
	if refused != nil {
		return refused
	}
	f.mu.Lock()
	before := f.failing
	f.failing = err != nil
	f.mu.Unlock()
	switch {
	case err != nil && !before:
		f.o.Logger.Warn("the hub's own file cannot be written: what is decided now holds until the hub ends",
			"file", f.path, "error", err.Error())
	case err == nil && before:
		f.o.Logger.Info("the hub's own file can be written again, and what was held back is in it", "file", f.path)
	}
	return err
}

// write applies change to the file under the lock.
func (f *File) write(ctx context.Context, change Change) error {
	if err := f.o.at.before("makeDir"); err != nil {
		return err
	}
	if err := MakeDir(filepath.Dir(f.path), f.o.Logger); err != nil {
		return err
	}
	if err := f.o.at.before("lock"); err != nil {
		return err
	}
	unlock, err := Lock(ctx, f.path+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	old := f.load()
	broken := errors.Is(old.err, errBroken)
	if old.err != nil && !broken {
		return old.err
	}
	next, err := change(old.text)
	if err != nil || next == nil || old.text != nil && bytes.Equal(next, old.text) {
		return err
	}
	r := Replacement{at: f.o.at}
	if broken {
		r.still = func() error { return f.setAside(old) }
	}
	return r.Replace(f.path, next)
}

// setAside renames a text that was not understood, which a person may have written, so that nothing in it is lost.
func (f *File) setAside(old snapshot) error {
	aside := f.path + ".broken-" + time.Now().UTC().Format("20060102T150405.000000000Z")
	if err := f.o.at.before("setAside"); err != nil {
		return err
	}
	if err := patiently(func() error { return os.Rename(f.path, aside) }); err != nil {
		return err
	}
	f.o.Logger.Warn("the hub's own file could not be understood; it is kept under another name, and begins anew",
		"file", f.path, "kept", aside, "error", old.err.Error())
	return nil
}
