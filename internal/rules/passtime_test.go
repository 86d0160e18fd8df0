package rules

import (
	"go/ast"
	"go/token"
	"testing"
)

// variableWaits finds tests that wait for a timer of a variable length where synctest is used: the length may be zero,
// which crashes the race detector. See package faketime.
func variableWaits(t *tree) []violation {
	fake := map[string]bool{} // folders that use synctest
	for _, s := range t.code {
		if _, ok := s.local("testing/synctest"); ok {
			fake[s.dir()] = true
		}
	}
	var bad []violation
	for _, s := range t.code {
		if !s.test || !fake[s.dir()] {
			continue
		}
		cases := map[ast.Node]bool{} // of select statements, which also wait for something else
		ast.Inspect(s.file, func(n ast.Node) bool {
			if c, ok := n.(*ast.CommClause); ok {
				cases[c.Comm] = true
			}
			if wait, ok := n.(*ast.ExprStmt); ok && !cases[n] {
				if d := waitedFor(s, wait.X); d != nil && !constantLength(d) {
					bad = append(bad, s.at(n, "a wait of a variable length: call faketime.Pass"))
				}
			}
			return true
		})
	}
	return bad
}

// waitedFor returns the argument of <-time.After(d) or <-time.NewTimer(d).C, or nil for other expressions.
func waitedFor(s *source, x ast.Expr) ast.Expr {
	receive, ok := x.(*ast.UnaryExpr)
	if !ok || receive.Op != token.ARROW {
		return nil
	}
	from := receive.X
	if c, ok := from.(*ast.SelectorExpr); ok {
		from = c.X
	}
	call, ok := from.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return nil
	}
	fun, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	local, ok := s.local("time")
	if x, isIdent := fun.X.(*ast.Ident); !ok || !isIdent || x.Name != local {
		return nil
	}
	return call.Args[0]
}

// constantLength reports whether x is made of numbers and of constants of packages, such as 3*time.Second.
func constantLength(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.BasicLit:
		return true
	case *ast.SelectorExpr:
		_, ok := x.X.(*ast.Ident)
		return ok && ast.IsExported(x.Sel.Name)
	case *ast.BinaryExpr:
		return constantLength(x.X) && constantLength(x.Y)
	case *ast.ParenExpr:
		return constantLength(x.X)
	}
	return false
}

func TestNoWaitOfVariableLengthInFakeTime(t *testing.T) {
	report(t, variableWaits(repository(t)))
}

func TestNoWaitOfVariableLengthInFakeTimeFindsViolations(t *testing.T) {
	finds(t, variableWaits(made(t, map[string]string{
		"hub/a_test.go": `package hub
import ("testing/synctest"; "time")
func pass(d time.Duration) {
	<-time.After(d)
	<-time.NewTimer(2 * d).C
	<-time.After(3 * time.Second)
	<-time.NewTimer((1 + 2) * bounds.Pause).C
	select {
	case <-time.After(d):
	}
	<-done
	synctest.Wait()
}
`,
		"hub/a.go": `package hub
import "time"
func wait(d time.Duration) { <-time.After(d) }
`,
		"ipc/a_test.go": `package ipc
import "time"
func pass(d time.Duration) { <-time.After(d) }
`,
	})), "hub/a_test.go:4", "hub/a_test.go:5")
}
