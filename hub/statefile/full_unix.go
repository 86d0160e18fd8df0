//go:build unix

package statefile

import (
	"errors"
	"syscall"
)

func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

func writeProtected(err error) bool { return errors.Is(err, syscall.EROFS) }
