package config

import (
	"fmt"
	"io"
	"os"
)

// maxConfig bounds a config file, in bytes. Some applications keep their history in it, too.
const maxConfig = 64 << 20

// ReadFile is os.ReadFile for config files, of which a workspace may bring what it likes: bounded, and of regular files only, so that a link to a
// device or a pipe holds nobody up.
func ReadFile(name string) ([]byte, error) {
	text, err := readRegular(name, maxConfig+1)
	if err != nil {
		return nil, err
	}
	if len(text) > maxConfig {
		return nil, fmt.Errorf("is larger than %d bytes", maxConfig)
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
