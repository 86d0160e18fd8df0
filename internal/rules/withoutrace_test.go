package rules

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var sequentialLine = regexp.MustCompile(`(?m)^SEQUENTIAL := ((?:.*\\\n)*.*)$`)

// lostRaces finds goroutines in the packages that make test runs without the race detector (SEQUENTIAL in the
// Makefile), and in their tests. A package may have locks for those who use it: the race detector sees those in the
// tests of others.
func lostRaces(t *tree) []violation {
	m := sequentialLine.FindSubmatch(t.text["Makefile"])
	if m == nil {
		return []violation{{path: "Makefile", text: "has no line SEQUENTIAL"}}
	}
	sequential := strings.Fields(string(m[1]))
	var bad []violation
	for _, s := range t.code {
		if slices.Contains(sequential, s.dir()) {
			bad = append(bad, goroutines(s)...)
		}
	}
	return bad
}

// goroutines finds the places of a file that start a goroutine, or in tests that are only useful with several.
func goroutines(s *source) []violation {
	const why = " in a package that is tested without the race detector: see SEQUENTIAL"
	var bad []violation
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			bad = append(bad, s.at(n, "a goroutine"+why))
		case *ast.SelectorExpr:
			switch n.Sel.Name {
			case "Parallel":
				bad = append(bad, s.at(n, "a test beside others"+why))
			case "Go", "AfterFunc":
				bad = append(bad, s.at(n, "a goroutine"+why))
			}
		case *ast.ImportSpec:
			switch path := strings.Trim(n.Path.Value, `"`); path {
			case "sync", "sync/atomic":
				if s.test {
					bad = append(bad, s.at(n, "%s"+why, path))
				}
			case "net/http/httptest", "testing/synctest":
				bad = append(bad, s.at(n, "%s"+why, path))
			}
		}
		return true
	})
	return bad
}

func TestNothingIsLostWithoutTheRaceDetector(t *testing.T) {
	report(t, lostRaces(repository(t)))
}

func TestNothingIsLostWithoutTheRaceDetectorFindsViolations(t *testing.T) {
	const parallel = `import "testing"
func TestSmall(t *testing.T) {
	t.Parallel()
	go func() {}()
}`
	finds(t, lostRaces(made(t, map[string]string{
		"Makefile":        "SEQUENTIAL := hub/x \\\n\thub/a\n",
		"hub/a/a_test.go": "package a\n" + parallel,
		"hub/a/b.go":      "package a\nimport \"sync\"\nvar _ sync.Mutex\nfunc f(w *sync.WaitGroup) {\n\tw.Go(f)\n}\n",
		"hub/a/c_test.go": "package a\nimport \"sync\"\nvar _ sync.Mutex\n",
		"hub/b_test.go":   "package hub\n" + parallel,
	})), "hub/a/a_test.go:4", "hub/a/a_test.go:5", "hub/a/b.go:5", "hub/a/c_test.go:2")
	finds(t, lostRaces(made(t, map[string]string{"Makefile": ""})), "Makefile")
}
