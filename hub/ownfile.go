package hub

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// ownFile is one of the hub's own small files; several hubs may use it at once.
type ownFile interface {
	// Read gives the text, nil when there is none yet.
	Read() ([]byte, error)
	// Update replaces the text by what change makes of it. It must not be called with the hub's lock held.
	Update(change func(old []byte) ([]byte, error)) error
}

// plainFile is the file at path, or only memory when path is "".
type plainFile struct {
	path string

	mu   sync.Mutex // guards text, and one rewrite at a time
	text []byte
}

func openOwnFile(dir, name string) ownFile {
	if dir == "" {
		return &plainFile{}
	}
	return &plainFile{path: filepath.Join(dir, name)}
}

func (f *plainFile) Read() ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.read()
}

func (f *plainFile) read() ([]byte, error) {
	if f.path == "" {
		return f.text, nil
	}
	text, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

func (f *plainFile) Update(change func(old []byte) ([]byte, error)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	old, err := f.read()
	if err != nil {
		return err
	}
	text, err := change(old)
	if err != nil {
		return err
	}
	if f.path == "" {
		f.text = text
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(f.path, text, 0o600)
}
