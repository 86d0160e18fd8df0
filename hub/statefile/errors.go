package statefile

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// ErrNoPlace is returned by Update if there is no directory for the hub's own files.
var ErrNoPlace = errors.New("there is no directory for the hub's own files")

// Reasons why a file cannot be read or written, for errors.Is. Each is wrapped with the path and the error of the
// system.
var (
	errReadOnly  = errors.New("the hub may not write its own files there")
	errFull      = errors.New("the disk is full")
	errBusy      = errors.New("another hub holds the file for too long")
	errIrregular = errors.New("the hub's own file must be a plain one of bounded size, and is not")
	errBroken    = errors.New("the hub's own file cannot be understood")
)

// explain wraps err with one of the errors above, if one applies.
func explain(path string, err error) error {
	var word error
	switch {
	case err == nil:
		return nil
	case slices.ContainsFunc([]error{errReadOnly, errFull, errBusy, errIrregular, errBroken}, func(word error) bool {
		return errors.Is(err, word)
	}):
		return err
	case diskFull(err):
		word = errFull
	case errors.Is(err, fs.ErrPermission) || writeProtected(err):
		word = errReadOnly
	default:
		return fmt.Errorf("the hub's own file %s: %w", path, err)
	}
	return fmt.Errorf("%w: %s: %w", word, path, err)
}
