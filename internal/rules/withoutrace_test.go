package rules

import (
	"go/ast"
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
// in its tests neither; each test of AMOUNTS exists in one of AMOUNT_ROOMS, so that none is skipped in one run
// and missing in the other.
func lostRaces(t *tree) []violation {
	field := func(line *regexp.Regexp) string {
		if m := line.FindSubmatch(t.text["Makefile"]); m != nil {
			return strings.ReplaceAll(string(m[1]), "\\\n", "")
		}
		return ""
	}
	sequential, rooms := strings.Fields(field(sequentialLine)), strings.Fields(field(amountRooms))
	var bad []violation
	where := map[string]string{} // the room of each test
	for _, s := range t.code {
		if slices.Contains(sequential, s.dir()) {
			bad = append(bad, goroutines(s)...)
		}
		if !s.test {
			continue
		}
		for _, decl := range s.file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && slices.Contains(rooms, "./"+s.dir()) {
				where[fn.Name.Name] = s.dir()
			}
		}
	}
	for name := range strings.SplitSeq(field(amountsLine), "|") {
		if name = strings.TrimSpace(name); name != "" && where["Test"+name] == "" {
			bad = append(bad, violation{"Makefile", 1, "Test" + name + " of AMOUNTS is in no package of AMOUNT_ROOMS"})
		}
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
	finds(t, lostRaces(made(t, map[string]string{
		"Makefile":             "SEQUENTIAL := hub/a\nAMOUNTS := Large|\\\nGone\nAMOUNT_ROOMS := ./hub\n",
		"hub/a/a_test.go":      "package a\n" + test,
		"hub/a/b.go":           "package a\nimport \"sync\"\nvar _ sync.Mutex\n",
		"hub/b_test.go":        "package hub\n" + test,
		"hub/transport/c.go":   "package transport\nimport \"sync\"\nvar _ sync.Mutex\n",
		"plugin/large_test.go": "package plugin\n",
	})), "Makefile:1", "hub/a/a_test.go:4", "hub/a/b.go:2")
}
