package rules

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"testing"
)

// requirementsPage is the table of promises with the tests that show them.
const requirementsPage = "docs/requirements.md"

var (
	named    = regexp.MustCompile("`([a-z0-9/]+): (Test[A-Za-z0-9_]+)`")
	declared = regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9_]+)\(t \*testing\.T\)`)
)

// unshown finds rows of the table that name no test, and names that are no test.
func unshown(t *tree) []violation {
	tests := map[string]bool{}
	for _, p := range t.files {
		if strings.HasSuffix(p, "_test.go") {
			for _, m := range declared.FindAllStringSubmatch(string(t.text[p]), -1) {
				tests[path.Dir(p)+": "+m[1]] = true
			}
		}
	}
	var bad []violation
	for i, line := range strings.Split(string(t.text[requirementsPage]), "\n") {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| ---") || strings.HasPrefix(line, "| requirement ") {
			continue
		}
		names := named.FindAllStringSubmatch(line, -1)
		if len(names) == 0 {
			bad = append(bad, violation{requirementsPage, i + 1, "a requirement that no test shows"})
		}
		for _, n := range names {
			if !tests[n[1]+": "+n[2]] {
				bad = append(bad, violation{requirementsPage, i + 1, fmt.Sprintf("package %s has no test %s", n[1], n[2])})
			}
		}
	}
	return bad
}

func TestRequirementsNameRealTests(t *testing.T) {
	repo := repository(t)
	if len(repo.text[requirementsPage]) == 0 {
		t.Fatalf("%s is missing", requirementsPage)
	}
	report(t, unshown(repo))
}

func TestRequirementsNameRealTestsFindsViolations(t *testing.T) {
	finds(t, unshown(made(t, map[string]string{
		"hub/a_test.go": "package hub\nimport \"testing\"\nfunc TestThere(t *testing.T) {}\nfunc TestHelper(x int) {}\n",
		requirementsPage: strings.Join([]string{
			"| requirement | shown by |", "| --- | --- |",
			"| good | `hub: TestThere` |", "| gone | `hub: TestGone` |", "| no test | `hub: TestHelper` |", "| nothing | by hand |", "| elsewhere | `ipc: TestThere` |",
		}, "\n"),
	})), requirementsPage+":4", requirementsPage+":5", requirementsPage+":6", requirementsPage+":7")
}
