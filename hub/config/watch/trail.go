package watch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// place is an entry of a folder. The folder's path has no links.
type place struct{ folder, name string }

// maxLinks is the number of links that may be on the way to one file, as in operating systems.
const maxLinks = 40

// trail returns the entries that determine where path leads: every link on the way, in whatever folder it is, and the
// last entry, which is the file or the first one that is missing. If the folders of these entries are watched, the
// replacement of a file, the change of a link and the creation of a folder are noticed. A folder on the way reports its
// own removal. If folder is set, path is a folder, and is not part of the trail if it exists.
func trail(path string, folder bool) []place {
	volume := filepath.VolumeName(path)
	root := volume + string(filepath.Separator)
	cur, rest := root, split(path[len(volume):])
	var places []place
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		if name == ".." { // only in links: the path that is given is clean
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
		case !info.IsDir() && !isFolder(full): // a file instead of a folder; a junction of Windows is a folder
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

// absent reports whether err says that nothing exists at a path, because its last entry or an earlier one is missing.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
