package watch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// place is an entry of a folder. The folder's path holds no links.
type place struct{ folder, name string }

// maxLinks on the way to one file, as systems have it.
const maxLinks = 40

// trail lists the entries on which it depends where path leads to: every link on the way, in whatever folder it lies,
// and the last entry, which is the file, or the first one that is missing. Watching the folders of these is enough to
// see a file being replaced, a link being swapped and a folder coming into being. A folder on the way tells by itself
// that it goes away. With folder set, path is one, and is itself no entry of the trail when it is there.
func trail(path string, folder bool) []place {
	volume := filepath.VolumeName(path)
	root := volume + string(filepath.Separator)
	cur, rest := root, split(path[len(volume):])
	var places []place
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		if name == ".." { // only from links: a given path is clean
			cur = filepath.Dir(cur)
			continue
		}
		at, full := place{cur, name}, filepath.Join(cur, name)
		info, err := os.Lstat(full)
		switch {
		case err != nil:
			return append(places, at)
		case info.Mode()&fs.ModeSymlink != 0:
			places = append(places, at)
			target, err := os.Readlink(full)
			if links++; err != nil || links > maxLinks {
				return places
			}
			if filepath.IsAbs(target) {
				volume = filepath.VolumeName(target)
				cur, target = volume+string(filepath.Separator), target[len(volume):]
			}
			rest = append(split(target), rest...)
		case len(rest) == 0:
			if folder && info.IsDir() {
				return places
			}
			return append(places, at)
		case !info.IsDir() && !isFolder(full): // a file where a folder should be; a junction of Windows is a folder
			return append(places, at)
		default:
			cur = full
		}
	}
	return places
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func split(path string) []string {
	var parts []string
	for _, part := range strings.FieldsFunc(path, func(r rune) bool { return os.IsPathSeparator(uint8(r)) && r < 0x80 }) {
		if part != "." {
			parts = append(parts, part)
		}
	}
	return parts
}

// absent says that there is nothing at a path, because of the last entry or one before.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
