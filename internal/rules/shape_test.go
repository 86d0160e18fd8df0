package rules

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
)

// emptyNames do not say what a package or a file contains, so anything could be put there.
var emptyNames = []string{"util", "utils", "common", "types", "manager", "managers", "helper", "helpers", "misc",
	"shared"}

func namesOfNothing(t *tree) []violation {
	var bad []violation
	seen := map[string]bool{}
	for _, s := range t.code {
		stem := strings.TrimSuffix(strings.TrimSuffix(path.Base(s.path), ".go"), "_test")
		if slices.Contains(emptyNames, stem) {
			bad = append(bad, violation{path: s.path, text: "name the file after its concept"})
		}
		for _, name := range []string{path.Base(s.dir()), strings.TrimSuffix(s.file.Name.Name, "_test")} {
			if slices.Contains(emptyNames, name) && !seen[s.dir()] {
				seen[s.dir()] = true
				bad = append(bad,
					violation{path: s.dir(), text: fmt.Sprintf("a package named %s holds anything: name it after its concept", name)})
			}
		}
	}
	return bad
}

func TestNamesSaySomething(t *testing.T) {
	report(t, namesOfNothing(repository(t)))
}

func TestNamesSaySomethingFindsViolations(t *testing.T) {
	finds(t, namesOfNothing(made(t, map[string]string{
		"hub/util/a.go":      "package util",
		"hub/util/b.go":      "package util",
		"hub/x/a_test.go":    "package common_test",
		"hub/types.go":       "package hub",
		"hub/helper_test.go": "package hub",
		"hub/session.go":     "package hub",
	})), "hub/util", "hub/x", "hub/types.go", "hub/helper_test.go")
}

// undescribed finds packages without a package comment, which says what belongs in the package and what does not. A
// folder with only tests needs none.
func undescribed(t *tree) []violation {
	described := map[string]bool{}
	for _, s := range t.code {
		if !s.test {
			described[s.dir()] = described[s.dir()] || s.file.Doc != nil && strings.TrimSpace(s.file.Doc.Text()) != ""
		}
	}
	var bad []violation
	for dir, ok := range described {
		if !ok {
			bad = append(bad, violation{path: dir, text: "no package comment: write doc.go, what lives here and what must not"})
		}
	}
	slices.SortFunc(bad, func(a, b violation) int { return strings.Compare(a.path, b.path) })
	return bad
}

func TestEveryPackageIsDescribed(t *testing.T) {
	report(t, undescribed(repository(t)))
}

func TestEveryPackageIsDescribedFindsViolations(t *testing.T) {
	finds(t, undescribed(made(t, map[string]string{
		"hub/doc.go":             "// Package hub is the domain.\npackage hub",
		"hub/a.go":               "package hub",
		"ipc/a.go":               "package ipc",
		"ipc/doc_test.go":        "// Package ipc has this in a test.\npackage ipc",
		"plugin/a.go":            "//go:build unix\n\npackage plugin",
		"internal/e2e/a_test.go": "package e2e",
	})), "ipc", "plugin")
}
