package main

import (
	"go/ast"
	"go/types"
	"regexp"
	"strings"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/types/typeutil"
)

// source is a file to read, with whether its tests are looked at.
type source struct {
	pkg   *packages.Package
	file  *ast.File
	roots bool
}

// graph is what refers to what.
type graph struct {
	nodes  map[string]*node
	roots  map[string]bool         // the tests, with whether they are tests of amounts
	makers map[string]map[int]bool // functions, with the parameters that they run in a bubble
	named  map[string]bool         // what somebody refers to by name
}

// node is a function, or a variable or a field that holds one, or a type with methods. A reference counts as a call.
type node struct {
	uses  []use
	edges []edge

	now      bool  // it reads the present time outside of a bubble
	compares []use // it compares times: with the present one, if it reads that
}

type edge struct {
	to     string
	bubble bool
}

func (g *graph) node(key string) *node {
	if g.nodes[key] == nil {
		g.nodes[key] = &node{}
	}
	return g.nodes[key]
}

// reached returns what a test uses: outside of bubbles, or anywhere if a bubble does not change it.
func (g *graph) reached(test string) map[use]bool {
	uses := map[use]bool{}
	seen := map[edge]bool{}
	next := []edge{{to: test}}
	for len(next) > 0 {
		e := next[len(next)-1]
		next = next[:len(next)-1]
		n := g.nodes[e.to]
		if n == nil || seen[e] || seen[edge{to: e.to}] {
			continue
		}
		seen[e] = true
		for _, u := range n.uses {
			if !u.clock || !u.bubble && !e.bubble {
				uses[u] = true
			}
		}
		for _, to := range n.edges {
			next = append(next, edge{to.to, to.bubble || e.bubble})
		}
	}
	return uses
}

// read makes the graph of files.
func read(files []source) *graph {
	g := &graph{nodes: map[string]*node{}, roots: map[string]bool{}, named: map[string]bool{},
		makers: map[string]map[int]bool{"testing/synctest.Test": {1: true}}}
	for found := true; found; {
		found = false
		for _, s := range files {
			for _, decl := range s.file.Decls {
				if fn, ok := decl.(*ast.FuncDecl); ok && fn.Body != nil && g.findMaker(s.pkg, fn) {
					found = true
				}
			}
		}
	}

	methods := map[string][]string{} // by type
	for _, s := range files {
		for _, decl := range s.file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				fn := s.pkg.TypesInfo.Defs[decl.Name].(*types.Func)
				name := key(s.pkg, fn)
				walker{g, s.pkg, g.node(name)}.function(decl.Body, false)
				if recv := fn.Signature().Recv(); recv != nil {
					of := typeKey(recv.Type())
					methods[of] = append(methods[of], name)
				} else if s.roots && isTest(fn) {
					g.roots[name] = strings.HasSuffix(fn.Name(), "_amount")
				}
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok {
						for i, value := range v.Values {
							name := v.Names[min(i, len(v.Names)-1)]
							walker{g, s.pkg, g.node(key(s.pkg, s.pkg.TypesInfo.Defs[name]))}.walk(value, false)
						}
					}
				}
			}
		}
	}
	for _, n := range g.nodes {
		if n.now {
			n.uses = append(n.uses, n.compares...)
		}
	}
	// A method to which nobody refers is called through an interface, by those to whom somebody gave a value of the type.
	for of, names := range methods {
		for _, name := range names {
			if !g.named[name] {
				n := g.node(of)
				n.edges = append(n.edges, edge{to: name})
			}
		}
	}
	return g
}

// lane is what a test says by its name if it runs elsewhere.
var lane = regexp.MustCompile(`_(real|nightly)(_|$)`)

func isTest(fn *types.Func) bool {
	name, params := fn.Name(), fn.Signature().Params()
	if lane.MatchString(name) {
		return false
	}
	if strings.HasPrefix(name, "Example") {
		return params.Len() == 0
	}
	if !strings.HasPrefix(name, "Test") && !strings.HasPrefix(name, "Fuzz") || params.Len() != 1 {
		return false
	}
	of := typeKey(params.At(0).Type())
	return of == "testing.T" || of == "testing.F"
}

// key names an object. What a package knows of others is what the compiler wrote of them, so the objects differ.
func key(p *packages.Package, obj types.Object) string {
	switch obj := obj.(type) {
	case *types.Func:
		return obj.Origin().FullName()
	case *types.TypeName:
		return typeKey(obj.Type())
	case *types.Const:
		if obj.Pkg() != nil {
			return obj.Pkg().Path() + "." + obj.Name()
		}
	case *types.Var:
		obj = obj.Origin()
		if pkg := obj.Pkg(); pkg != nil && pkg.Scope() == obj.Parent() {
			return pkg.Path() + "." + obj.Name()
		}
		return p.Fset.Position(obj.Pos()).String()
	}
	return ""
}

func typeKey(t types.Type) string {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	if named, ok := types.Unalias(t).(*types.Named); ok {
		return types.TypeString(named.Origin(), nil)
	}
	return ""
}

// findMaker keeps the parameters of a function that it uses in a bubble: functions, or what holds some. It reports
// whether there are new ones.
func (g *graph) findMaker(p *packages.Package, decl *ast.FuncDecl) (found bool) {
	fn := p.TypesInfo.Defs[decl.Name].(*types.Func)
	params := map[types.Object]int{}
	for i := range fn.Signature().Params().Len() {
		params[fn.Signature().Params().At(i)] = i
	}
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		for i := range g.inBubble(p, call) {
			if i >= len(call.Args) {
				continue // of a variadic parameter
			}
			ast.Inspect(call.Args[i], func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					of := key(p, fn)
					if param, ok := params[p.TypesInfo.Uses[id]]; ok && !g.makers[of][param] {
						if g.makers[of] == nil {
							g.makers[of] = map[int]bool{}
						}
						g.makers[of][param] = true
						found = true
					}
				}
				return true
			})
		}
		return true
	})
	return found
}

// inBubble returns which arguments of a call run in a bubble.
func (g *graph) inBubble(p *packages.Package, call *ast.CallExpr) map[int]bool {
	if fn, ok := typeutil.Callee(p.TypesInfo, call).(*types.Func); ok {
		return g.makers[key(p, fn)]
	}
	return nil
}

// walker reads what a node refers to.
type walker struct {
	g    *graph
	pkg  *packages.Package
	node *node
}

func (w walker) walk(root ast.Node, bubble bool) {
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			w.function(n.Body, bubble)
			return false
		case *ast.AssignStmt:
			if len(n.Lhs) != len(n.Rhs) {
				return true
			}
			for i, value := range n.Rhs {
				w.assign(n.Lhs[i], value, bubble)
			}
			return false
		case *ast.ValueSpec:
			if n.Type != nil {
				w.walk(n.Type, bubble)
			}
			for i, value := range n.Values {
				if len(n.Names) == len(n.Values) {
					w.assign(n.Names[i], value, bubble)
				} else {
					w.walk(value, bubble)
				}
			}
			return false
		case *ast.RangeStmt:
			if id, ok := n.Value.(*ast.Ident); ok {
				w.assign(id, n.X, bubble)
				w.walk(n.Body, bubble)
				return false
			}
		case *ast.CompositeLit:
			if fields, ok := w.pkg.TypesInfo.TypeOf(n).Underlying().(*types.Struct); ok {
				for i, value := range n.Elts {
					if _, named := value.(*ast.KeyValueExpr); named || !w.give(fields.Field(i), value, bubble) {
						w.walk(value, bubble)
					}
				}
				if n.Type != nil {
					w.walk(n.Type, bubble)
				}
				return false
			}
		case *ast.KeyValueExpr:
			w.assign(n.Key, n.Value, bubble)
			return false
		case *ast.CallExpr:
			inside := w.g.inBubble(w.pkg, n)
			w.call(n, bubble)
			for i, arg := range n.Args {
				w.walk(arg, bubble || inside[i])
			}
			return false
		case *ast.BasicLit:
			w.text(n)
		case *ast.Ident:
			if obj := w.pkg.TypesInfo.Uses[n]; obj != nil {
				w.refer(n, obj, bubble, nil)
			}
		}
		return true
	})
}

// assign reads what is assigned, and to what.
func (w walker) assign(to, value ast.Expr, bubble bool) {
	id, _ := to.(*ast.Ident)
	if sel, ok := to.(*ast.SelectorExpr); ok {
		id = sel.Sel
	}
	if id != nil {
		if v, ok := w.pkg.TypesInfo.ObjectOf(id).(*types.Var); ok && w.give(v, value, bubble) {
			return
		}
	}
	w.walk(to, bubble)
	w.walk(value, bubble)
}

// give reads the value of a variable or a field, if it is a function or holds some. Those run where the variable is
// referred to.
func (w walker) give(v *types.Var, value ast.Expr, bubble bool) bool {
	if !w.ours(v) {
		return false
	}
	bare := value
	if ref, ok := bare.(*ast.UnaryExpr); ok {
		bare = ref.X
	}
	switch bare.(type) {
	case *ast.FuncLit, *ast.CompositeLit:
		w.node = w.g.node(key(w.pkg, v))
		w.walk(value, bubble)
		return true
	}
	return false
}

// ours reports whether a variable belongs to code that is read, so that its calls are seen.
func (w walker) ours(v *types.Var) bool {
	file := w.pkg.Fset.Position(v.Pos()).Filename
	return strings.HasSuffix(file, "_test.go") || strings.Contains(file, "/internal/")
}

// function reads the body of a function. One that calls synctest.Wait is in a bubble: elsewhere that panics.
func (w walker) function(body *ast.BlockStmt, bubble bool) {
	if body == nil {
		return
	}
	ast.Inspect(body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			fn, ok := typeutil.Callee(w.pkg.TypesInfo, call).(*types.Func)
			bubble = bubble || ok && fn.FullName() == "testing/synctest.Wait"
		}
		_, inner := n.(*ast.FuncLit)
		return !inner
	})
	w.walk(body, bubble)
}
