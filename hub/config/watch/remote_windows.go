package watch

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// remote reports whether other computers may change the folder. Not every file server reports such changes.
func remote(folder string) bool {
	volume := filepath.VolumeName(folder)
	if strings.HasPrefix(volume, `\\`) {
		return true
	}
	root, err := windows.UTF16PtrFromString(volume + `\`)
	return err == nil && windows.GetDriveType(root) == windows.DRIVE_REMOTE
}
