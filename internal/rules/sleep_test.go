package rules

import (
	"go/ast"
	"slices"
	"testing"
)

// wallClockSleeps finds tests that sleep outside a synctest bubble: such a test is slow and depends on timing. In a
// bubble a sleep takes no time and advances the fake clock by an exact amount. A bubble is recognized by its text: a
// function literal that is passed to synctest.Test, or to a function of the same folder that calls synctest.Test.
func wallClockSleeps(t *tree) []violation {
	makers := map[string][]string{} // by folder: the functions that run a parameter in a bubble
	for changed := true; changed; {
		changed = false
		for _, s := range t.code {
			for _, decl := range s.file.Decls {
				fn, ok := decl.(*ast.FuncDecl)
				if !ok || fn.Body == nil || slices.Contains(makers[s.dir()], fn.Name.Name) || !takesFunc(fn) {
					continue
				}
				ast.Inspect(fn.Body, func(n ast.Node) bool {
					if call, ok := n.(*ast.CallExpr); ok && makesBubble(s, call, makers[s.dir()]) &&
						!slices.Contains(makers[s.dir()], fn.Name.Name) {
						makers[s.dir()] = append(makers[s.dir()], fn.Name.Name)
						changed = true
					}
					return true
				})
			}
		}
	}

	var bad []violation
	for _, s := range t.code {
		if !s.test {
			continue
		}
		var bubbles []*ast.FuncLit
		ast.Inspect(s.file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && makesBubble(s, call, makers[s.dir()]) {
				for _, arg := range call.Args {
					if lit, ok := arg.(*ast.FuncLit); ok {
						bubbles = append(bubbles, lit)
					}
				}
			}
			return true
		})
		s.uses("time", []string{"Sleep"}, func(n ast.Node, _ string) {
			inside := slices.ContainsFunc(bubbles, func(b *ast.FuncLit) bool { return b.Pos() <= n.Pos() && n.End() <= b.End() })
			if !inside {
				bad = append(bad, s.at(n, "time.Sleep outside a synctest bubble: wait for what is meant"))
			}
		})
	}
	return bad
}

func takesFunc(fn *ast.FuncDecl) bool {
	return slices.ContainsFunc(fn.Type.Params.List, func(f *ast.Field) bool {
		_, ok := f.Type.(*ast.FuncType)
		return ok
	})
}

func makesBubble(s *source, call *ast.CallExpr, makers []string) bool {
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		return slices.Contains(makers, fun.Name)
	case *ast.SelectorExpr:
		local, ok := s.local("testing/synctest")
		x, isIdent := fun.X.(*ast.Ident)
		return ok && isIdent && x.Name == local && fun.Sel.Name == "Test"
	}
	return false
}

func TestNoWallClockSleepInTests(t *testing.T) {
	report(t, wallClockSleeps(repository(t)))
}

func TestNoWallClockSleepInTestsFindsViolations(t *testing.T) {
	finds(t, wallClockSleeps(made(t, map[string]string{
		"hub/a_test.go": `package hub
import ("testing"; "testing/synctest"; "time")
func TestA(t *testing.T) {
	time.Sleep(1)
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(1)
		go func() { time.Sleep(1) }()
	})
	bubble(t, func() { time.Sleep(1) })
	noBubble(t, func() { time.Sleep(1) })
	t.Run("x", func(t *testing.T) { time.Sleep(1) })
	wait := time.Sleep
}
func noBubble(t *testing.T, f func()) { f() }
`,
		"hub/b_test.go": `package hub
import ("testing"; "testing/synctest")
func bubble(t *testing.T, f func()) { inner(t, f) }
func inner(t *testing.T, f func()) { synctest.Test(t, func(*testing.T) { f() }) }
`,
		"ipc/a_test.go": `package ipc
import "time"
func bubble(f func()) { f() }
func init() { bubble(func() { time.Sleep(1) }) }
`,
		"internal/demo/a.go": `package demo
import "time"
func init() { time.Sleep(1) }
`,
	})), "hub/a_test.go:4", "hub/a_test.go:10", "hub/a_test.go:11", "hub/a_test.go:12", "ipc/a_test.go:4")
}
