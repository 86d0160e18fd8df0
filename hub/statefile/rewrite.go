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
	// Preview makes the change and writes nothing, so it takes no lock and makes no folder. It does not find problems that
	// appear only when the file is written.
	Preview bool

	at   steps
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
	target, err := r.target(path)
	if err != nil {
		return err
	}
	if r.Preview {
		_, err := r.once(path, target, change)
		return err
	}
	if r.Make {
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return &RewriteError{path, "cannot be made; make its folder by hand", err}
		}
		if target, err = r.target(path); err != nil { // what somebody else made on the way may be a link
			return err
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, cmp.Or(r.wait, maxWait), errBusy)
	defer cancel()
	err = r.at.before("lockFolder")
	unlock := func() {}
	if err == nil {
		unlock, err = lockFolder(ctx, filepath.Dir(target))
	}
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

// Writable returns why a file cannot be changed, as far as that can be known without writing it, or nil if it can be.
func Writable(path string, r Rewriting) error {
	r.Preview = true
	return Rewrite(context.Background(), path, r, func(old []byte) ([]byte, error) {
		return append(bytes.Clone(old), '\n'), nil
	})
}

// target follows links, also on the way to a file that is to be made, and returns the path of the file to change.
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
		target, err = resolved(path), nil
	}
	if err != nil {
		return "", &RewriteError{path, "cannot be found", err}
	}
	return target, r.inside(path, target)
}

// resolved follows the links on the way to path as far as it exists.
func resolved(path string) string {
	up := filepath.Dir(path)
	if real, err := filepath.EvalSymlinks(path); err == nil || up == path {
		return cmp.Or(real, path)
	}
	return filepath.Join(resolved(up), filepath.Base(path))
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

// errChanged says that the file has changed by the time when the new text is ready.
var errChanged = errors.New("another program has written the file")

// once makes the change, unless another program writes the file meanwhile. In that case it returns false.
func (r *Rewriting) once(path, target string, change Change) (done bool, err error) {
	old, info, err := r.at.read(target)
	switch {
	case errors.Is(err, errIrregular):
		return false, &RewriteError{path, "is no plain file, or too large", nil}
	case err != nil:
		return false, &RewriteError{path, "cannot be read", err}
	case info != nil && old == nil:
		old = []byte{}
	}
	next, err := change(old)
	if err != nil || next == nil || info != nil && bytes.Equal(next, old) {
		return true, err
	}
	if info != nil && info.Mode().Perm()&0o200 == 0 {
		return false, &RewriteError{path, "is read-only; make it writable, or edit it by hand", nil}
	}
	if r.Preview {
		return true, nil
	}
	err = Replacement{
		Beside: filepath.Join(filepath.Dir(target), "."+filepath.Base(target)+".mcphub-new"),
		like:   info,
		still: func() error {
			now, there, err := r.at.read(target)
			if err != nil || (there == nil) != (info == nil) || !bytes.Equal(now, old) {
				return errChanged
			}
			return nil
		},
		at: r.at,
	}.Replace(target, next)
	switch {
	case errors.Is(err, errChanged):
		return false, nil
	case err != nil:
		return false, &RewriteError{path, cannotWrite(err), err}
	}
	return true, nil
}

func cannotWrite(err error) string {
	if errors.Is(err, fs.ErrPermission) {
		return "was not written: its folder may not be written in; edit the file by hand"
	}
	return "was not written"
}
