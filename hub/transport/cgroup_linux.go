package transport

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

const cgroupRoot = "/sys/fs/cgroup"

// cgroupTree creates one cgroup for each server below the hub's own cgroup, if the hub may do that (cgroup v2,
// "Delegation"). That is mostly so in a desktop session, where systemd delegates its scopes to the user. A process does
// not leave its cgroup by itself. So a cgroup also holds a process that clears its environment and leaves its process
// group.
//
// cgroupTree sets no memory.max: the memory controller cannot be enabled below a cgroup that itself holds a process
// (cgroup v2, "No Internal Process Constraint"), and the hub's own cgroup holds the hub.
type cgroupTree struct {
	own   string
	mkdir func(dir string) error
}

// newCgroupTree checks whether cgroups can be created below the hub's own, and returns nil if not. self is the content
// of /proc/self/cgroup.
func newCgroupTree(root, self string, mkdir func(string) error) *cgroupTree {
	_, path, ok := strings.Cut("\n"+self, "\n0::")
	path, _, _ = strings.Cut(path, "\n")
	if !ok || !filepath.IsAbs(path) || strings.Contains(path, "..") { // ".." is outside of the cgroup namespace
		return nil
	}
	own := filepath.Join(root, path)
	// The root cgroup has no cgroup.kill. No cgroups are created below it.
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

// make creates the cgroup of the server with this marker. It returns nil if it cannot. t may be nil.
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

// cgroup is the cgroup of one server. A nil cgroup stands for none: all methods but enter do nothing then.
type cgroup struct{ dir string }

func (g *cgroup) path() string {
	if g == nil {
		return ""
	}
	return g.dir
}

// enter makes cmd start in the cgroup. The caller calls leave after the start. g must not be nil.
func (g *cgroup) enter(cmd *exec.Cmd) (leave func(), err error) {
	fd, err := unix.Open(g.dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, fd
	return func() { _ = unix.Close(fd) }, nil
}

// populated reports whether the cgroup holds a living process.
func (g *cgroup) populated() bool {
	if g == nil {
		return false
	}
	events, err := os.ReadFile(filepath.Join(g.dir, "cgroup.events"))
	return err == nil && strings.Contains("\n"+string(events), "\npopulated 1")
}

// kill sends SIGKILL to all processes of the cgroup, including those that are being forked.
func (g *cgroup) kill() {
	if g != nil {
		_ = os.WriteFile(filepath.Join(g.dir, "cgroup.kill"), []byte("1"), 0)
	}
}

// remove deletes the cgroup. It has no effect while a process is in the cgroup.
func (g *cgroup) remove() {
	if g != nil {
		_ = unix.Rmdir(g.dir)
	}
}

// notedCgroup returns a cgroup that a dead hub recorded. path comes from a file or a pipe, so the result is nil unless
// the hub with the marker hub would have created a cgroup of that path.
func notedCgroup(path, hub string) *cgroup {
	if path != filepath.Clean(path) || !strings.HasPrefix(path, cgroupRoot+"/") ||
		!strings.HasPrefix(filepath.Base(path), cgroupName(hub)+"-") {
		return nil
	}
	return &cgroup{dir: path}
}
