package config

import "testing"

// An address is split into the name and scope that it was made of, whatever signs the name has; other texts are none.
func TestAddress(t *testing.T) {
	for _, name := range []string{"s", "@scope/pkg", "a@b", "s@user", "ü"} {
		for _, scope := range []string{"user", "host", "workspace"} {
			if n, s, ok := SplitAddress(Address(name, scope)); !ok || n != name || s != scope {
				t.Errorf("%s of %s is read as %q of %q (%v)", name, scope, n, s, ok)
			}
		}
	}
	for _, text := range []string{"", "s", "@user", "s@", "s@User", "s@users", "user"} {
		if n, s, ok := SplitAddress(text); ok {
			t.Errorf("%q is read as %q of %q", text, n, s)
		}
	}
}
