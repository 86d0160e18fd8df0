package rules

import (
	"go/ast"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	sequentialLine = regexp.MustCompile(`(?m)^SEQUENTIAL := (.*)$`)
	amountsLine    = regexp.MustCompile(`(?m)^AMOUNTS := ((?:.*\\\n)*.*)$`)
	amountRooms    = regexp.MustCompile(`(?m)^AMOUNT_ROOMS := (.*)$`)
)

// lostRaces: what make test runs without the race detector. A package of the Makefile's SEQUENTIAL starts no goroutine,
// in its tests neither. Each test of AMOUNTS is in a package of AMOUNT_ROOMS and in no other one: what is skipped in
// one run is not missing in the other.
func lostRaces(t *tree) []violation {
	field := func(line *regexp.Regexp) string {
		if m := line.FindSubmatch(t.text["Makefile"]); m != nil {
			return strings.ReplaceAll(string(m[1]), "\\\n", "")
		}
		return ""
	}
	sequential, rooms := strings.Fields(field(sequentialLine)), strings.Fields(field(amountRooms))
	var bad []violation
	missing := map[string]bool{} // tests of AMOUNTS that no package has
	for name := range strings.SplitSeq(field(amountsLine), "|") {
		missing["Test"+strings.TrimSpace(name)] = true
	}
	named := maps.Clone(missing)
	for _, s := range t.code {
		if slices.Contains(sequential, s.dir()) {
			bad = append(bad, goroutines(s)...)
		}
		for _, decl := range s.file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !s.test || !ok || fn.Recv != nil || !named[fn.Name.Name] {
				continue
			}
			delete(missing, fn.Name.Name)
			if !slices.Contains(rooms, "./"+s.dir()) {
				bad = append(bad, s.at(fn, "%s is skipped here by AMOUNTS, and this is no package of AMOUNT_ROOMS", fn.Name.Name))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		bad = append(bad, violation{"Makefile", 1, name + " of AMOUNTS is no test"})
	}
	return bad
}

// goroutines are the places of a file that have to do with more than one.
func goroutines(s *source) []violation {
	const why = " in a package that is tested without the race detector: see SEQUENTIAL"
	var bad []violation
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			bad = append(bad, s.at(n, "a goroutine"+why))
		case *ast.SelectorExpr:
			if n.Sel.Name == "Parallel" {
				bad = append(bad, s.at(n, "a test beside others"+why))
			}
		case *ast.ImportSpec:
			switch path := strings.Trim(n.Path.Value, `"`); path {
			case "sync", "sync/atomic", "testing/synctest":
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
	const test = `import "testing"
func TestLarge(t *testing.T) {
	go func() {}()
}`
	const parallel = `import "testing"
func TestSmall(t *testing.T) {
	t.Parallel()
	go func() {}()
}`
	finds(t, lostRaces(made(t, map[string]string{
		"Makefile":             "SEQUENTIAL := hub/a\nAMOUNTS := Large|\\\nGone\nAMOUNT_ROOMS := ./hub\n",
		"hub/a/a_test.go":      "package a\n" + parallel,
		"hub/a/b.go":           "package a\nimport \"sync\"\nvar _ sync.Mutex\n",
		"hub/b_test.go":        "package hub\n" + test,
		"ipc/b_test.go":        "package ipc\n" + test,
		"hub/transport/c.go":   "package transport\nimport \"sync\"\nvar _ sync.Mutex\n",
		"plugin/large_test.go": "package plugin\n",
	})), "Makefile:1", "hub/a/a_test.go:4", "hub/a/a_test.go:5", "hub/a/b.go:2", "ipc/b_test.go:3")
}
