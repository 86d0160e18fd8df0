package statefile

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Rewriting says how a file that is not the hub's own is changed. The zero value changes what is there.
type Rewriting struct {
	// Within is the folder that the file must lie in once links are followed; "" = anywhere.
	Within string
	// Make makes a file that is not there, for this user alone, and the folders that lead to it.
	Make bool
	// Cline keeps writers out that follow Cline's protocol (see AwaitForeignLock).
	Cline bool

	disk disk          // of tests
	wait time.Duration // of tests: for other hubs; 0 = maxWait
}

// RewriteError is why a file was not changed. The file is as it was.
type RewriteError struct {
	Path    string
	Message string // what is wrong and what to do
	Err     error  // of the system; may be nil
}

func (e *RewriteError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("%s %s", e.Path, e.Message)
	}
	return fmt.Sprintf("%s %s (%v)", e.Path, e.Message, e.Err)
}

func (e *RewriteError) Unwrap() error { return e.Err }

// rewriteTries is how often a change is made anew because another program wrote the file meanwhile.
const rewriteTries = 3

// Rewrite changes a file that people and other programs write, too. The hubs of a user take turns, by a lock on the
// folder. The new text is written beside the file and takes its place in one step, with its mode; a link stays one, and
// what it leads to is changed. When another program wrote the file after it was read, the change is made anew, three
// times at most: so change may be called several times, with nil where there is no file. An error of change is returned
// as it is; any other is a *RewriteError. After every error, and whenever the process is killed, the file has its old
// text or the new one.
func Rewrite(ctx context.Context, path string, r Rewriting, change Change) error {
	if r.disk == nil {
		r.disk = systemDisk{}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, cmp.Or(r.wait, maxWait), errBusy)
	defer cancel()
	target, err := r.target(path)
	if err != nil {
		return err
	}
	unlock, err := r.disk.lockFolder(ctx, filepath.Dir(target))
	if err != nil {
		return &RewriteError{path, "cannot be written now: another hub writes in its folder; try again", err}
	}
	defer unlock()
	if r.Cline {
		release, err := holdForeignLock(ctx, target)
		if err != nil {
			return &RewriteError{path, "cannot be written now: another program holds it; try again", err}
		}
		defer release()
	}
	for range rewriteTries {
		done, err := r.once(path, target, change)
		if done || err != nil {
			return err
		}
	}
	return &RewriteError{path, "is written by another program all the time; try again later", nil}
}

// Rehearse makes a change as Rewrite does and writes nothing, so it takes no lock. What shows only in writing, it does
// not find.
func Rehearse(_ context.Context, path string, r Rewriting, change Change) error {
	if r.disk == nil {
		r.disk = systemDisk{}
	}
	old, info, err := r.look(path)
	if err != nil {
		return err
	}
	next, err := change(old)
	if err != nil {
		return err
	}
	if next != nil && info != nil && info.Mode().Perm()&0o200 == 0 {
		return &RewriteError{path, readOnly, nil}
	}
	return nil
}

// Writable tells why a file cannot be changed, as far as that shows without writing. nil: it can.
func Writable(path string, r Rewriting) error {
	return Rehearse(context.Background(), path, r, func(old []byte) ([]byte, error) { return []byte{}, nil })
}

const readOnly = "is read-only; make it writable, or edit it by hand"

// look reads a file and makes nothing on the way to it.
func (r *Rewriting) look(path string) (old []byte, info fs.FileInfo, err error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) && r.Make {
		return nil, nil, r.inside(path, existing(filepath.Dir(path)))
	}
	target, err := r.target(path)
	if err != nil {
		return nil, nil, err
	}
	return r.read(path, target)
}

// read reads the text of a file; nil: there is no file.
func (r *Rewriting) read(path, target string) (old []byte, info fs.FileInfo, err error) {
	old, info, err = r.disk.read(target)
	switch {
	case errors.Is(err, errIrregular):
		return nil, nil, &RewriteError{path, "is no plain file, or too large", nil}
	case err != nil:
		return nil, nil, &RewriteError{path, "cannot be read", err}
	case info != nil && old == nil:
		old = []byte{}
	}
	return old, info, nil
}

// target follows links to the file that is changed.
func (r *Rewriting) target(path string) (string, error) {
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if info, _ := os.Lstat(path); info != nil {
			return "", &RewriteError{path, "is a link to a file that is not there; make that file, or remove the link", nil}
		}
		if !r.Make {
			return "", &RewriteError{path, "is not there", err}
		}
		folder := filepath.Dir(path)
		if err := r.inside(path, existing(folder)); err != nil {
			return "", err
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return "", &RewriteError{path, "cannot be made; make its folder by hand", err}
		}
		folder, err = filepath.EvalSymlinks(folder)
		target = filepath.Join(folder, filepath.Base(path))
	}
	if err != nil {
		return "", &RewriteError{path, "cannot be found", err}
	}
	return target, r.inside(path, target)
}

// existing is the deepest folder on the way that is there.
func existing(folder string) string {
	for {
		if real, err := filepath.EvalSymlinks(folder); err == nil {
			return real
		}
		up := filepath.Dir(folder)
		if up == folder {
			return folder
		}
		folder = up
	}
}

// inside refuses a file whose links lead out of Within.
func (r *Rewriting) inside(path, target string) error {
	if r.Within == "" {
		return nil
	}
	within, err := filepath.EvalSymlinks(r.Within)
	if err != nil {
		return &RewriteError{path, "cannot be found", err}
	}
	if rel, err := filepath.Rel(within, target); err == nil && rel != ".." &&
		!strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return nil
	}
	return &RewriteError{path, "leads out of its workspace folder by a link, and is not written through it; edit " +
		"the file that it leads to", nil}
}

// once makes the change, unless the file is another one by the time the new text is ready: then done is false.
func (r *Rewriting) once(path, target string, change Change) (done bool, err error) {
	old, info, err := r.read(path, target)
	if err != nil {
		return false, err
	}
	next, err := change(old)
	if err != nil {
		return false, err
	}
	if next == nil || info != nil && bytes.Equal(next, old) {
		return true, nil
	}
	if info != nil && info.Mode().Perm()&0o200 == 0 {
		return false, &RewriteError{path, readOnly, nil}
	}
	fresh := filepath.Join(filepath.Dir(target), "."+filepath.Base(target)+".mcphub-new")
	if err := r.write(fresh, next, info); err != nil {
		_ = r.disk.remove(fresh)
		return false, &RewriteError{path, cannotWrite(err), err}
	}
	now, there, err := r.disk.read(target)
	if err != nil || (there == nil) != (info == nil) || !bytes.Equal(now, old) {
		_ = r.disk.remove(fresh)
		return false, nil
	}
	if err := r.disk.rename(fresh, target); err != nil {
		_ = r.disk.remove(fresh)
		return false, &RewriteError{path, cannotWrite(err), err}
	}
	r.disk.syncDir(target)
	return true, nil
}

// write writes the new text beside the file, as like it as can be. Under the lock the name is nobody else's: what lies
// there is left over from a writer that was killed.
func (r *Rewriting) write(fresh string, text []byte, like fs.FileInfo) error {
	file, err := r.disk.create(fresh)
	if err != nil {
		return err
	}
	if like != nil {
		if err = keepOwner(file, like); err == nil {
			err = file.Chmod(like.Mode().Perm())
		}
	}
	if err == nil {
		_, err = file.Write(text)
	}
	if err == nil {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	return err
}

func cannotWrite(err error) string {
	switch {
	case diskFull(err):
		return "was not written: the disk is full"
	case errors.Is(err, fs.ErrPermission):
		return "was not written: its folder may not be written in; edit the file by hand"
	}
	return "was not written"
}
