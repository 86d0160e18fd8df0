package rules

import (
	"flag"
	"fmt"
	"go/ast"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var updateDoors = flag.Bool("update", false, "write testdata/doors.txt anew")

const doorsFile = "testdata/doors.txt"

// doors lists the exported names of each package of the hub, so that a review sees when a package exports more.
func doors(t *tree) string {
	names := map[string][]string{}
	for _, s := range t.code {
		if s.test || s.generated || !s.in("hub") {
			continue
		}
		for _, d := range s.file.Decls {
			names[s.dir()] = append(names[s.dir()], exported(d)...)
		}
	}
	var rooms []string
	for room := range names {
		rooms = append(rooms, room)
	}
	slices.Sort(rooms)
	var b strings.Builder
	for _, room := range rooms {
		list := names[room]
		slices.Sort(list)
		list = slices.Compact(list) // several systems may declare the same name
		fmt.Fprintf(&b, "%s (%d)\n", room, len(list))
		for _, name := range list {
			fmt.Fprintf(&b, "\t%s\n", name)
		}
	}
	return b.String()
}

// exported returns the exported names of a declaration, those of methods with their exported type.
func exported(d ast.Decl) (names []string) {
	add := func(kind string, id *ast.Ident) {
		if id.IsExported() {
			names = append(names, kind+" "+id.Name)
		}
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		switch of := receiver(d); {
		case of == "":
			add("func", d.Name)
		case ast.IsExported(of) && d.Name.IsExported():
			names = append(names, "method "+of+"."+d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				add("type", spec.Name)
			case *ast.ValueSpec:
				for _, id := range spec.Names {
					add(d.Tok.String(), id)
				}
			}
		}
	}
	return names
}

// receiver returns the name of the type that d is a method of, or "" for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	of := d.Recv.List[0].Type
	if p, ok := of.(*ast.StarExpr); ok {
		of = p.X
	}
	switch g := of.(type) {
	case *ast.IndexExpr:
		of = g.X
	case *ast.IndexListExpr:
		of = g.X
	}
	if id, ok := of.(*ast.Ident); ok {
		return id.Name
	}
	return "?"
}

func TestDoors(t *testing.T) {
	got := doors(repository(t))
	if *updateDoors {
		if err := os.WriteFile(doorsFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(doorsFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("what a room exports has changed (-kept +now); if it is meant, make rooms:\n%s", diff)
	}
}

func TestDoorsFindsEachKind(t *testing.T) {
	got := doors(made(t, map[string]string{
		"hub/a/a.go": "package a\n\ntype T[X any] struct{ F, g int }\ntype u int\n\nfunc (t *T[X]) M() {}\ntype P[X, Y any] struct{}\n\nfunc (p *P[X, Y]) M() {}\n" +
			"func (u) N()   {}\nfunc F()       {}\nfunc g()       {}\nvar V, w = 1, 2\n\nconst C = 1\n",
		"hub/a/a_test.go": "package a\n\nfunc G() {}\n",
		"ipc/b.go":        "package ipc\n\nfunc H() {}\n",
	}))
	if want := "hub/a (7)\n\tconst C\n\tfunc F\n\tmethod P.M\n\tmethod T.M\n\ttype P\n\ttype T\n\tvar V\n"; got != want {
		t.Errorf("got %q", got)
	}
}
