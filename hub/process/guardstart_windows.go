package process

import (
	"errors"
	"os"
)

// guardable is false: the job objects end with the hub that holds them, so no guard is needed.
const guardable = false

func startGuard([]string) (*guardProcess, error) { return nil, errors.ErrUnsupported }

func writeNow(*os.File, []byte) int { return 0 }
