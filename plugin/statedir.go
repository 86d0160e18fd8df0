package plugin

import (
	"os"
	"runtime"

	"github.com/mcphub-go/mcphub/plugin/handshake"
)

// StateDir returns the directory in which the hubs of this user keep their state, "" for none. It need not exist. The
// error says that the system has no place for it.
func StateDir() (string, error) {
	if dir, chosen := os.LookupEnv(handshake.EnvStateDir); chosen {
		return dir, nil
	}
	return systemStateDir(runtime.GOOS, os.LookupEnv)
}
