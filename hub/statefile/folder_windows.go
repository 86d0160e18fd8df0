package statefile

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// lockFolder takes a lock for the folder. It is a file in the user's own folder for temporary files: Windows has no
// locks on folders, and lets nobody read or replace a file that is locked.
func (d systemDisk) lockFolder(ctx context.Context, folder string) (func(), error) {
	return d.lock(ctx, filepath.Join(os.TempDir(), "mcphub-"+Sum(strings.ToLower(folder))[:16]+".lock"))
}

// keepOwner has nothing to do: a file is its maker's, and the rights are those of the folder.
func keepOwner(newFile, fs.FileInfo) error { return nil }
