package watch

import (
	"slices"

	"golang.org/x/sys/unix"
)

// remoteKinds are file systems that other computers may change: inotify(7) does not report such changes.
// unix.Statfs_t.Type is signed on some machines, so the numbers are compared as 32 bits.
var remoteKinds = []uint32{
	unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.CODA_SUPER_MAGIC,
	unix.AFS_SUPER_MAGIC,
	// V9FS is also the file system in which WSL shows the drives of Windows
	unix.AFS_FS_MAGIC, unix.NCP_SUPER_MAGIC, unix.CEPH_SUPER_MAGIC, unix.V9FS_MAGIC,
	unix.FUSE_SUPER_MAGIC, 0x786f4256, // the last one: folders shared by VirtualBox
}

func remote(folder string) bool {
	var st unix.Statfs_t
	return unix.Statfs(folder, &st) == nil && slices.Contains(remoteKinds, uint32(st.Type))
}
