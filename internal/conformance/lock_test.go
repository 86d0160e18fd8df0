package conformance

import (
	"encoding/json"
	"os"
	"testing"
)

// TestLockPinsTheSuite: the lock pins the version and hash of the suite, so that only a commit changes what the hub is
// measured against. It names no registry, so that it works with any mirror.
func TestLockPinsTheSuite(t *testing.T) {
	text, err := os.ReadFile("package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	var lock struct {
		Packages map[string]struct{ Name, Version, Resolved, Integrity string }
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		t.Fatal(err)
	}
	for alias, version := range map[string]string{"conformance-0.1": "0.1.16", "conformance-0.2": "0.2.0-alpha.12"} {
		p := lock.Packages["node_modules/"+alias]
		if p.Name != "@modelcontextprotocol/conformance" || p.Version != version {
			t.Errorf("%s is %s %s, want %s", alias, p.Name, p.Version, version)
		}
	}
	for name, p := range lock.Packages {
		switch {
		case name == "": // the folder itself
		case p.Resolved != "":
			t.Errorf("%s: resolved from %s: install with the .npmrc beside the lock", name, p.Resolved)
		case p.Integrity == "":
			t.Errorf("%s: no integrity hash", name)
		}
	}
}
