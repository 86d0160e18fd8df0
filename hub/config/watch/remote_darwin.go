package watch

import "golang.org/x/sys/unix"

// remote reports whether other computers may change the folder, which causes no events.
func remote(folder string) bool {
	var st unix.Statfs_t
	return unix.Statfs(folder, &st) == nil && st.Flags&unix.MNT_LOCAL == 0
}
