//go:build unix

package statefile

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A link stays one, and what it leads to is changed; one that leads out of the folder is refused when Within forbids
// that.
func TestRewriteThroughLinks(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	real, path := filepath.Join(other, "real.json"), filepath.Join(dir, "config.json")
	must(t, os.WriteFile(real, []byte(`["a"]`), 0o600))
	must(t, os.Symlink(real, path))
	must(t, Rewrite(t.Context(), path, Rewriting{}, add("b")))
	wantOnDisk(t, real, `["a","b"]`)
	if to, err := os.Readlink(path); err != nil || to != real {
		t.Errorf("the link leads to %q (%v)", to, err)
	}
	rewriteError(t, Rewrite(t.Context(), path, Rewriting{Within: dir}, add("c")), "leads out of its workspace folder")
	wantOnDisk(t, real, `["a","b"]`)
	must(t, os.Symlink(other, filepath.Join(dir, "sub")))
	rewriteError(t, Rewrite(t.Context(), filepath.Join(dir, "sub", "new", "c.json"), Rewriting{Within: dir, Make: true},
		add("c")), "leads out")
	if got := names(t, other); !slices.Equal(got, []string{"real.json"}) {
		t.Errorf("%q was made", got)
	}
	must(t, os.Remove(real))
	rewriteError(t, Rewrite(t.Context(), path, Rewriting{Make: true}, add("c")), "a link to a file that is not there")
}
