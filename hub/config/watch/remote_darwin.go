package watch

import "golang.org/x/sys/unix"

// remote says whether other computers may change the folder, of which no event tells.
func remote(folder string) bool {
	var st unix.Statfs_t
	return unix.Statfs(folder, &st) == nil && st.Flags&unix.MNT_LOCAL == 0
}
