package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A mutant is one change of one line. It is known by its file, function, operator, the text of its line and its place
// among those with the same of these: moved code keeps its mutants.
type mutant struct {
	ID       string `json:"id"`
	File     string `json:"file"` // from the root, with slashes
	Line     int    `json:"line"`
	Func     string `json:"func"`
	Operator string `json:"operator"`
	Text     string `json:"text"`
	Ordinal  int    `json:"ordinal"`
	Before   string `json:"before"` // "" if something is inserted
	After    string `json:"after"`

	start, end int
}

func (m mutant) String() string {
	after := m.After
	if after == "" {
		after = "(nothing)"
	}
	return fmt.Sprintf("%s %s:%d %s %s: %s -> %s", m.ID, m.File, m.Line, m.Func, m.Operator, m.Before, after)
}

// source returns the file with the change.
func (m mutant) source(root string) ([]byte, error) {
	src, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m.File)))
	if err != nil {
		return nil, err
	}
	return slices.Concat(src[:m.start], []byte(m.After), src[m.end:]), nil
}

// mutants returns all mutants of the packages, which are folders from the root: of the files that are built on this
// system, without tests and generated code.
func mutants(root string, packages []string) ([]mutant, error) {
	var all []mutant
	for _, folder := range packages {
		p, err := build.ImportDir(filepath.Join(root, folder), 0)
		if err != nil {
			return nil, err
		}
		for _, name := range p.GoFiles {
			src, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				return nil, err
			}
			found, err := mutantsOf(folder+"/"+name, src)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
	}
	return all, nil
}

// mutantsOf returns the mutants of one file.
func mutantsOf(name string, src []byte) ([]mutant, error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || ast.IsGenerated(parsed) {
		return nil, err
	}
	lines := bytes.Split(src, []byte("\n"))
	var all []mutant
	equal := map[string]int{}
	for _, d := range parsed.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		f := finder{file: files.File(fn.Pos()), src: src}
		f.function(fn.Body, fn.Type.Results)
		slices.SortStableFunc(f.edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
		for _, e := range f.edits {
			m := mutant{File: name, Func: nameOf(fn), Operator: e.operator, Before: string(src[e.start:e.end]),
				After: e.after, start: e.start, end: e.end}
			m.Line = f.file.Line(f.file.Pos(e.start))
			m.Text = string(bytes.TrimSpace(lines[m.Line-1]))
			key := strings.Join([]string{m.File, m.Func, m.Operator, m.Text}, "\x00")
			m.Ordinal = equal[key]
			equal[key]++
			m.ID = hash(fmt.Sprintf("%s\x00%d", key, m.Ordinal))[:10]
			all = append(all, m)
		}
	}
	return all, nil
}

// nameOf returns a function's name, with its receiver's type.
func nameOf(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	of := fn.Recv.List[0].Type
	for {
		switch t := of.(type) {
		case *ast.StarExpr:
			of = t.X
		case *ast.IndexExpr:
			of = t.X
		case *ast.IndexListExpr:
			of = t.X
		case *ast.Ident:
			return t.Name + "." + fn.Name.Name
		default:
			return fn.Name.Name
		}
	}
}

// find returns the index of m in all, -1 if it is not in the code any more. A function may have moved to another file,
// and a method to another type.
func find(all []mutant, m mutant) int {
	if i := slices.IndexFunc(all, func(one mutant) bool { return one.ID == m.ID }); i >= 0 {
		return i
	}
	last := func(name string) string { return name[strings.LastIndex(name, ".")+1:] }
	at := -1
	for i, one := range all {
		if last(one.Func) == last(m.Func) && one.Operator == m.Operator && one.Text == m.Text &&
			one.Ordinal == m.Ordinal && one.Before == m.Before {
			if at >= 0 {
				return -1 // it could be either
			}
			at = i
		}
	}
	return at
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// shuffle brings the mutants into the order of the seed. It depends on each mutant alone, so that most of the first
// ones stay the first ones when code changes.
func shuffle(all []mutant, seed int) {
	slices.SortFunc(all, func(a, b mutant) int {
		return cmp.Or(cmp.Compare(hash(fmt.Sprint(seed, a.ID)), hash(fmt.Sprint(seed, b.ID))), cmp.Compare(a.ID, b.ID))
	})
}

func (m mutant) folder() string { return path.Dir(m.File) }
