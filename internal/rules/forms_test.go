package rules

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	longLine  = regexp.MustCompile(`(?m)^LONG := (.*)$`)
	longRooms = regexp.MustCompile(`(?m)-run '\^\(\$\(LONG\)\)\$\$' (.*)$`)
)

// lostLongForms: a test that is shorter with -short, as make test runs it, is run in full by make soak: it stands in
// the Makefile's LONG, and its package behind it. The end-to-end tests are never run with -short by a target.
func lostLongForms(t *tree) []violation {
	var long, rooms []string
	if m := longLine.FindSubmatch(t.text["Makefile"]); m != nil {
		long = strings.Split(string(m[1]), "|")
	}
	if m := longRooms.FindSubmatch(t.text["Makefile"]); m != nil {
		rooms = strings.Fields(string(m[1]))
	}
	var bad []violation
	for _, s := range t.code {
		if !s.test || s.dir() == "internal/e2e" {
			continue
		}
		s.uses("testing", []string{"Short"}, func(n ast.Node, _ string) {
			in := ""
			for _, decl := range s.file.Decls {
				if fn, ok := decl.(*ast.FuncDecl); ok && fn.Pos() <= n.Pos() && n.End() <= fn.End() {
					in = fn.Name.Name
				}
			}
			if !slices.Contains(long, in) || !slices.Contains(rooms, "./"+s.dir()) {
				bad = append(bad, s.at(n, "%q of this package has a long form that make soak does not run: see LONG", in))
			}
		})
	}
	return bad
}

func TestLongFormsAreRun(t *testing.T) {
	report(t, lostLongForms(repository(t)))
}

func TestLongFormsAreRunFindsViolations(t *testing.T) {
	test := `import "testing"
func TestA(t *testing.T) {
	if testing.Short() {
	}
}
func TestB(t *testing.T) {
	_ = testing.Short()
}`
	finds(t, lostLongForms(made(t, map[string]string{
		"Makefile":               "LONG := TestA|TestC\nsoak:\n\tgo test -run '^($(LONG))$$' ./hub ./ipc\n",
		"hub/a_test.go":          "package hub\n" + test,
		"plugin/a_test.go":       "package plugin\n" + test,
		"internal/e2e/a_test.go": "package e2e\n" + test,
	})), "hub/a_test.go:8", "plugin/a_test.go:4", "plugin/a_test.go:8")
}
