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

// maxWait bounds how long an Update waits for its turn.
const maxWait = 5 * time.Second

// racy is how old a file's time of change has to be before the same time means the same text: some clocks are coarse.
const racy = 2 * time.Second

// Options of a [File]. The zero value is useful.
type Options struct {
	Logger *slog.Logger // nil = none
	// Check says whether a text is one that the caller understands, a version of its own for example. What it refuses is
	// never overwritten: it is set aside first. nil = any JSON value.
	Check func(text []byte) error
	wait  time.Duration // of tests: for other writers; 0 = maxWait
}

// Change makes the new text of the old one, which is nil when there is none; it must not keep or change old. With a nil
// text all stays as it is.
type Change func(old []byte) ([]byte, error)

// File is one text that several processes share. Its methods are safe for concurrent use.
type File struct {
	path string // "" = there is no place for it
	o    Options
	disk disk

	mu      sync.Mutex // guards what follows; never held over the disk or a Change
	seen    snapshot   // the file as it was read or written last
	failing bool       // the disk did not take the last change, and the log says so
}

// snapshot is a file at one moment.
type snapshot struct {
	text   []byte      // nil = none that can be used
	info   fs.FileInfo // nil = no file, or not known
	err    error       // why text is nil, besides there being no file
	known  bool
	steady bool // the file was old enough when read: as long as it looks the same, it is the same
}

// Open returns the file name in dir. With dir "" there is no place to keep it, as without a home directory: there is no
// text, and every Update fails with ErrNoPlace. Nothing is read, written or made yet, so Open cannot fail.
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

// Read returns the text, nil when there is none. It costs little while the file stays as it was, and sees what other
// processes wrote. With an error (errBroken, errIrregular, errReadOnly, or the system's) there is no text. The caller
// must not change the text.
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

// Update changes the text for all processes. It waits for its turn among all; a lock whose holder died is free. An
// error of change is returned as it is. Any other says why the disk did not take the change (errReadOnly, errFull,
// errBusy, errIrregular, ErrNoPlace, or the system's). After any error the file is as it was.
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

// write makes the change to the file. refused is the error of change itself.
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
