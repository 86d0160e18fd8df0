package watch

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// remote says whether other computers may change the folder: not every server tells of that.
func remote(folder string) bool {
	volume := filepath.VolumeName(folder)
	if strings.HasPrefix(volume, `\\`) {
		return true
	}
	root, err := windows.UTF16PtrFromString(volume + `\`)
	return err == nil && windows.GetDriveType(root) == windows.DRIVE_REMOTE
}
