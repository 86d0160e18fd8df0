package config

import (
	"io"
	"os"
)

// ReadFile is like os.ReadFile, for config files, which a workspace may fill with anything. The size is bounded by the
// scope (Source.Scope), and only regular files are read, so that a link to a device or a pipe does not block the hub.
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

// readRegular reads at most most bytes of a regular file.
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
