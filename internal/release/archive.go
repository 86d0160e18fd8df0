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
func tarball(folder string, files []file) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(z)
	for _, f := range sorted(files) {
		header := &tar.Header{Name: f.in(folder), Size: int64(len(f.text)), Mode: int64(f.mode), ModTime: packed,
			Format: tar.FormatUSTAR, Typeflag: tar.TypeReg}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.text); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}

// zipped packs files below a folder into a zip archive, for Windows.
func zipped(folder string, files []file) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range sorted(files) {
		header := &zip.FileHeader{Name: f.in(folder), Method: zip.Deflate, Modified: packed}
		header.SetMode(f.mode)
		part, err := w.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := part.Write(f.text); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// archive writes the archive of a target.
func (r *release) archive(t target, files []file) error {
	folder := fmt.Sprintf("mcphub-%s-%s", r.version, t.name())
	if t.goos == "windows" {
		text, err := zipped(folder, files)
		if err != nil {
			return err
		}
		return r.write(folder+".zip", text)
	}
	text, err := tarball(folder, files)
	if err != nil {
		return err
	}
	return r.write(folder+".tar.gz", text)
}

// checksums writes SHA256SUMS for all existing files, in the format of sha256sum -c.
func (r *release) checksums() error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		text, err := os.ReadFile(filepath.Join(r.out, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(text), e.Name())
	}
	return r.write("SHA256SUMS", []byte(b.String()))
}

// extension writes the .vsix of a target with the program that was built for it, and the notices of both. The packer of
// VS Code writes the time of day into it, so it is packed again.
func (r *release) extension(t target, program string, notices []byte) error {
	out, err := filepath.Abs(filepath.Join(r.out, fmt.Sprintf("mcphub-%s-%s.vsix", r.version, t.name())))
	if err != nil {
		return err
	}
	linked := program + ".notices.txt"
	if err := os.WriteFile(linked, notices, 0o644); err != nil {
		return err
	}
	cmd := exec.Command("npm", "run", "--silent", "package", "-w", "vscode", "--", "--target", t.name(), "--version",
		r.version, "--binary", program, "--notices", linked, "--out", out)
	cmd.Dir = filepath.Join(r.root, "editors")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("the extension: %w\n%s", err, text)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		return err
	}
	if text, err = repacked(text); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(out), err)
	}
	return os.WriteFile(out, text, 0o644)
}

// repacked returns a zip with the same files in the order of their names, all with the same time.
func repacked(text []byte) ([]byte, error) {
	z, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return nil, err
	}
	var files []file
	for _, f := range z.File {
		if f.FileInfo().IsDir() {
			continue
		}
		from, err := f.Open()
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(from)
		if err != nil {
			return nil, err
		}
		if err := from.Close(); err != nil {
			return nil, err
		}
		files = append(files, file{f.Name, content, f.Mode().Perm()})
	}
	return zipped("", files)
}
