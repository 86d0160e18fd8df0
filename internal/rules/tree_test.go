package rules

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
)

const modulePath = "github.com/mcphub-go/mcphub"

// tree is the repository as it is on the disk. It includes nested modules, and excludes installed packages and built
// files.
type tree struct {
	files []string // every text file's path, slash separated, sorted
	text  map[string][]byte
	code  []*source
}

// source is a Go file of the repository, for whatever system it is built.
type source struct {
	path      string
	fset      *token.FileSet
	file      *ast.File
	test      bool
	generated bool
	lines     int
}

// violation says where a rule is broken and what to do about it.
type violation struct {
	path string
	line int // 0: the file or folder as a whole
	text string
}

func (v violation) String() string {
	if v.line == 0 {
		return v.path + ": " + v.text
	}
	return fmt.Sprintf("%s:%d: %s", v.path, v.line, v.text)
}

// dir returns the folder of the file's package, "." for the root.
func (s *source) dir() string { return path.Dir(s.path) }

// in reports whether the file is in one of the folders or below one.
func (s *source) in(folders ...string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return within(f, s.dir()) })
}

// within reports whether dir is folder or below it.
func within(folder, dir string) bool {
	return dir == folder || strings.HasPrefix(dir, folder+"/")
}

func (s *source) at(n ast.Node, format string, args ...any) violation {
	return violation{s.path, s.fset.Position(n.Pos()).Line, fmt.Sprintf(format, args...)}
}

// local returns the name under which the file imports a package. ok is false if it does not import it.
func (s *source) local(importPath string) (name string, ok bool) {
	for _, spec := range s.file.Imports {
		if p, _ := strconv.Unquote(spec.Path.Value); p != importPath {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name, true
		}
		return path.Base(importPath), true
	}
	return "", false
}

// uses calls found for each use of one of the names of a package. A dot import hides which names are used, so it counts
// as a use of "*".
func (s *source) uses(importPath string, names []string, found func(n ast.Node, name string)) {
	local, ok := s.local(importPath)
	if !ok {
		return
	}
	if local == "." {
		found(s.file.Name, "*")
		return
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			x, isIdent := sel.X.(*ast.Ident)
			if isIdent && x.Name == local && slices.Contains(names, sel.Sel.Name) {
				found(sel, sel.Sel.Name)
			}
		}
		return true
	})
}

// builtByEditors matches the folders that the build of the editors part writes. .gitignore lists the same folders.
var builtByEditors = regexp.MustCompile(
	`^editors/(?:out|\.editors|[a-z]+/(?:build|dist)|vscode/bin|vscode/media/page)$`)

// skipped reports whether a folder has no sources: version control, installed packages, built files.
func skipped(dir string) bool {
	return dir == "bin" || dir == "dist" || slices.Contains([]string{".git", "node_modules", ".idea"}, path.Base(dir)) ||
		builtByEditors.MatchString(dir)
}

// read loads a tree. A Go file that cannot be parsed is an error, because a rule that does not see a file proves
// nothing about it.
func read(root fs.FS) (*tree, error) {
	t := &tree{text: map[string][]byte{}}
	err := fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if skipped(p) {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || p == ".git" { // in a linked work tree of git, .git is a file with a path
			return nil
		}
		text, err := fs.ReadFile(root, p)
		if err != nil {
			return err
		}
		if bytes.IndexByte(text, 0) >= 0 {
			return nil // not text
		}
		t.files = append(t.files, p)
		t.text[p] = text
		// The go command ignores testdata, and so do the rules about code.
		if path.Ext(p) != ".go" || slices.Contains(strings.Split(p, "/"), "testdata") {
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, p, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		t.code = append(t.code, &source{
			path: p, fset: fset, file: file,
			test:      strings.HasSuffix(p, "_test.go"),
			generated: ast.IsGenerated(file),
			lines:     bytes.Count(text, []byte("\n")),
		})
		return nil
	})
	return t, err
}

// repositoryRoot returns the folder two levels above this package. The go command runs the tests of a package in its
// folder.
func repositoryRoot(t testing.TB) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil || !strings.HasPrefix(string(mod), "module "+modulePath+"\n") {
		t.Fatalf("%s is not the root of %s: %v", root, modulePath, err)
	}
	return root
}

// readRepository reads the repository once for all rules. No rule changes the tree.
var readRepository = sync.OnceValues(func() (*tree, error) { return read(os.DirFS(filepath.Join("..", ".."))) })

// repository returns the tree of the repository.
func repository(t testing.TB) *tree {
	t.Helper()
	repositoryRoot(t)
	tr, err := readRepository()
	if err != nil {
		t.Fatal(err)
	}
	if len(tr.code) == 0 {
		t.Fatal("no Go file found")
	}
	return tr
}

// made loads a made-up tree.
func made(t testing.TB, files map[string]string) *tree {
	t.Helper()
	m := fstest.MapFS{}
	for name, text := range files {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	tr, err := read(m)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// without finds the folders and files of a list that the tree does not have. A rule about them would prove nothing.
func without(t *tree, names []string) []violation {
	var bad []violation
	for _, name := range names {
		if !slices.ContainsFunc(t.files, func(f string) bool { return within(name, f) }) {
			bad = append(bad, violation{path: name, text: "is named in a rule, and does not exist"})
		}
	}
	return bad
}

func TestWithoutFindsViolations(t *testing.T) {
	finds(t, without(made(t, map[string]string{"hub/a/a.go": "package a", "docs/a.md": ""}),
		[]string{"hub", "hub/a", "docs/a.md", "hub/ab", "hub/a/b.go"}), "hub/ab", "hub/a/b.go")
}

func report(t *testing.T, violations []violation) {
	t.Helper()
	for _, v := range violations {
		t.Error(v)
	}
}

// finds checks that a rule reports exactly these places, each as path:line, or as path for a whole file.
func finds(t *testing.T, violations []violation, want ...string) {
	t.Helper()
	var got []string
	for _, v := range violations {
		at := v.path
		if v.line > 0 {
			at = fmt.Sprintf("%s:%d", v.path, v.line)
		}
		got = append(got, at)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the rule marked %q, want %q\n%v", got, want, violations)
	}
}
