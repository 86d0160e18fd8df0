package rules

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// testMarks are the words behind the underscore of a test's name that targets know. See REAL in the Makefile.
var testMarks = []string{"", "real", "real_long", "nightly", "long", "amount"}

// lostForms finds tests whose name does not fit how they are run. make test runs a "_long" test in the short form, for
// which it asks testing.Short; make soak runs the long form. No target runs a test with another mark than those above.
func lostForms(t *tree) []violation {
	var bad []violation
	for _, s := range t.code {
		if !s.test {
			continue
		}
		short := map[*ast.FuncDecl]bool{}
		s.uses("testing", []string{"Short"}, func(n ast.Node, _ string) {
			fn := s.function(n)
			short[fn] = true
			if s.dir() != "internal/e2e" && (fn == nil || !strings.HasSuffix(fn.Name.Name, "_long")) {
				bad = append(bad, s.at(n, "what asks testing.Short is a test with a long form: end its name in _long"))
			}
		})
		for _, decl := range s.file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || !strings.HasPrefix(fn.Name.Name, "Test") {
				continue
			}
			switch _, mark, _ := strings.Cut(fn.Name.Name, "_"); {
			case strings.HasSuffix(mark, "long") && !short[fn]:
				bad = append(bad, s.at(fn, "%s does not ask testing.Short: it has no short form", fn.Name.Name))
			case !slices.Contains(testMarks, mark):
				bad = append(bad, s.at(fn, "no target knows the mark %q of a test", mark))
			}
		}
	}
	return bad
}

// function returns the function that contains a node, or nil if there is none.
func (s *source) function(n ast.Node) *ast.FuncDecl {
	for _, decl := range s.file.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && fn.Pos() <= n.Pos() && n.End() <= fn.End() {
			return fn
		}
	}
	return nil
}

func TestFormsAreRun(t *testing.T) {
	report(t, lostForms(repository(t)))
}

func TestFormsAreRunFindsViolations(t *testing.T) {
	const test = `import "testing"
	func TestA_long(t *testing.T) {
	if testing.Short() {
	}
}
	func TestB(t *testing.T) {
	_ = testing.Short()
}
	func TestC_long(t *testing.T) {}
	func TestD_amount(t *testing.T) {}
	func TestE_amounts(t *testing.T) {}
	func TestF_real(t *testing.T) {}
	func TestG_nightly(t *testing.T) {}
	func TestH_real_long(t *testing.T) {}
	func helper() { _ = testing.Short() }
`
	finds(t, lostForms(made(t, map[string]string{
		"hub/a_test.go":          "package hub\n" + test,
		"internal/e2e/a_test.go": "package e2e\nimport \"testing\"\nfunc TestB(t *testing.T) { _ = testing.Short() }\n",
	})), "hub/a_test.go:10", "hub/a_test.go:12", "hub/a_test.go:15", "hub/a_test.go:16", "hub/a_test.go:8")
}
