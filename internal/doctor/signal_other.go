//go:build !unix

package doctor

import "errors"

// canTerminate says that a process can be asked to leave by a signal: here it can only be ended.
const canTerminate = false

func terminate(int) error { return errors.ErrUnsupported }
