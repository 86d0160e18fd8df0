package rules

import (
	"go/ast"
	"go/types"
	"strings"
	"testing"
)

// strayLocks finds code outside hub/lock.go that takes the hub's lock or uses the state that it guards. It also finds
// every lock in package hub without a deferred unlock right behind it: a panic between the two would leave it locked,
// and the hub would not answer any more.
func strayLocks(t *tree) []violation {
	var bad []violation
	for _, s := range t.code {
		if s.dir() != "hub" || s.test || s.generated || s.path == "hub/lock.go" {
			continue
		}
		good := map[ast.Node]bool{}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BlockStmt:
				deferredUnlocks(n.List, good)
			case *ast.CaseClause:
				deferredUnlocks(n.Body, good)
			case *ast.CommClause:
				deferredUnlocks(n.Body, good)
			case *ast.SelectorExpr:
				x := types.ExprString(n.X)
				hub := x == "h" || x == "hub" || strings.HasSuffix(x, ".h") || strings.HasSuffix(x, ".hub")
				if hub && (n.Sel.Name == "mu" || n.Sel.Name == "state") {
					bad = append(bad, s.at(n, "the hub's lock is taken, and its state reached, in lock.go alone: h.update or h.lock"))
				}
			case *ast.CallExpr:
				sel, ok := n.Fun.(*ast.SelectorExpr)
				if ok && len(n.Args) == 0 && (sel.Sel.Name == "Lock" || sel.Sel.Name == "RLock" || sel.Sel.Name == "lock") &&
					!good[n] {
					bad = append(bad, s.at(n, "%s without a deferred unlock right behind it: a panic would leave it locked",
						types.ExprString(n)))
				}
			}
			return true
		})
	}
	return bad
}

// deferredUnlocks records the statements that take a lock whose unlock is deferred: "defer x.lock().unlock()", "st :=
// x.lock()" before "defer st.unlock()", or "x.Lock()" before "defer x.Unlock()".
func deferredUnlocks(list []ast.Stmt, good map[ast.Node]bool) {
	for i, stmt := range list {
		if d, ok := stmt.(*ast.DeferStmt); ok {
			if sel, ok := d.Call.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "unlock" {
				good[sel.X] = true
			}
		}
		if i+1 == len(list) {
			break
		}
		d, ok := list[i+1].(*ast.DeferStmt)
		if !ok {
			continue
		}
		switch stmt := stmt.(type) {
		case *ast.ExprStmt:
			if strings.Replace(types.ExprString(stmt.X), "Lock()", "Unlock()", 1) == types.ExprString(d.Call) {
				good[stmt.X] = true
			}
		case *ast.AssignStmt:
			if types.ExprString(stmt.Lhs[0])+".unlock()" == types.ExprString(d.Call) {
				good[stmt.Rhs[0]] = true
			}
		}
	}
}

func TestTheHubsLockIsTakenInOnePlace(t *testing.T) {
	report(t, strayLocks(repository(t)))
}

func TestTheHubsLockIsTakenInOnePlaceFindsViolations(t *testing.T) {
	finds(t, strayLocks(made(t, map[string]string{
		"hub/lock.go": `package hub
func (h *Hub) lock() *state { h.mu.Lock(); return &h.state }`,
		"hub/a.go": `package hub
func (h *Hub) good() {
	defer h.lock().unlock()
	h.update(func(st *state) {})
	func() {
		k.mu.Lock()
		defer k.mu.Unlock()
	}()
	st := h.lock()
	defer st.unlock()
	r.state = st.state
}
func (h *Hub) bad() {
	h.mu.TryLock()
	c.hub.mu.Unlock()
	t.w.h.mu.Unlock()
	k.mu.Lock()
	k.mu.Unlock()
	k.mu.RLock()
	defer other.mu.RUnlock()
	st := h.lock()
	defer other.unlock()
	r.hub.state.requests = nil
}`,
		"hub/a_test.go": "package hub\nfunc f() { h.mu.Lock() }",
		"hub/mcp/a.go":  "package mcp\nfunc f() { h.mu.Lock() }",
	})), "hub/a.go:14", "hub/a.go:15", "hub/a.go:16", "hub/a.go:17", "hub/a.go:19", "hub/a.go:21", "hub/a.go:23")
}
