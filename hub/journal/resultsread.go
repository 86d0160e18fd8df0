package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
	"unicode/utf8"
)

// find returns the path of a result and its size, or ErrNotKept if there is no such result.
func (s *Results) find(id string) (path string, size int64, err error) {
	s.mu.Lock()
	made := s.made || !s.temporary
	s.mu.Unlock()
	if !made || !idForm.MatchString(id) {
		return "", 0, ErrNotKept
	}
	dir, err := s.folder()
	if err != nil {
		return "", 0, ErrNotKept
	}
	path = filepath.Join(dir, id)
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()) > s.limits.age {
		return "", 0, ErrNotKept
	}
	if info.Size() > s.limits.bytes {
		return "", 0, fmt.Errorf("the file of the result has %d bytes", info.Size())
	}
	return path, info.Size(), nil
}

// Read returns the whole result, or ErrNotKept if there is none.
func (s *Results) Read(id string) ([]byte, error) {
	path, _, err := s.find(id)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotKept
	}
	return text, err
}

// ReadPiece is PieceOf for a result. It does not read more of the file than it needs.
func (s *Results) ReadPiece(id string, offset int64, limit int) (Piece, error) {
	path, size, err := s.find(id)
	if err != nil {
		return Piece{}, err
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Piece{}, ErrNotKept
	}
	if err != nil {
		return Piece{}, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	offset, limit = min(max(offset, 0), size), atMost(limit)
	// A few bytes more on both sides, since a piece begins and ends between characters.
	base := max(offset-utf8.UTFMax, 0)
	around := make([]byte, min(offset+int64(limit)+utf8.UTFMax, size)-base)
	if _, err := f.ReadAt(around, base); err != nil && !errors.Is(err, io.EOF) {
		return Piece{}, err
	}
	p := PieceOf(around, offset-base, limit)
	if end := base + p.Offset + int64(len(p.Text)); end < size {
		p.Next = end
	} else {
		p.Next = 0
	}
	p.Offset, p.Size = base+p.Offset, size
	return p, nil
}

// Remove deletes a result.
func (s *Results) Remove(id string) {
	path, size, err := s.find(id)
	if err != nil || os.Remove(path) != nil {
		return // if it cannot be deleted now, it is deleted once it is too old
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes, s.files = s.bytes-size, s.files-1
}
