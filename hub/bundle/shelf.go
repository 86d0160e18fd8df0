package bundle

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

// Options of a Shelf.
type Options struct {
	StateDir string // "": bundles are read, but none can be unpacked
	// GOOS and Home are those of this computer; "": what the process has. Tests are on another one.
	GOOS, Home string
}

// Shelf is where bundles are unpacked. All methods may be called concurrently, by several processes too.
type Shelf struct {
	dir string
	sys system

	mu   sync.Mutex     // guards uses
	uses map[string]use // of the folders of bundles
}

// use is how many want the folder of a bundle to be there and have not taken that back, and whether it came for them.
type use struct {
	n    int
	made bool
}

// NewShelf makes a Shelf. Nothing is read or made yet.
func NewShelf(o Options) *Shelf {
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

// Bundle is one that was looked at, and that nothing keeps from being unpacked.
type Bundle struct {
	Info
	Proposal *proposal.Proposal
	SHA256   string
	Bytes    int64 // of the file
	Unpacked int64 // of what is in it
	Folder   string

	file  string
	ours  bool // the file was downloaded, and goes when it is unpacked or no longer wanted
	entry string
}

// Read looks at a bundle. Its proposal speaks of the folder that it would be unpacked in.
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

// openPlain opens a file that is a plain one: no pipe, which would never end.
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

// Fetch has a bundle written to a file of the hub's own, and looks at it. Who does not unpack it drops it.
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
	if err = download(ctx, w); w.err != nil { // whatever the download makes of it
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
		_ = os.Remove(f.Name()) // or sweep does, later
		return nil, err
	}
	b.ours = true
	return b, nil
}

// disk remembers that a file could not be written.
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

// Drop forgets a bundle that was looked at; one that was unpacked stays.
func (s *Shelf) Drop(b *Bundle) {
	if b.ours {
		_ = os.Remove(b.file) // or sweep does, later
	}
}

// leftOver is how long a download or a half unpacked folder can be somebody's who still works on it.
const leftOver = 24 * time.Hour

// sweep removes what hubs have left that were killed.
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

// Unpack puts a bundle into its folder, in one step, and gives what takes that back; nothing, where it was there
// before, or where somebody else has wanted it to be there meanwhile. It is refused when the file is another one than
// was looked at.
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

// use counts, and removes a folder that came for those who all have taken it back.
func (s *Shelf) use(folder string, more int, made bool) {
	s.mu.Lock()
	defer s.mu.Unlock() // also while it is removed: nobody finds half of it
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

// unpack tells whether it was this call that made the folder.
func (s *Shelf) unpack(ctx context.Context, b *Bundle) (made bool, err error) {
	if info, err := os.Stat(filepath.Join(b.Folder, manifestName)); err == nil && info.Mode().IsRegular() {
		return false, nil
	}
	into := filepath.Join(s.dir, "unpacking-"+rand.Text())
	if err := os.Mkdir(into, 0o700); err != nil {
		return false, noPlace(err)
	}
	defer os.RemoveAll(into) // of what is moved away nothing is left
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

// unpackInto works on a copy: what was looked at is what is unpacked, whoever writes to the file meanwhile.
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
	// Somebody may have written to the file while it was looked at: what was shown is held to what is unpacked.
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

// orGivenUp is err, or that nobody waits any more.
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

// invalid says why a bundle is not taken.
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
