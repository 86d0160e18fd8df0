//go:build !unix

package doctor

import "errors"

// canTerminate is false: on this system a process can only be killed, not asked to exit by a signal.
const canTerminate = false

func terminate(int) error { return errors.ErrUnsupported }
