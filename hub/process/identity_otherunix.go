//go:build unix && !linux && !darwin

package process

import "errors"

// lookUp is not supported: each BSD has a layout of its own for the process table. So no ledger is kept, since its
// content could not be verified.
func lookUp(int) (start uint64, living bool, err error) {
	return 0, false, errors.ErrUnsupported
}

func bootID() string { return "" }
