package statefile

import (
	"bytes"
	"fmt"
)

// load reads the file.
func (f *File) load() snapshot {
	text, info, err := f.disk.read(f.path)
	s := snapshot{info: info, known: err == nil, steady: steady(info)}
	switch {
	case err != nil:
		s.err = explain(f.path, err)
	case len(bytes.TrimSpace(text)) == 0: // an empty file; nothing can be lost
	default:
		if err := f.o.Check(text); err != nil {
			s.err = &brokenError{path: f.path, why: err, text: text}
			return s
		}
		s.text = text
	}
	return s
}

// brokenError has the text that was not understood, so that it can be copied.
type brokenError struct {
	path string
	why  error
	text []byte
}

func (e *brokenError) Error() string   { return fmt.Sprintf("%v: %s: %v", errBroken, e.path, e.why) }
func (e *brokenError) Unwrap() []error { return []error{errBroken, e.why} }

// setAside makes a copy of a text that was not understood: a newer hub may have written it, or a person. The name of
// the copy has the time of the original, so that repeated attempts make one copy. It is a copy and not a rename, so
// that the file exists at any time.
func (f *File) setAside(old snapshot) error {
	broken, ok := old.err.(*brokenError)
	if !ok {
		return old.err
	}
	name := f.path + ".broken-" + old.info.ModTime().UTC().Format("20060102T150405Z")
	for n := 1; ; n++ {
		aside := name
		if n > 1 {
			aside = fmt.Sprintf("%s-%d", name, n)
		}
		text, info, err := f.disk.read(aside)
		switch {
		case err != nil:
			return err
		case info == nil:
			if err := f.replace(aside, broken.text); err != nil {
				return err
			}
			f.o.Logger.Warn("the hub's own file could not be understood; a copy of it is kept, and it begins anew",
				"file", f.path, "copy", aside, "error", broken.why.Error())
			return nil
		case bytes.Equal(text, broken.text):
			return nil
		}
	}
}

// replace replaces the file at path in one step. It is called under the lock, so no other writer uses the name of the
// new file: if such a file exists, it was left by a writer that was killed.
func (f *File) replace(path string, text []byte) error {
	fresh := f.path + ".new"
	file, err := f.disk.create(fresh)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err == nil {
		err = file.Sync() // some file systems report a full disk only here
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = f.disk.rename(fresh, path)
	}
	if err != nil {
		_ = f.disk.remove(fresh)
		return err
	}
	f.disk.syncDir(path)
	return nil
}
