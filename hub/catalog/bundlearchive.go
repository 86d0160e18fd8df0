package catalog

import (
	"archive/zip"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// Bounds of one bundle. Bundles that include all their modules have some 20,000 files and 300 MiB.
const (
	maxFileBytes     = 256 << 20 // of the bundle
	maxEntries       = 50_000
	maxUnpackedBytes = 1 << 30
	maxManifestBytes = 1 << 20
	maxNameBytes     = 512
	maxLevels        = 64
)

const manifestName = "manifest.json"

// refusal says why a bundle is refused, in words for people.
type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }

func refuse(format string, args ...any) error { return &refusal{fmt.Sprintf(format, args...)} }

// archive is a bundle that was checked: each of its entries may be unpacked.
type archive struct {
	files    []*zip.File
	byName   map[string]*zip.File
	unpacked int64
}

// maxDirectoryBytes bounds the directory of a ZIP, in bytes: package zip keeps a few hundred bytes for each entry.
const maxDirectoryBytes = 16 << 20

// bounded is a file of which only left bytes may be read until read is set, which is done when its directory was read.
type bounded struct {
	r    io.ReaderAt
	left int
	read bool
}

func (b *bounded) ReadAt(p []byte, off int64) (int, error) {
	if !b.read {
		if b.left -= len(p); b.left < 0 {
			return 0, io.ErrUnexpectedEOF
		}
	}
	return b.r.ReadAt(p, off)
}

// openArchive checks everything that the directory of a ZIP says. The contents are checked against the directory when
// they are read.
func openArchive(r io.ReaderAt, size int64) (*archive, error) {
	if size > maxFileBytes {
		return nil, refuse("it has more than %s", bounds.Bytes(maxFileBytes))
	}
	directory := &bounded{r: r, left: maxDirectoryBytes}
	z, err := zip.NewReader(directory, size)
	if directory.left < 0 {
		return nil, refuse("it has more than %d files, or names that are too long", maxEntries)
	}
	directory.read = true
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, refuse("it is no ZIP file")
	}
	if len(z.File) > maxEntries {
		return nil, refuse("it has more than %d files", maxEntries)
	}
	a := &archive{byName: make(map[string]*zip.File, len(z.File))}
	folded := make(map[string]bool, len(z.File)) // lower case, for file systems that ignore case; true for a folder
	for _, f := range z.File {
		name, folder := strings.CutSuffix(f.Name, "/")
		if err := checkName(name); err != nil {
			return nil, err
		}
		mode := f.Mode()
		switch {
		case folder != mode.IsDir() || !folder && !mode.IsRegular():
			return nil, refuse("\"%s\" in it is a link or a device", bounds.Printable(f.Name))
		case f.Flags&1 != 0:
			return nil, refuse("\"%s\" in it is encrypted", bounds.Printable(f.Name))
		case f.Method != zip.Store && f.Method != zip.Deflate:
			return nil, refuse("\"%s\" in it is packed in a way that is not known", bounds.Printable(f.Name))
		case folder && f.UncompressedSize64 > 0:
			return nil, refuse("\"%s\" in it is a folder with a content", bounds.Printable(f.Name))
		}
		if !place(folded, name, folder) {
			return nil, refuse("\"%s\" in it is there twice, or is a file and a folder", bounds.Printable(f.Name))
		}
		if f.UncompressedSize64 > maxUnpackedBytes || f.CompressedSize64 > uint64(size) {
			return nil, tooMuch()
		}
		if a.unpacked += int64(f.UncompressedSize64); a.unpacked > maxUnpackedBytes {
			return nil, tooMuch()
		}
		if !folder {
			a.byName[name] = f
			a.files = append(a.files, f)
		}
	}
	if err := a.apart(); err != nil {
		return nil, err
	}
	return a, nil
}

// apart refuses a ZIP in which several entries share data, as in ZIP bombs.
func (a *archive) apart() error {
	type span struct{ from, to int64 }
	spans := make([]span, 0, len(a.files))
	for _, f := range a.files {
		from, err := f.DataOffset()
		if err != nil {
			return refuse("\"%s\" in it is damaged", bounds.Printable(f.Name))
		}
		spans = append(spans, span{from, from + int64(f.CompressedSize64)})
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	for i := 1; i < len(spans); i++ {
		if spans[i].from <= spans[i-1].to { // there is a header between two
			return refuse("its files overlap")
		}
	}
	return nil
}

func tooMuch() error {
	return refuse("its files have more than %s", bounds.Bytes(maxUnpackedBytes))
}

// place records a name and the folders above it. It returns false if something else has one of these names.
func place(folded map[string]bool, name string, folder bool) bool {
	key := strings.ToLower(name)
	if was, there := folded[key]; there && !(was && folder) {
		return false
	}
	folded[key] = folder
	for dir := path.Dir(key); dir != "."; dir = path.Dir(dir) {
		was, there := folded[dir]
		if there {
			return was // and so are the folders above it
		}
		folded[dir] = true
	}
	return true
}

// device matches a name that is that of a device on Windows, whatever its extension.
var device = regexp.MustCompile(`(?i)^(?:CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(?:COM|LPT)[0-9]) *(?:\.|$)`)

// checkName accepts paths that name one file below a folder on every system.
func checkName(name string) error {
	bad := func(why string) error { return refuse("the path \"%s\" in it %s", bounds.Printable(name), why) }
	switch {
	case len(name) > maxNameBytes || strings.Count(name, "/") >= maxLevels:
		return bad("is too long")
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return bad("has characters that no path has")
	case name == "." || !fs.ValidPath(name):
		return bad("leads out of the bundle, or nowhere")
	case strings.ContainsAny(name, `\:*?"<>|`):
		return bad("cannot be on every system")
	}
	for _, part := range strings.Split(name, "/") {
		if device.MatchString(part) || strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") {
			return bad("cannot be on every system")
		}
	}
	return nil
}

// read returns the content of a file of at most most bytes.
func (a *archive) read(name string, most int64) ([]byte, error) {
	f := a.byName[name]
	if f == nil {
		return nil, refuse("it has no %s", name)
	}
	if f.UncompressedSize64 > uint64(most) {
		return nil, refuse("its %s has more than %s", name, bounds.Bytes(int(most)))
	}
	r, err := f.Open()
	if err != nil {
		return nil, refuse("its %s is damaged", name)
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil || int64(len(text)) > most {
		return nil, refuse("its %s is damaged", name)
	}
	return text, nil
}

// unpack writes all files below an existing, empty folder. The os.Root keeps every path inside the folder.
func (a *archive) unpack(ctx context.Context, to *os.Root, runs func(name string) bool) error {
	made := map[string]bool{".": true}
	for _, f := range a.files {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if dir := path.Dir(f.Name); !made[dir] {
			if err := to.MkdirAll(dir, 0o700); err != nil {
				return err
			}
			made[dir] = true
		}
		mode := fs.FileMode(0o600)
		if f.Mode()&0o111 != 0 || runs(f.Name) {
			mode = 0o700
		}
		if err := a.unpackFile(ctx, to, f, mode); err != nil {
			return err
		}
	}
	return nil
}

func (a *archive) unpackFile(ctx context.Context, to *os.Root, f *zip.File, mode fs.FileMode) (err error) {
	r, err := f.Open()
	if err != nil {
		return refuse("\"%s\" in it is damaged", bounds.Printable(f.Name))
	}
	defer r.Close()
	out, err := to.OpenFile(f.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() {
		if closed := out.Close(); err == nil {
			err = closed
		}
	}()
	n, err := io.Copy(out, &upTo{ctx: ctx, r: r, left: int64(f.UncompressedSize64)})
	if _, ok := errors.AsType[*fs.PathError](err); ok || ctx.Err() != nil {
		return err
	}
	if err != nil || n != int64(f.UncompressedSize64) {
		return refuse("\"%s\" in it is damaged, or larger than it says", bounds.Printable(f.Name))
	}
	return nil
}

var errMore = errors.New("more bytes than the directory says")

// upTo returns an error if there are more bytes than the directory of the ZIP says, or when ctx has ended.
type upTo struct {
	ctx  context.Context
	r    io.Reader
	left int64
}

func (u *upTo) Read(p []byte) (int, error) {
	if u.ctx.Err() != nil {
		return 0, context.Cause(u.ctx)
	}
	n, err := u.r.Read(p)
	if u.left -= int64(n); u.left < 0 {
		return 0, errMore
	}
	return n, err
}
