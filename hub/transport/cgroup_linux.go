package transport

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

const cgroupRoot = "/sys/fs/cgroup"

// cgroupTree makes a cgroup for each server below the hub's own, where the hub may
// (cgroup v2, "Delegation"): mostly so in a desktop session, whose scopes systemd
// hands to the user. Nothing leaves a cgroup on its own, so this holds even what
// clears its environment and leaves its group.
//
// It sets no memory.max: the memory controller is never on below a cgroup that
// holds a process itself (cgroup v2, "No Internal Process Constraint"), and the
// hub is in that one.
type cgroupTree struct {
	own   string
	mkdir func(dir string) error
}

// newCgroupTree looks once; nil means that there can be none.
func newCgroupTree(root, self string, mkdir func(string) error) *cgroupTree {
	_, path, ok := strings.Cut("\n"+self, "\n0::")
	path, _, _ = strings.Cut(path, "\n")
	if !ok || !filepath.IsAbs(path) || strings.Contains(path, "..") { // ".." is a cgroup outside of what we can see
		return nil
	}
	own := filepath.Join(root, path)
	// The root of all cgroups has no cgroup.kill; it is nobody's to divide.
	for _, file := range []string{"cgroup.kill", "cgroup.procs"} {
		if unix.Access(filepath.Join(own, file), unix.W_OK) != nil {
			return nil
		}
	}
	if unix.Access(own, unix.W_OK) != nil {
		return nil
	}
	return &cgroupTree{own: own, mkdir: mkdir}
}

func findCgroupTree() *cgroupTree {
	self, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	return newCgroupTree(cgroupRoot, string(self), func(dir string) error { return os.Mkdir(dir, 0o755) })
}

// make gives the cgroup of a server, or nil.
func (t *cgroupTree) make(marker string) *cgroup {
	if t == nil {
		return nil
	}
	dir := filepath.Join(t.own, cgroupName(marker))
	if t.mkdir(dir) != nil {
		return nil
	}
	g := &cgroup{dir: dir}
	if unix.Access(filepath.Join(dir, "cgroup.kill"), unix.W_OK) != nil { // before Linux 5.14
		g.remove()
		return nil
	}
	return g
}

func cgroupName(marker string) string { return "mcphub-" + strings.ReplaceAll(marker, "/", "-") }

// cgroup is that of one server. All its methods do nothing for a nil one.
type cgroup struct{ dir string }

func (g *cgroup) path() string {
	if g == nil {
		return ""
	}
	return g.dir
}

// enter makes cmd start within the cgroup; leave is called after the start.
func (g *cgroup) enter(cmd *exec.Cmd) (leave func(), err error) {
	fd, err := unix.Open(g.dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, fd
	return func() { _ = unix.Close(fd) }, nil
}

// populated reports whether a living process is in it.
func (g *cgroup) populated() bool {
	if g == nil {
		return false
	}
	events, err := os.ReadFile(filepath.Join(g.dir, "cgroup.events"))
	return err == nil && strings.Contains("\n"+string(events), "\npopulated 1")
}

// kill sends SIGKILL to all that is in it, forks under way included.
func (g *cgroup) kill() {
	if g != nil {
		_ = os.WriteFile(filepath.Join(g.dir, "cgroup.kill"), []byte("1"), 0)
	}
}

// remove fails, and may, as long as something is in it.
func (g *cgroup) remove() {
	if g != nil {
		_ = unix.Rmdir(g.dir)
	}
}

// notedCgroup is a cgroup that a dead hub noted. The path comes out of a file or a
// pipe; it is nil unless this hub would have made it.
func notedCgroup(path, hub string) *cgroup {
	if path != filepath.Clean(path) || !strings.HasPrefix(path, cgroupRoot+"/") ||
		!strings.HasPrefix(filepath.Base(path), cgroupName(hub)+"-") {
		return nil
	}
	return &cgroup{dir: path}
}
