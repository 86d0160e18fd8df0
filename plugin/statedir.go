package plugin

import (
	"os"
	"runtime"
)

// StateDir returns the directory in which a hub of this user keeps its state, "" for none. It need not exist. The error
// says that the system has no place for it.
func StateDir() (string, error) { return stateDir(runtime.GOOS, os.LookupEnv) }
