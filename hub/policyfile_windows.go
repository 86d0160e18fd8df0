package hub

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// SystemPolicyFile returns the place of the system's managed policy. Only an administrator can write there, and no
// variable of the environment changes it. (In ProgramData anybody may make a folder.)
func SystemPolicyFile() string {
	dir, err := windows.KnownFolderPath(windows.FOLDERID_ProgramFiles, 0)
	if err != nil {
		dir = `C:\Program Files`
	}
	return filepath.Join(dir, "McpHub", "policy.json")
}
