package statefile

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"sync"
	"time"
)

// maxWait bounds how long an Update waits for the lock.
const maxWait = 5 * time.Second

// racy is the age that a file's modification time must have before an equal time means an equal text: the clocks of
// some file systems are coarse.
const racy = 2 * time.Second

// Options are the options of a [File]. The zero value is ready for use.
type Options struct {
	Logger *slog.Logger // nil discards the records
	// Check returns an error if the caller does not understand a text, for example because of its version. A text that
	// Check refuses is never overwritten: a copy is kept first. nil accepts any JSON value.
	Check func(text []byte) error
	wait  time.Duration // for tests: how long to wait for other writers; 0 means maxWait
}

// Change returns the new text for the old one, which is nil if there is none. It must not keep or change old. If it
// returns nil, the file stays as it is.
type Change func(old []byte) ([]byte, error)

// File is one text that several processes share. Its methods are safe for concurrent use.
type File struct {
	path string // "" if there is no place for the file
	o    Options
	disk disk

	mu      sync.Mutex // guards the fields below; never held while the disk is used or a Change runs
	seen    snapshot   // the file as it was last read or written
	failing bool       // the disk did not take the last change; this was logged
}

// snapshot is the state of a file at one moment.
type snapshot struct {
	text   []byte      // nil if there is no usable text
	info   fs.FileInfo // nil if there is no file, or if it is unknown
	err    error       // why text is nil although there is a file
	known  bool
	steady bool // the file was old enough when it was read: while its info is equal, its text is equal
}

// Open returns the file name in dir. If dir is "", there is no place for the file, as without a home directory: then
// there is no text, and every Update fails with ErrNoPlace. Open does not use the disk, so it cannot fail.
func Open(dir, name string, o Options) *File { return openOn(systemDisk{}, dir, name, o) }

func openOn(d disk, dir, name string, o Options) *File {
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
	f := &File{o: o, disk: d}
	if dir != "" {
		f.path = filepath.Join(dir, name)
	}
	return f
}

// Read returns the text, or nil if there is none. It is cheap while the file does not change, and sees what other
// processes wrote. If there is an error (errBroken, errIrregular, errReadOnly, or one of the system), the text is nil.
// The caller must not change the text.
func (f *File) Read() ([]byte, error) {
	if f.path == "" {
		return nil, nil
	}
	f.mu.Lock()
	seen := f.seen
	f.mu.Unlock()
	if now, err := f.disk.stat(f.path); !seen.known || err != nil || !seen.steady || !sameInfo(seen.info, now) {
		seen = f.load()
		f.see(seen)
	}
	return seen.text, seen.err
}

func (f *File) see(s snapshot) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = s
}

// Update changes the text for all processes. It waits for the lock that all of them take; the lock of a process that
// died is free. An error of change is returned unchanged. Any other error says why the disk did not take the change
// (errReadOnly, errFull, errBusy, errIrregular, ErrNoPlace, or one of the system). After an error the file is
// unchanged.
func (f *File) Update(change Change) error {
	if f.path == "" {
		return ErrNoPlace
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), cmp.Or(f.o.wait, maxWait), errBusy)
	defer cancel()
	written, refused, err := f.write(ctx, change)
	if refused != nil {
		return refused
	}
	if err == nil {
		f.see(written)
	}
	err = explain(f.path, err)
	f.tell(err)
	return err
}

// tell logs once that the file cannot be written, and once that it can be again.
func (f *File) tell(err error) {
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
}

// write applies change to the file. refused is the error that change returned.
func (f *File) write(ctx context.Context, change Change) (now snapshot, refused, err error) {
	if err := f.disk.makeDir(filepath.Dir(f.path), f.o.Logger); err != nil {
		return snapshot{}, nil, err
	}
	unlock, err := f.disk.lock(ctx, f.path+".lock")
	if err != nil {
		return snapshot{}, nil, err
	}
	defer unlock()

	old := f.load()
	if old.err != nil && !errors.Is(old.err, errBroken) {
		return snapshot{}, nil, old.err
	}
	next, err := change(old.text)
	if err != nil {
		return snapshot{}, err, nil
	}
	if next == nil || old.err == nil && old.text != nil && bytes.Equal(next, old.text) {
		return old, nil, nil
	}
	if old.err != nil {
		if err := f.setAside(old); err != nil {
			return snapshot{}, nil, err
		}
	}
	if err := f.replace(f.path, next); err != nil {
		return snapshot{}, nil, err
	}
	info, err := f.disk.stat(f.path)
	return snapshot{text: next, info: info, known: err == nil}, nil, nil
}
