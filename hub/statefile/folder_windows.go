package statefile

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// lockFolder takes a lock for the folder. It is a file in the user's folder for temporary files: Windows has no locks
// on folders, and does not let anybody read or replace a locked file.
func (d systemDisk) lockFolder(ctx context.Context, folder string) (func(), error) {
	return d.lock(ctx, filepath.Join(os.TempDir(), "mcphub-"+Sum(strings.ToLower(folder))[:16]+".lock"))
}

// keepOwner does nothing: the file belongs to its creator, and its rights are those of the folder.
func keepOwner(newFile, fs.FileInfo) error { return nil }
