package catalog

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/proposal"
)

// ShelfOptions are the options of a Shelf.
type ShelfOptions struct {
	StateDir string // "" means that bundles can be read, but not unpacked
	// GOOS and Home describe this computer; "" means those of the process. Tests set them.
	GOOS, Home string
}

// Shelf is the folder in which bundles are unpacked. Its methods may be called concurrently, also by several processes.
type Shelf struct {
	dir string
	sys system

	mu   sync.Mutex     // guards uses
	uses map[string]use // by the folder of the bundle
}

// use is the number of callers that need the folder of a bundle, and whether the folder was made for them.
type use struct {
	n    int
	made bool
}

// NewShelf returns a Shelf. It reads and makes nothing yet.
func NewShelf(o ShelfOptions) *Shelf {
	s := &Shelf{uses: map[string]use{}, sys: system{goos: o.GOOS, home: o.Home}}
	if o.StateDir != "" {
		s.dir = filepath.Join(o.StateDir, "bundles")
	}
	if s.sys.goos == "" {
		s.sys.goos = runtime.GOOS
	}
	if s.sys.home == "" {
		s.sys.home, _ = os.UserHomeDir()
	}
	return s
}

// Bundle is a bundle that was checked, and that can be unpacked.
type Bundle struct {
	Info
	Proposal *proposal.Proposal
	SHA256   string
	Bytes    int64 // of the file
	Unpacked int64 // of its contents
	Folder   string

	file  string
	ours  bool // the file was downloaded; it is removed with Drop
	entry string
}

// Read reads and checks a bundle. The proposal refers to the folder in which the bundle would be unpacked.
func (s *Shelf) Read(ctx context.Context, file string) (*Bundle, error) {
	if !filepath.IsAbs(file) {
		return nil, invalid(file, refuse("its path must be absolute"))
	}
	f, size, err := openPlain(file)
	if err != nil {
		return nil, invalid(file, err)
	}
	defer f.Close()
	a, err := openArchive(f, size)
	if err != nil {
		return nil, invalid(file, err)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, &upTo{ctx: ctx, r: f, left: maxFileBytes}); err != nil {
		return nil, orGivenUp(ctx, invalid(file, err))
	}
	b := &Bundle{SHA256: hex.EncodeToString(sum.Sum(nil)), Bytes: size, Unpacked: a.unpacked, file: file}
	if err := s.describe(b, a); err != nil {
		return nil, invalid(file, err)
	}
	return b, nil
}

func (s *Shelf) describe(b *Bundle, a *archive) error {
	text, err := a.read(manifestName, maxManifestBytes)
	if err != nil {
		return err
	}
	m, err := readManifest(text)
	if err != nil {
		return err
	}
	b.Info, b.entry = m.Info, path.Clean(m.entry)
	b.Folder = filepath.Join(s.dir, proposal.Slug(m.Name)+"-"+b.SHA256[:16])
	b.Proposal, err = m.proposal(a, b.Folder, s.sys, proposal.Prefix(m.Name, b.SHA256))
	if err == nil && s.dir == "" && b.Proposal.Unusable == "" {
		b.Proposal.Unusable = "This hub has no directory for its state, so nothing can be unpacked."
		b.Proposal.Check()
	}
	return err
}

// openPlain opens a regular file. It refuses a pipe, which might never end.
func openPlain(file string) (*os.File, int64, error) {
	info, err := os.Stat(file)
	if err == nil && !info.Mode().IsRegular() {
		return nil, 0, refuse("it is no plain file")
	}
	if err != nil {
		return nil, 0, err
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, 0, err
	}
	info, err = f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = refuse("it is no plain file")
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// Fetch downloads a bundle to a file of the hub, and reads it. The caller must call Drop.
func (s *Shelf) Fetch(ctx context.Context, download func(ctx context.Context, w io.Writer) error) (*Bundle, error) {
	if err := s.make(); err != nil {
		return nil, err
	}
	s.sweep()
	f, err := os.CreateTemp(s.dir, "download-*.mcpb")
	if err != nil {
		return nil, noPlace(err)
	}
	w := &disk{w: f}
	if err = download(ctx, w); w.err != nil { // whatever the error of download is
		err = noPlace(w.err)
	}
	if closed := f.Close(); err == nil && closed != nil {
		err = noPlace(closed)
	}
	var b *Bundle
	if err == nil {
		b, err = s.Read(ctx, f.Name())
	}
	if err != nil {
		_ = os.Remove(f.Name()) // if this fails, sweep does it later
		return nil, err
	}
	b.ours = true
	return b, nil
}

// disk records that a file could not be written.
type disk struct {
	w   io.Writer
	err error
}

func (d *disk) Write(p []byte) (n int, err error) {
	n, err = d.w.Write(p)
	if err != nil {
		d.err = err
	}
	return n, err
}

// Drop removes the downloaded file of a bundle. An unpacked bundle stays.
func (s *Shelf) Drop(b *Bundle) {
	if b.ours {
		_ = os.Remove(b.file) // if this fails, sweep does it later
	}
}

// leftOver is the age up to which a download or a partly unpacked folder may still be in use.
const leftOver = 24 * time.Hour

// sweep removes the files of hubs that were killed.
func (s *Shelf) sweep() {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && time.Since(info.ModTime()) > leftOver &&
			(strings.HasPrefix(e.Name(), "download-") || strings.HasPrefix(e.Name(), "unpacking-")) {
			os.RemoveAll(filepath.Join(s.dir, e.Name()))
		}
	}
}

// Unpack unpacks a bundle into its folder, in one step. undo takes that back, unless the folder existed before, or
// another caller needs it meanwhile. If the file has changed since it was read, Unpack returns an error.
func (s *Shelf) Unpack(ctx context.Context, b *Bundle) (undo func(), err error) {
	if err := s.make(); err != nil {
		return nil, err
	}
	s.use(b.Folder, +1, false)
	made, err := s.unpack(ctx, b)
	if err != nil {
		s.use(b.Folder, -1, false)
		return nil, err
	}
	s.use(b.Folder, 0, made)
	return func() { s.use(b.Folder, -1, false) }, nil
}

// use changes the number of users of a folder, and removes a folder that was made for them when all have taken it back.
func (s *Shelf) use(folder string, more int, made bool) {
	s.mu.Lock()
	defer s.mu.Unlock() // held during the removal, too, so that nobody finds a part of the folder
	u := s.uses[folder]
	u.n, u.made = u.n+more, u.made || made
	if s.uses[folder] = u; u.n > 0 {
		return
	}
	delete(s.uses, folder)
	if u.made {
		os.RemoveAll(folder)
	}
}

// unpack reports whether this call made the folder.
func (s *Shelf) unpack(ctx context.Context, b *Bundle) (made bool, err error) {
	if info, err := os.Stat(filepath.Join(b.Folder, manifestName)); err == nil && info.Mode().IsRegular() {
		return false, nil
	}
	into := filepath.Join(s.dir, "unpacking-"+rand.Text())
	if err := os.Mkdir(into, 0o700); err != nil {
		return false, noPlace(err)
	}
	defer os.RemoveAll(into) // if the content was moved away, only the copy of the bundle is left
	if err := s.unpackInto(ctx, b, into); err != nil {
		return false, err
	}
	err = os.Rename(filepath.Join(into, "content"), b.Folder)
	if _, there := os.Stat(b.Folder); err != nil && there == nil { // another hub was faster
		return false, nil
	}
	if err != nil {
		return false, noPlace(err)
	}
	return true, nil
}

// unpackInto works on a copy of the file, so that what was checked is unpacked, even if somebody writes to the file
// meanwhile.
func (s *Shelf) unpackInto(ctx context.Context, b *Bundle, into string) error {
	from, size, err := openPlain(b.file)
	if err != nil {
		return invalid(b.file, err)
	}
	defer from.Close()
	copied, err := os.OpenFile(filepath.Join(into, "bundle"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return noPlace(err)
	}
	defer copied.Close()
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(copied, sum), &upTo{ctx: ctx, r: from, left: maxFileBytes}); err != nil {
		return orGivenUp(ctx, noPlace(err))
	}
	if hex.EncodeToString(sum.Sum(nil)) != b.SHA256 {
		return invalid(b.file, refuse("it is another file than the one that was looked at; read it again"))
	}
	a, err := openArchive(copied, size)
	if err != nil {
		return invalid(b.file, err)
	}
	// Somebody may have written to the file while it was read: what is unpacked must match what was shown.
	again := &Bundle{SHA256: b.SHA256}
	if err := s.describe(again, a); err != nil || again.entry != b.entry ||
		!reflect.DeepEqual(again.Proposal, b.Proposal) {
		return invalid(b.file, refuse("it was changed while it was looked at; read it again"))
	}
	content := filepath.Join(into, "content")
	if err := os.Mkdir(content, 0o700); err != nil {
		return noPlace(err)
	}
	root, err := os.OpenRoot(content)
	if err != nil {
		return noPlace(err)
	}
	defer func() { _ = root.Close() }()
	err = a.unpack(ctx, root, func(name string) bool { return name == b.entry })
	if _, ok := errors.AsType[*refusal](err); ok {
		return invalid(b.file, err)
	}
	if err != nil {
		return orGivenUp(ctx, noPlace(err))
	}
	return nil
}

func (s *Shelf) make() error {
	if s.dir == "" {
		return event.Fail(event.CodeFailedPrecondition, event.ReasonConfigNotWritable, nil,
			"the bundle was not unpacked: this hub has no directory for its state")
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return noPlace(err)
	}
	return nil
}

// orGivenUp returns err, or an error for a caller that has stopped waiting if ctx has ended.
func orGivenUp(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return event.StoppedWaiting(ctx, context.Cause(ctx))
	}
	return err
}

func noPlace(err error) error {
	text := "the disk does not take it"
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		text = bounds.Printable(e.Err.Error())
	}
	e := event.Fail(event.CodeFailedPrecondition, event.ReasonConfigNotWritable, nil,
		"the bundle was not unpacked, and nothing was added: %s", text)
	e.Err = err
	return e
}

// invalid returns an error that says why a bundle is refused.
func invalid(file string, err error) error {
	text := "it cannot be read"
	if r, ok := errors.AsType[*refusal](err); ok {
		text = r.text
	} else if errors.Is(err, fs.ErrNotExist) {
		text = "there is no such file"
	} else if errors.Is(err, fs.ErrPermission) {
		text = "it may not be read"
	}
	e := event.Fail(event.CodeInvalidArgument, event.ReasonBundleInvalid, []string{"file", file},
		"the bundle %s is not taken: %s", bounds.Printable(filepath.Base(file)), text)
	e.Err = err
	return e
}
