package config

import (
	"io"
	"os"
)

// ReadFile is os.ReadFile for config files, of which a workspace may bring what it likes: bounded by whose file it is
// (Source.Scope), and of regular files only, so that a link to a device or a pipe holds nobody up.
func ReadFile(name, scope string) ([]byte, error) {
	most := limitsOf(scope)
	text, err := readRegular(name, int64(most.bytes)+1)
	if err != nil {
		return nil, err
	}
	if len(text) > most.bytes {
		return nil, most.tooLarge()
	}
	return text, nil
}

// readRegular reads at most so many bytes of a regular file.
func readRegular(name string, most int64) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}
