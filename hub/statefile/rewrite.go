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

// Rewriting are the options for changing a file that is not the hub's own. The zero value changes only an existing
// file.
type Rewriting struct {
	// Within is the folder that the file must lie in after links are followed; "" means anywhere.
	Within string
	// Make creates a missing file, for this user only, and the folders on the way to it.
	Make bool
	// Cline excludes writers that follow Cline's protocol (see AwaitForeignLock).
	Cline bool

	disk disk          // for tests
	wait time.Duration // for tests: how long to wait for other hubs; 0 means maxWait
}

// RewriteError says why a file was not changed. The file is as it was before.
type RewriteError struct {
	Path    string
	Message string // what is wrong and what to do
	Err     error  // from the system; may be nil
}

func (e *RewriteError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("%s %s", e.Path, e.Message)
	}
	return fmt.Sprintf("%s %s (%v)", e.Path, e.Message, e.Err)
}

func (e *RewriteError) Unwrap() error { return e.Err }

// rewriteTries is how often a change is tried in all, since another program may write the file meanwhile.
const rewriteTries = 3

// Rewrite changes a file that people and other programs write, too. The hubs of a user exclude each other by a lock on
// the folder. The new text is written to a file beside path, which then replaces the file in one step and gets its
// mode. If path is a link, the file that it leads to is changed. If another program has written the file since it was
// read, Rewrite tries again, three times in all; so change may be called several times. Its argument is nil if there is
// no file. An error of change is returned unchanged; any other is a *RewriteError. After an error, or if the process is
// killed, the file has its old text or the new one.
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

// Rehearse makes a change as Rewrite does but writes nothing, so it takes no lock. It does not find problems that
// appear only when the file is written.
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

// Writable returns why a file cannot be changed, as far as that can be known without writing it, or nil if it can be.
func Writable(path string, r Rewriting) error {
	return Rehearse(context.Background(), path, r, func(old []byte) ([]byte, error) { return []byte{}, nil })
}

const readOnly = "is read-only; make it writable, or edit it by hand"

// look reads a file, and creates nothing on the way to it.
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

// read reads the text of a file. It returns nil if there is no file.
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

// target follows links, and returns the path of the file to change.
func (r *Rewriting) target(path string) (string, error) {
	target, err := filepath.EvalSymlinks(path)
	if info, _ := os.Lstat(path); errors.Is(err, fs.ErrNotExist) && info != nil {
		if info.Mode()&fs.ModeSymlink != 0 {
			return "", &RewriteError{path, "is a link to a file that is not there; make that file, or remove the link", nil}
		}
		target, err = filepath.EvalSymlinks(path) // another hub has made the file in between
	}
	if errors.Is(err, fs.ErrNotExist) {
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

// existing returns the deepest existing folder on the way to folder.
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

// inside returns an error if the links of the file lead out of Within.
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

// once makes the change, unless the file has changed by the time when the new text is ready. In that case it returns
// false.
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

// write writes the new text to the file fresh, with the mode and the owner of like. The caller holds the lock, so no
// other writer uses that name: if such a file exists, it was left by a writer that was killed.
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
