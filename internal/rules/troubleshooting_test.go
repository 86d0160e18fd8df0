package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// open replaces the parts that differ between two texts of the same form: the verbs of a format string, and "…" in the
// document.
const open = "\x00"

var (
	verbs    = regexp.MustCompile(`"?%[-+# 0-9.]*[a-zA-Z]"?`)
	dots     = regexp.MustCompile(`"?…"?`)
	headings = regexp.MustCompile("(?m)^### `(.*)`$")
)

// TestTroubleshootingQuotesWhatIsSaid: each heading of docs/troubleshooting.md is a message that the code contains.
func TestTroubleshootingQuotesWhatIsSaid(t *testing.T) {
	said := strings.Join(constants(t, "../.."), "\n")
	doc, err := os.ReadFile("../../docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	found := headings.FindAllStringSubmatch(string(doc), -1)
	if len(found) < 15 {
		t.Fatalf("%d headings", len(found))
	}
	for _, heading := range found {
		if text := strings.Trim(dots.ReplaceAllString(heading[1], open), open); !strings.Contains(said, text) {
			t.Errorf("no message in the code matches the heading %q", heading[1])
		}
	}
	if strings.Contains(said, "there is no such text anywhere") {
		t.Error("messages of tests are taken for messages of the code")
	}
}

// constants returns the string literals of the code that ships. Literals that are joined by + are one string.
func constants(t *testing.T, root string) (texts []string) {
	t.Helper()
	for _, folder := range []string{"hub", "ipc", "plugin", "internal/cli"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				e, ok := n.(ast.Expr)
				if !ok {
					return true
				}
				text, whole := literal(e)
				if whole {
					texts = append(texts, verbs.ReplaceAllString(text, open))
				}
				return !whole
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return texts
}

// literal returns the text of a string literal, or of several joined by +. An operand that is not a literal becomes
// open.
func literal(e ast.Expr) (text string, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			return "", false
		}
		left, l := literal(e.X)
		right, r := literal(e.Y)
		if !l {
			left = open
		}
		if !r {
			right = open
		}
		return left + right, l || r
	}
	return "", false
}
