package statefile

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"
)

// What keeps a file from being read or written, for errors.Is. Each comes with the path and the system's own words.
var (
	ErrReadOnly  = errors.New("the hub may not write its own files there")
	ErrFull      = errors.New("the disk is full")
	ErrBusy      = errors.New("another hub holds the file for too long")
	ErrIrregular = errors.New("the hub's own file must be a plain one, and is a link or something else")
	ErrBroken    = errors.New("the hub's own file cannot be understood")
)

// explain gives err one of the words above, when one fits.
func explain(path string, err error) error {
	var word error
	switch {
	case err == nil:
		return nil
	case slices.ContainsFunc([]error{ErrReadOnly, ErrFull, ErrBusy, ErrIrregular, ErrBroken}, func(word error) bool {
		return errors.Is(err, word)
	}):
		return err
	case diskFull(err):
		word = ErrFull
	case errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS):
		word = ErrReadOnly
	default:
		return fmt.Errorf("the hub's own file %s: %w", path, err)
	}
	return fmt.Errorf("%w: %s: %w", word, path, err)
}
