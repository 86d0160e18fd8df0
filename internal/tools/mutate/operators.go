package main

import (
	"go/ast"
	"go/token"
	"strings"
)

// The operators. Changes of a whole statement are left out where they only end in a hang, or in a race that needs the
// race detector: calls of Lock, Unlock, Wait and Done. The post statement of a loop is not changed at all.
const (
	opNegate   = "negate"   // if c, for c -> if !(c), for !(c)
	opBoundary = "boundary" // < <-> <=, > <-> >=
	opEqual    = "equal"    // == <-> !=, where negate does not do the same
	opLogic    = "logic"    // && <-> ||
	opSum      = "sum"      // + <-> -, += <-> -=, ++ <-> --
	opNot      = "not"      // !x -> x
	opBool     = "bool"     // true <-> false
	opNumber   = "number"   // n -> n + 1
	opReturn   = "return"   // return x -> return nil, "", 0 or !x, by the declared type of the result
	opDrop     = "drop"     // no call, defer, assignment, x++, break, continue, return without values
)

var swaps = map[token.Token]struct {
	operator string
	by       token.Token
}{
	token.LSS:        {opBoundary, token.LEQ},
	token.LEQ:        {opBoundary, token.LSS},
	token.GTR:        {opBoundary, token.GEQ},
	token.GEQ:        {opBoundary, token.GTR},
	token.EQL:        {opEqual, token.NEQ},
	token.NEQ:        {opEqual, token.EQL},
	token.LAND:       {opLogic, token.LOR},
	token.LOR:        {opLogic, token.LAND},
	token.ADD:        {opSum, token.SUB},
	token.SUB:        {opSum, token.ADD},
	token.ADD_ASSIGN: {opSum, token.SUB_ASSIGN},
	token.SUB_ASSIGN: {opSum, token.ADD_ASSIGN},
	token.INC:        {opSum, token.DEC},
	token.DEC:        {opSum, token.INC},
}

// An edit replaces the bytes of a file from start to end.
type edit struct {
	operator   string
	start, end int
	after      string
}

// A finder collects the edits within functions of one file.
type finder struct {
	file  *token.File
	src   []byte
	edits []edit
}

func (f *finder) add(operator string, from, to token.Pos, after string) {
	if f.file.Line(from) == f.file.Line(to) {
		f.edits = append(f.edits, edit{operator, f.file.Offset(from), f.file.Offset(to), after})
	}
}

func (f *finder) text(n ast.Node) string {
	return string(f.src[f.file.Offset(n.Pos()):f.file.Offset(n.End())])
}

// function collects the edits in the body of a function with these results.
func (f *finder) function(body *ast.BlockStmt, results *ast.FieldList) {
	var types []ast.Expr
	if results != nil {
		for _, field := range results.List {
			for range max(1, len(field.Names)) {
				types = append(types, field.Type)
			}
		}
	}
	same := map[ast.Expr]bool{} // what negate changes already
	var visit func(ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			f.function(n.Body, n.Type.Results)
			return false
		case *ast.IfStmt:
			f.negate(n.Cond, same)
		case *ast.ForStmt:
			if n.Init != nil {
				ast.Inspect(n.Init, visit)
			}
			if n.Cond != nil {
				f.negate(n.Cond, same)
				ast.Inspect(n.Cond, visit)
			}
			ast.Inspect(n.Body, visit)
			return false
		case *ast.BinaryExpr:
			f.binary(n, same)
		case *ast.UnaryExpr:
			if n.Op == token.NOT && !same[n] {
				f.add(opNot, n.Pos(), n.X.Pos(), "")
			}
		case *ast.Ident:
			switch n.Name {
			case "true":
				f.add(opBool, n.Pos(), n.End(), "false")
			case "false":
				f.add(opBool, n.Pos(), n.End(), "true")
			}
		case *ast.BasicLit:
			if n.Kind == token.INT {
				f.add(opNumber, n.Pos(), n.End(), "("+n.Value+" + 1)")
			}
		case *ast.ReturnStmt:
			f.returned(n, types)
		case ast.Stmt:
			f.statement(n)
		}
		return true
	}
	ast.Inspect(body, visit)
}

func (f *finder) negate(cond ast.Expr, same map[ast.Expr]bool) {
	f.add(opNegate, cond.Pos(), cond.End(), "!("+f.text(cond)+")")
	same[cond] = true
}

func (f *finder) binary(n *ast.BinaryExpr, same map[ast.Expr]bool) {
	swap, ok := swaps[n.Op]
	if !ok || swap.operator == opEqual && same[n] || n.Op == token.ADD && (isText(n.X) || isText(n.Y)) {
		return
	}
	f.add(swap.operator, n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), swap.by.String())
}

// isText reports whether e is a string, or a sum with one, by its look.
func isText(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Kind == token.STRING
	case *ast.BinaryExpr:
		return e.Op == token.ADD && (isText(e.X) || isText(e.Y))
	}
	return false
}

func (f *finder) returned(n *ast.ReturnStmt, types []ast.Expr) {
	if len(n.Results) == 0 {
		f.add(opDrop, n.Pos(), n.End(), "")
		return
	}
	if len(n.Results) != len(types) {
		return // return f()
	}
	for i, result := range n.Results {
		if zero := f.zero(types[i], result); zero != "" && zero != f.text(result) {
			f.add(opReturn, result.Pos(), result.End(), zero)
		}
	}
}

// zero returns what is returned instead of result; "" if that cannot be said from the look of its type, or if other
// operators change it.
func (f *finder) zero(of, result ast.Expr) string {
	switch of := of.(type) {
	case *ast.StarExpr, *ast.ArrayType, *ast.MapType, *ast.ChanType, *ast.FuncType:
		if a, ok := of.(*ast.ArrayType); ok && a.Len != nil {
			return ""
		}
		return "nil"
	case *ast.Ident:
		switch of.Name {
		case "error", "any":
			return "nil"
		case "string":
			return `""`
		case "int", "int32", "int64", "uint32", "uint64", "float64":
			return "0"
		case "bool":
			switch result := result.(type) {
			case *ast.Ident:
				if result.Name != "true" && result.Name != "false" {
					return "!" + result.Name
				}
			case *ast.CallExpr, *ast.SelectorExpr:
				return "!" + f.text(result)
			}
		}
	}
	return ""
}

func (f *finder) statement(n ast.Stmt) {
	switch n := n.(type) {
	case *ast.ExprStmt:
		if call, ok := n.X.(*ast.CallExpr); ok && !synchronizes(call) {
			f.add(opDrop, n.Pos(), n.End(), "")
		}
	case *ast.DeferStmt:
		if !synchronizes(n.Call) {
			f.add(opDrop, n.Pos(), n.End(), "")
		}
	case *ast.BranchStmt:
		if n.Tok == token.BREAK || n.Tok == token.CONTINUE {
			f.add(opDrop, n.Pos(), n.End(), "")
		}
	case *ast.IncDecStmt:
		f.add(opDrop, n.Pos(), n.End(), "")
		f.add(opSum, n.TokPos, n.End(), swaps[n.Tok].by.String())
	case *ast.AssignStmt:
		if n.Tok == token.DEFINE || strings.HasPrefix(f.text(n), "_ = ") {
			return
		}
		f.add(opDrop, n.Pos(), n.End(), "")
		if swap, ok := swaps[n.Tok]; ok && !isText(n.Rhs[0]) {
			f.add(opSum, n.TokPos, n.TokPos+token.Pos(len(n.Tok.String())), swap.by.String())
		}
	}
}

func synchronizes(call *ast.CallExpr) bool {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	switch strings.ToLower(method.Sel.Name) {
	case "lock", "unlock", "rlock", "runlock", "wait", "done":
		return true
	}
	return false
}
