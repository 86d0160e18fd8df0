package transport

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeCgroups returns a folder with the files that the kernel would make. Writing
// them has no effect.
func fakeCgroups(t *testing.T) (root string, mkdir func(string) error) {
	t.Helper()
	root = t.TempDir()
	mkdir = func(dir string) error {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		for _, file := range []string{"cgroup.kill", "cgroup.procs", "cgroup.events"} {
			if err := os.WriteFile(filepath.Join(dir, file), nil, 0o644); err != nil {
				return err
			}
		}
		return nil
	}
	if err := mkdir(filepath.Join(root, "app.scope")); err != nil {
		t.Fatal(err)
	}
	return root, mkdir
}

func TestCgroupTree(t *testing.T) {
	root, mkdir := fakeCgroups(t)
	for what, self := range map[string]string{
		"the root":    "0::/\n",
		"outside":     "0::/../app.scope\n",
		"version 1":   "4:memory:/app.scope\n",
		"not there":   "0::/none\n",
		"nothing":     "",
		"no absolute": "0::app.scope",
	} {
		if newCgroupTree(root, self, mkdir) != nil {
			t.Errorf("%s: a tree was made for %q", what, self)
		}
	}
	tree := newCgroupTree(root, "1:name=systemd:/x\n0::/app.scope\n", mkdir)
	if tree == nil {
		t.Fatal("there is no tree")
	}
	hub := newMarker()
	g := tree.make(serverMarker(hub, 7))
	if g == nil || g.dir != filepath.Join(root, "app.scope", "mcphub-"+hub+"-7") {
		t.Fatalf("got %+v", g)
	}
	if g.populated() {
		t.Error("it is populated from the start")
	}
	if err := os.WriteFile(filepath.Join(g.dir, "cgroup.events"), []byte("populated 1\nfrozen 0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if !g.populated() {
		t.Error("it is not populated")
	}
	g.kill()
	if b, err := os.ReadFile(filepath.Join(g.dir, "cgroup.kill")); err != nil || string(b) != "1" {
		t.Errorf("cgroup.kill holds %q, %v", b, err)
	}

	var none *cgroup
	none.kill()
	none.remove()
	if none.populated() || none.path() != "" || (*cgroupTree)(nil).make("x/1") != nil {
		t.Error("a nil group has processes, a path or children")
	}
}

// A cgroup without cgroup.kill, as older kernels make them, is not used and is removed.
func TestCgroupThatCannotKillIsNotUsed(t *testing.T) {
	root, _ := fakeCgroups(t)
	tree := newCgroupTree(root, "0::/app.scope\n", func(dir string) error { return os.Mkdir(dir, 0o755) })
	if g := tree.make("x/1"); g != nil {
		t.Errorf("got %+v", g)
	}
	if entries, _ := filepath.Glob(filepath.Join(root, "app.scope", "mcphub-*")); len(entries) != 0 {
		t.Errorf("left: %q", entries)
	}
}

// A server starts even if it cannot be put into its cgroup.
func TestServerStartsOutsideAnUnwillingCgroup_real(t *testing.T) {
	root, mkdir := fakeCgroups(t)
	c := contained(t)
	c.cgroups = newCgroupTree(root, "0::/app.scope\n", mkdir)
	if c.cgroups == nil {
		t.Fatal("there is no tree")
	}
	token := newToken()
	endAll(t, token)
	p := startIn(t, c, tree(token))
	ready(t, p.Stdout())
	p.Stop("enough")
	if pids := withToken(t, token); len(pids) != 0 {
		t.Errorf("%v live on", pids)
	}
}

// A cgroup that a ledger or a pipe names is used only if it is one that the hub with that marker makes.
func TestNotedCgroupIsOneOfOurs(t *testing.T) {
	hub := newMarker()
	good := cgroupRoot + "/user.slice/app.scope/" + cgroupName(hub) + "-3"
	if g := notedCgroup(good, hub); g.path() != good {
		t.Errorf("%q is not taken", good)
	}
	for _, bad := range []string{
		"", "/", cgroupRoot, cgroupRoot + "/system.slice", "/tmp/" + cgroupName(hub) + "-3",
		cgroupRoot + "/../../tmp/" + cgroupName(hub) + "-3", strings.Replace(good, hub, newMarker(), 1), good + "/..",
	} {
		if notedCgroup(bad, hub) != nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
