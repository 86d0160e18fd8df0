package statefile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/windows"
)

const openPlain = 0

// A file that another program has open, most often a virus scanner, cannot be replaced at that moment.
const (
	sharingTries = 50
	sharingPause = 20 * time.Millisecond
)

// patiently calls f again, for up to a second in all, while another program holds the file.
func patiently(f func() error) error {
	for try := 1; ; try++ {
		err := f()
		held := errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_LOCK_VIOLATION) ||
			errors.Is(err, windows.ERROR_ACCESS_DENIED)
		if !held || try == sharingTries {
			return err
		}
		time.Sleep(sharingPause)
	}
}

// lockFolder takes a lock for the folder. It is a file in the user's folder for temporary files: Windows has no locks
// on folders, and does not let anybody read or replace a locked file.
func lockFolder(ctx context.Context, folder string) (func(), error) {
	return Lock(ctx, filepath.Join(os.TempDir(), "mcphub-"+Sum(strings.ToLower(folder))[:16]+".lock"))
}

// keepOwner does nothing: the file belongs to its creator, and its rights are those of the folder.
func keepOwner(*os.File, fs.FileInfo) error { return nil }
