package plugin

import (
	"os"
	"runtime"
)

// StateDir gives the directory where a hub of this user keeps what it remembers, "" for nowhere. It need not exist. The
// error says that the system names no place for it.
func StateDir() (string, error) { return stateDir(runtime.GOOS, os.LookupEnv) }
