package statefile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// DefaultWait bounds how long an Update waits for its turn.
const DefaultWait = 5 * time.Second

// maxPending is how many changes are kept to be written later. When there are more, the disk is given up in this
// process.
const maxPending = 64

// racy is how old a file's time of change has to be before the same time means the same text: some clocks are coarse.
const racy = 2 * time.Second

// Options of a [File]. The zero value is useful.
type Options struct {
	Logger *slog.Logger // nil = none
	// Check says whether a text is one that the caller understands, a version of its own for example. What it refuses is
	// never overwritten: it is set aside first. nil = any JSON value.
	Check func(text []byte) error
	Wait  time.Duration // for other writers, other hubs among them; 0 = DefaultWait
	// Told means that the caller tells the user what is not kept: Update's error says it, and it is not logged here as
	// well.
	Told bool
}

// Change makes the new text of the old one, which is nil when there is none; it must not keep or change old. With a nil
// text all stays as it is. It can run more than once, on another old text each time, so it does nothing else than this.
type Change func(old []byte) ([]byte, error)

// File is one text that several processes share. Its methods are safe for concurrent use.
type File struct {
	path string // "" = this process's memory only
	o    Options
	disk disk
	turn chan struct{} // holds one token: taken for a change, put back after it

	mu       sync.Mutex // guards what follows; never held over the disk or a Change
	seen     snapshot   // the file as it was read or written last
	pending  []Change   // hold here, but the disk did not take them yet
	detached bool       // the disk was given up: own is the text
	own      []byte
	edits    uint64 // counts what becomes of the fields above, besides seen
}

// snapshot is a file at one moment.
type snapshot struct {
	text   []byte      // nil = none that can be used
	info   fs.FileInfo // nil = no file, or not known
	err    error       // why text is nil, besides there being no file
	known  bool
	steady bool // the file was old enough when read: as long as it looks the same, it is the same
}

// Open returns the file name in dir. With dir "" there is no place to keep it, as without a home directory: it lives in
// the memory of this process. Nothing is read, written or made yet, so Open cannot fail.
func Open(dir, name string, o Options) *File { return openOn(systemDisk{}, dir, name, o) }

func openOn(d disk, dir, name string, o Options) *File {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Wait <= 0 {
		o.Wait = DefaultWait
	}
	if o.Check == nil {
		o.Check = func(text []byte) error {
			if !json.Valid(text) {
				return errors.New("no valid JSON")
			}
			return nil
		}
	}
	f := &File{o: o, disk: d, turn: make(chan struct{}, 1)}
	f.turn <- struct{}{}
	if dir == "" {
		f.detached = true
		if !o.Told {
			o.Logger.Warn("there is no directory for the hub's own files: what is decided now is forgotten at its end",
				"file", name)
		}
		return f
	}
	f.path = filepath.Join(dir, name)
	return f
}

// Path returns where the file is, "" when it is only in memory from the start.
func (f *File) Path() string { return f.path }

// Persistent says whether everything that holds in this process is also in the file.
func (f *File) Persistent() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.detached && len(f.pending) == 0
}

// Read returns the text that holds, nil when there is none. It costs little while the file stays as it was, and sees
// what other processes wrote. With an error (ErrBroken, ErrIrregular, ErrReadOnly, or the system's) the text is what
// holds in spite of it. The caller must not change the text.
func (f *File) Read() ([]byte, error) {
	for {
		f.mu.Lock()
		detached, own, seen, pending, edits := f.detached, f.own, f.seen, slices.Clone(f.pending), f.edits
		f.mu.Unlock()
		if detached {
			return own, nil
		}
		if now, err := f.disk.stat(f.path); !seen.known || err != nil || !seen.steady || !sameInfo(seen.info, now) {
			seen = f.load()
		}
		f.mu.Lock()
		// What was pending a moment ago may be in the file now: then the two do not fit together.
		same := f.edits == edits
		if same {
			f.seen = seen
		}
		f.mu.Unlock()
		if same {
			return replay(seen.text, pending), seen.err
		}
	}
}

// Update changes the text, here and for all processes. It waits for its turn, in this process and among all; a lock
// whose holder died is free. An error of change is returned as it is, and nothing changed.
//
// Any other error says why the disk did not take the change (ErrReadOnly, ErrFull, ErrBusy, ErrIrregular, or the
// system's). The file is then as it was; the change holds in this process all the same, and is written by the next
// Update that can write.
func (f *File) Update(change Change) error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), f.o.Wait, ErrBusy)
	defer cancel()
	select {
	case <-f.turn:
	case <-ctx.Done(): // the one whose turn it is hangs, on a dead network drive perhaps
		return f.keep(change, fmt.Errorf("%w: %s: an earlier change by this hub did not end within %s", ErrBusy, f.path,
			f.o.Wait))
	}
	defer func() { f.turn <- struct{}{} }()

	f.mu.Lock()
	detached, pending := f.detached, slices.Clone(f.pending)
	f.mu.Unlock()
	if detached {
		return f.keep(change, nil)
	}
	written, refused, err := f.write(ctx, append(slices.Clone(pending), change))
	switch {
	case refused != nil:
		return refused
	case err != nil:
		return f.keep(change, explain(f.path, err))
	}
	return f.wrote(written, change, len(pending))
}

// write makes the changes to the file. The last one may refuse; those before it have held already.
func (f *File) write(ctx context.Context, changes []Change) (now snapshot, refused, err error) {
	if err := f.disk.makeDir(filepath.Dir(f.path), f.o.Logger); err != nil {
		return snapshot{}, nil, err
	}
	unlock, err := f.disk.lock(ctx, f.path+".lock")
	if err != nil {
		return snapshot{}, nil, err
	}
	defer unlock()

	old := f.load()
	if old.err != nil && !errors.Is(old.err, ErrBroken) {
		return snapshot{}, nil, old.err
	}
	text := replay(old.text, changes[:len(changes)-1])
	next, err := changes[len(changes)-1](text)
	if err != nil {
		return snapshot{}, err, nil
	}
	if next == nil {
		next = text
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

// wrote remembers what is in the file now: change, and the first late ones of those that were pending.
func (f *File) wrote(now snapshot, change Change, late int) error {
	f.mu.Lock()
	detached := f.detached // meanwhile, by changes that did not get their turn
	if !detached {
		f.seen = now
		f.pending = slices.Delete(f.pending, 0, late)
		f.edits++
	}
	f.mu.Unlock()
	if detached {
		return f.keep(change, nil)
	}
	if late > 0 {
		f.o.Logger.Info("the hub's own file can be written again, and what was held back is in it", "file", f.path)
	}
	return nil
}

// keep lets a change hold that is not in the file, for which why is the reason, and returns that. When change itself
// refuses, it is not kept, and its own error is returned.
func (f *File) keep(change Change, why error) error {
	for {
		f.mu.Lock()
		edits := f.edits
		f.mu.Unlock()
		text, _ := f.Read()
		next, err := change(text)
		if err != nil {
			return err
		}
		if next == nil {
			return why
		}
		if first, ok := f.kept(change, next, edits); ok {
			if first && !f.o.Told {
				f.o.Logger.Warn("the hub's own file cannot be written: what is decided now holds until the hub ends",
					"file", f.path, "error", why.Error())
			}
			return why
		}
	}
}

// kept makes change, which leads to next, hold, unless something else does since the state of edits. It says whether it
// is the first of those that wait for the disk.
func (f *File) kept(change Change, next []byte, edits uint64) (first, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.edits != edits {
		return false, false
	}
	f.edits++
	switch {
	case f.detached:
		f.own = next
	case len(f.pending) >= maxPending:
		f.detached, f.own, f.pending = true, next, nil
	default:
		f.pending = append(f.pending, change)
		return len(f.pending) == 1, true
	}
	return false, true
}

// replay makes changes that have held before. One that refuses another old text is left out.
func replay(text []byte, changes []Change) []byte {
	for _, change := range changes {
		if next, err := change(text); err == nil && next != nil {
			text = next
		}
	}
	return text
}
