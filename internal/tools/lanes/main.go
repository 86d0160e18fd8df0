// Lanes finds what makes the verdict of a test depend on the machine, in the tests that are judged by one run (lane B,
// make test): real timers and short deadlines, comparisons with the present time, other processes, counts of the whole
// process, fresh seeds, and paths that belong to the whole machine. A synctest bubble has a clock of its own, so what
// goes by the clock may stand in one.
//
// A test that needs one of these says so by its name, and runs elsewhere: TestX_real, TestX_nightly. Tests of amounts,
// TestX_amount, run alone and may count what the process holds. Packages that the Makefile names in
// REAL and APART are left out.
//
// From each test it follows references by name, through test files and the packages in internal that are for tests. It
// does not enter the product: what that does is what is tested. Nor does it look at TestMain, which plays the programs
// that tests start.
//
//	lanes [FOLDER OF THE MODULE]
package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	found, err := examine(root)
	if err != nil {
		fmt.Fprintln(os.Stderr, "lanes:", err)
		os.Exit(2)
	}
	for _, f := range found {
		fmt.Println(f)
	}
	if len(found) > 0 {
		fmt.Printf("In tests of lane B, %d places depend on the machine: take that out, or say by the test's name where it "+
			"runs (CONTRIBUTING.md).\n", len(found))
		os.Exit(1)
	}
}

// apartLine is a line of the Makefile with packages that lane B does not run.
var apartLine = regexp.MustCompile(`(?m)^(?:REAL|APART) := ((?:.*\\\n)*.*)$`)

// examine returns a line for each place that a test of lane B reaches, with the tests that do.
func examine(root string) ([]string, error) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		return nil, err
	}
	var elsewhere []string
	for _, m := range apartLine.FindAllSubmatch(makefile, -1) {
		elsewhere = append(elsewhere, strings.Fields(strings.ReplaceAll(string(m[1]), "\\\n", " "))...)
	}
	if len(elsewhere) == 0 {
		return nil, errors.New("the Makefile has no line REAL")
	}
	root, err = filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedSyntax | packages.NeedTypes |
			packages.NeedTypesInfo,
		Dir: root, Tests: true,
	}, "./...")
	if err != nil {
		return nil, err
	}
	if packages.PrintErrors(pkgs) > 0 {
		return nil, errors.New("there are errors in the packages")
	}

	product := productOf(pkgs)
	var files []source
	seen := map[string]bool{} // the files of a package are those of its test variant as well
	for _, p := range pkgs {
		for _, f := range p.Syntax {
			path, err := filepath.Rel(root, p.Fset.Position(f.Package).Filename)
			path = filepath.ToSlash(path)
			if err != nil || seen[path] || strings.HasPrefix(path, "../") { // the main packages of tests are elsewhere
				continue
			}
			seen[path] = true
			test := strings.HasSuffix(path, "_test.go")
			if test && !slices.Contains(elsewhere, filepath.ToSlash(filepath.Dir(path))) ||
				!test && strings.HasPrefix(path, "internal/") && !product[p.PkgPath] {
				files = append(files, source{p, f, test})
			}
		}
	}
	return report(root, read(files)), nil
}

// productOf returns the packages of the product: those outside of internal, and what they import.
func productOf(pkgs []*packages.Package) map[string]bool {
	product := map[string]bool{}
	var add func(p *packages.Package)
	add = func(p *packages.Package) {
		if !product[p.PkgPath] {
			product[p.PkgPath] = true
			for _, imported := range p.Imports {
				add(imported)
			}
		}
	}
	for _, p := range pkgs {
		if p.ID == p.PkgPath && !strings.HasSuffix(p.ID, ".test") && !strings.Contains(p.ID, "/internal/") {
			add(p)
		}
	}
	return product
}

// report returns what the tests of a graph reach.
func report(root string, g *graph) []string {
	tests := map[use][]string{}
	for name, amount := range g.roots {
		for u := range g.reached(name) {
			if !amount || !u.count {
				tests[u] = append(tests[u], name[strings.LastIndex(name, ".")+1:])
			}
		}
	}
	uses := slices.SortedFunc(maps.Keys(tests), func(a, b use) int {
		return cmp.Or(cmp.Compare(a.at.Filename, b.at.Filename), cmp.Compare(a.at.Line, b.at.Line), cmp.Compare(a.why, b.why))
	})
	var lines []string
	for _, u := range uses {
		names := tests[u]
		slices.Sort(names)
		if more := len(names) - 3; more > 0 {
			names = append(names[:3], fmt.Sprintf("%d more", more))
		}
		path, err := filepath.Rel(root, u.at.Filename)
		if err != nil {
			path = u.at.Filename
		}
		path = filepath.ToSlash(path)
		lines = append(lines, fmt.Sprintf("%s:%d: %s (%s)", path, u.at.Line, u.why, strings.Join(names, ", ")))
	}
	return lines
}
