package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

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
