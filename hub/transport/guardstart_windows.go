package transport

import (
	"errors"
	"os"
)

// guardable: the job objects end with the hub that holds them, so there is no guard.
const guardable = false

func startGuard([]string) (*guardProcess, error) { return nil, errors.ErrUnsupported }

func writeNow(*os.File, []byte) int { return 0 }
