package rules

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"testing"
)

// requirementsPage is the table of requirements with the tests that show them.
const requirementsPage = "docs/contributing/requirements.md"

var (
	// A conversation of events is named by its file: `hub/core: TestConversations/early` is hub/core/testdata/early.txt.
	named = regexp.MustCompile("`([a-z0-9/]+): ((?:Test|Fuzz)[A-Za-z0-9_]+)(?:/([a-z]+))?`")
	// A test of the editors part, and a conversation of an archive, are named by their file and title:
	// `editors/host/test/relay.test.ts: a page that goes away breaks nothing`, `hub/testdata/launch.txtar: declined`.
	titled = regexp.MustCompile(
		"`(editors/[a-zA-Z0-9/.-]+\\.(?:ts|js|mjs)|[a-z0-9/]+/testdata/[a-z]+\\.txtar): ([^`]+)`")
	declared = regexp.MustCompile(
		`(?m)^func (?:(Test[A-Za-z0-9_]+)\(t \*testing\.T\)|(Fuzz[A-Za-z0-9_]+)\(f \*testing\.F\))`)
	// All that is in backquotes in the second column must name a test.
	quoted = regexp.MustCompile("`[^`]*`")
)

// unshown finds rows of the table without a test, and names of tests that do not exist.
func unshown(t *tree) []violation {
	tests := map[string]bool{}
	for _, p := range t.files {
		if strings.HasSuffix(p, "_test.go") {
			for _, m := range declared.FindAllStringSubmatch(string(t.text[p]), -1) {
				tests[path.Dir(p)+": "+m[1]+m[2]] = true
			}
		}
	}
	var bad []violation
	for i, line := range strings.Split(string(t.text[requirementsPage]), "\n") {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| ---") || strings.HasPrefix(line, "| requirement ") {
			continue
		}
		names, titles := named.FindAllStringSubmatch(line, -1), titled.FindAllStringSubmatch(line, -1)
		if len(names)+len(titles) == 0 {
			bad = append(bad, violation{requirementsPage, i + 1, "a requirement that no test shows"})
		}
		if cells := strings.Split(line, " | "); len(cells) > 1 && len(quoted.FindAllString(cells[1], -1)) != len(names)+
			len(titles) {
			bad = append(bad, violation{requirementsPage, i + 1, "something in backquotes that names no test"})
		}
		for _, n := range names {
			if !tests[n[1]+": "+n[2]] {
				bad = append(bad, violation{requirementsPage, i + 1, fmt.Sprintf("package %s has no test %s", n[1], n[2])})
			}
			if file := n[1] + "/testdata/" + n[3] + ".txt"; n[3] != "" && t.text[file] == nil {
				bad = append(bad, violation{requirementsPage, i + 1, "there is no " + file})
			}
		}
		for _, n := range titles {
			if !hasTitle(t.text[n[1]], n[2]) {
				bad = append(bad, violation{requirementsPage, i + 1, fmt.Sprintf("%s has no test %q", n[1], n[2])})
			}
		}
	}
	return bad
}

// hasTitle reports whether a test file contains the title as a whole string, or an archive a conversation of that name.
func hasTitle(text []byte, title string) bool {
	if strings.Contains(string(text), "\n-- "+title+" --\n") {
		return true
	}
	for _, quote := range []string{"'", `"`, "`"} {
		if strings.Contains(string(text), quote+title+quote) {
			return true
		}
	}
	return false
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
		"editors/host/test/a.test.ts": "test('it holds', () => {});", "hub/testdata/talk.txt": "# They talk.",
		"hub/testdata/a.txtar": "All.\n-- it's asked --\nwindow one\n",
		"hub/a_test.go": "package hub\nimport \"testing\"\nfunc TestThere(t *testing.T) {}\nfunc TestHelper(x int) {}\n" +
			"func FuzzThere(f *testing.F) {}\n",
		requirementsPage: strings.Join([]string{
			"| requirement | shown by |", "| --- | --- |",
			"| good | `hub: TestThere` |", "| gone | `hub: TestGone` |", "| no test | `hub: TestHelper` |",
			"| nothing | by hand |", "| elsewhere | `ipc: TestThere` |",
			"| good title | `editors/host/test/a.test.ts: it holds` |", "| half a title | `editors/host/test/a.test.ts: it` |",
			"| good fuzzing | `hub: FuzzThere` |", "| a name that is misspelled | `hub: TestThere` `hub TestThere` |",
			"| gone fuzzing | `hub: FuzzGone` |", "| a conversation | `hub/testdata/a.txtar: it's asked` |",
			"| no conversation | `hub/testdata/a.txtar: asked` |", "| a conversation | `hub: TestThere/talk` |",
			"| no conversation | `hub: TestThere/silence` |",
		}, "\n"),
	})), requirementsPage+":4", requirementsPage+":5", requirementsPage+":6", requirementsPage+":7", requirementsPage+":9",
		requirementsPage+":11", requirementsPage+":12", requirementsPage+":14", requirementsPage+":16")
}
