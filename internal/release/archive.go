package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// file is one file of an archive.
type file struct {
	name string // separated by slashes
	text []byte
	mode fs.FileMode
}

// packed is the time of every file in an archive, so that a release does not depend on the clock. Zip has no time
// before 1980.
var packed = time.Date(1985, time.October, 26, 8, 15, 0, 0, time.UTC)

func sorted(files []file) []file {
	return slices.SortedFunc(slices.Values(files), func(a, b file) int { return cmp.Compare(a.name, b.name) })
}

// in returns the name of a file below a folder; "" means no folder.
func (f file) in(folder string) string {
	if folder == "" {
		return f.name
	}
	return folder + "/" + f.name
}

// tarball packs files below a folder into a gzipped tar archive.
func tarball(folder string, files []file) []byte {
	var b bytes.Buffer
	z := got(gzip.NewWriterLevel(&b, gzip.BestCompression))
	w := tar.NewWriter(z)
	for _, f := range sorted(files) {
		header := &tar.Header{Name: f.in(folder), Size: int64(len(f.text)), Mode: int64(f.mode), ModTime: packed,
			Format: tar.FormatUSTAR, Typeflag: tar.TypeReg}
		must(w.WriteHeader(header))
		got(w.Write(f.text))
	}
	must(w.Close())
	must(z.Close())
	return b.Bytes()
}

// zipped packs files below a folder into a zip archive, for Windows.
func zipped(folder string, files []file) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range sorted(files) {
		header := &zip.FileHeader{Name: f.in(folder), Method: zip.Deflate, Modified: packed}
		header.SetMode(f.mode)
		part := got(w.CreateHeader(header))
		got(part.Write(f.text))
	}
	must(w.Close())
	return b.Bytes()
}

// archive writes the archive of a target.
func (r *release) archive(t target, files []file) {
	folder := fmt.Sprintf("mcphub-%s-%s", r.version, t.name())
	if t.goos == "windows" {
		r.write(folder+".zip", zipped(folder, files))
		return
	}
	r.write(folder+".tar.gz", tarball(folder, files))
}

// checksums writes SHA256SUMS for all existing files, in the format of sha256sum -c.
func (r *release) checksums() {
	entries := got(os.ReadDir(r.out))
	var b strings.Builder
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		text := got(os.ReadFile(filepath.Join(r.out, e.Name())))
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(text), e.Name())
	}
	r.write("SHA256SUMS", []byte(b.String()))
}

// extension writes the .vsix of a target with the program that was built for it, and the notices of both. The packer of
// VS Code writes the time of day into it, so it is packed again.
func (r *release) extension(t target, program string, notices []byte) {
	out := got(filepath.Abs(filepath.Join(r.out, fmt.Sprintf("mcphub-%s-%s.vsix", r.version, t.name()))))
	linked := program + ".notices.txt"
	must(os.WriteFile(linked, notices, 0o644))
	cmd := exec.Command("npm", "run", "--silent", "package", "-w", "vscode", "--", "--target", t.name(), "--version",
		r.version, "--binary", program, "--notices", linked, "--out", out)
	cmd.Dir = filepath.Join(r.root, "editors")
	if text, err := cmd.CombinedOutput(); err != nil {
		must(fmt.Errorf("the extension: %w\n%s", err, text))
	}
	must(os.WriteFile(out, repacked(got(os.ReadFile(out))), 0o644))
}

// repacked returns a zip with the same files in the order of their names, all with the same time.
func repacked(text []byte) []byte {
	z := got(zip.NewReader(bytes.NewReader(text), int64(len(text))))
	var files []file
	for _, f := range z.File {
		if f.FileInfo().IsDir() {
			continue
		}
		from := got(f.Open())
		content := got(io.ReadAll(from))
		must(from.Close())
		files = append(files, file{f.Name, content, f.Mode().Perm()})
	}
	return zipped("", files)
}
