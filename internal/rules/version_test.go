package rules

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"testing"
)

// versionFile declares the version of the binary. Everything else has the same version.
const versionFile = "cmd/mcphub/main.go"

var versionLine = regexp.MustCompile(`(?m)^var version = "([^"]+)"$`)

// editorsLock is the lock file that npm ci reads for the packages in editors/.
const editorsLock = "editors/package-lock.json"

// versionedPackages are the packages that are published, or that are built into one.
var versionedPackages = []string{"host", "vscode", "page"}

// npmPackage has the members of package.json, and of a package in package-lock.json, that contain versions.
type npmPackage struct {
	Version      string            `json:"version"`
	Dependencies map[string]string `json:"dependencies"`
}

// otherVersions finds packages with another version than the binary, or that depend on another version of the host
// package.
func otherVersions(t *tree) []violation {
	declared := versionLine.FindSubmatch(t.text[versionFile])
	if declared == nil {
		return []violation{{path: versionFile, text: "declares no version"}}
	}
	version := string(declared[1])
	var bad []violation
	compare := func(where, name string, p npmPackage) {
		if p.Version != version {
			bad = append(bad, violation{path: where, text: fmt.Sprintf("%s has version %q, the binary %q", name, p.Version,
				version)})
		}
		if asked, ok := p.Dependencies["@mcphub/host"]; ok && asked != version {
			bad = append(bad, violation{path: where, text: fmt.Sprintf("%s asks for the host package %q, the binary is %q", name,
				asked, version)})
		}
	}
	var lock struct {
		Packages map[string]npmPackage `json:"packages"`
	}
	if err := json.Unmarshal(t.text[editorsLock], &lock); err != nil {
		bad = append(bad, violation{path: editorsLock, text: err.Error()})
	}
	for _, name := range versionedPackages {
		where := path.Join("editors", name, "package.json")
		var p npmPackage
		if err := json.Unmarshal(t.text[where], &p); err != nil {
			bad = append(bad, violation{path: where, text: err.Error()})
			continue
		}
		compare(where, name, p)
		compare(editorsLock, name, lock.Packages[name])
	}
	return bad
}

func TestOneVersion(t *testing.T) {
	report(t, otherVersions(repository(t)))
}

func TestOneVersionFindsOthers(t *testing.T) {
	files := map[string]string{
		versionFile:                   "package main\n\nvar version = \"1.2.3\"\n",
		"editors/host/package.json":   `{"version": "1.2.3"}`,
		"editors/page/package.json":   `{"version": "1.2.4"}`,
		"editors/vscode/package.json": `{"version": "1.2.3", "dependencies": {"@mcphub/host": "1.2.2"}}`,
		editorsLock: `{"packages": {"host": {"version": "1.2.3"}, "vscode": {"version": "1.2.3"},
			"page": {"version": "1.2.0"}}}`,
	}
	finds(t, otherVersions(made(t, files)), "editors/vscode/package.json", "editors/page/package.json", editorsLock)
	delete(files, versionFile)
	finds(t, otherVersions(made(t, files)), versionFile)
}
