package statefile

import (
	"bytes"
	"fmt"
)

// load reads the file as it is.
func (f *File) load() snapshot {
	text, info, err := f.disk.read(f.path)
	s := snapshot{info: info, known: err == nil, steady: steady(info)}
	switch {
	case err != nil:
		s.err = explain(f.path, err)
	case len(bytes.TrimSpace(text)) == 0: // nothing that could be lost
	default:
		if err := f.o.Check(text); err != nil {
			s.err = &brokenError{path: f.path, why: err, text: text}
			return s
		}
		s.text = text
	}
	return s
}

// brokenError keeps the text that was not understood, to be set aside.
type brokenError struct {
	path string
	why  error
	text []byte
}

func (e *brokenError) Error() string   { return fmt.Sprintf("%v: %s: %v", errBroken, e.path, e.why) }
func (e *brokenError) Unwrap() []error { return []error{errBroken, e.why} }

// setAside keeps a copy of a text that was not understood: a newer hub may have written it, or a person. The copy has
// the time of the original in its name, so that it is made once however often it is tried. A copy, not a rename: at no
// time is there no file.
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

// replace puts text in the place of what is at path, in one step. It is called under the lock, so the name of the new
// file is nobody else's: one that lies there is left over from a writer that was killed.
func (f *File) replace(path string, text []byte) error {
	fresh := f.path + ".new"
	file, err := f.disk.create(fresh)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err == nil {
		err = file.Sync() // some file systems find only here that the disk is full
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
