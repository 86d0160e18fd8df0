package rules

import (
	"go/ast"
	"path"
	"regexp"
	"strings"
	"testing"
)

var (
	spelled = regexp.MustCompile("`([^`\n]+)`")
	capital = regexp.MustCompile(`[A-Z]`)
)

// lostWalks finds names in the two walks of CONTRIBUTING.md that do not exist. A name is a function or type of hub or
// ipc, alone, with its package, or as a method of its type; a file or folder; or a name of the contract.
func lostWalks(t *tree) []violation {
	const page, heading = "CONTRIBUTING.md", "## Two walks\n"
	before, walks, found := strings.Cut(string(t.text[page]), heading)
	if !found {
		return []violation{{page, 0, "the walks of a call and of a cancel are missing"}}
	}
	walks, _, _ = strings.Cut(walks, "\n## ")
	there := map[string]bool{}
	for _, p := range t.files {
		for there[p] = true; p != "."; p = path.Dir(p) {
			there[path.Dir(p)] = true
		}
	}
	for _, s := range t.code {
		if s.test || !s.in("hub", "ipc") {
			continue
		}
		room := s.file.Name.Name
		for _, decl := range s.file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				name := decl.Name.Name
				there[name] = true
				if decl.Recv == nil {
					there[room+"."+name] = true
				} else if star, ok := decl.Recv.List[0].Type.(*ast.StarExpr); ok {
					if of, ok := star.X.(*ast.Ident); ok {
						there[room+".(*"+of.Name+")."+name] = true
					}
				}
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					if of, ok := spec.(*ast.TypeSpec); ok {
						there[of.Name.Name], there[room+"."+of.Name.Name] = true, true
					}
				}
			}
		}
	}
	var contract strings.Builder
	for _, p := range t.files {
		if path.Ext(p) == ".proto" {
			contract.Write(t.text[p])
		}
	}
	var bad []violation
	first := strings.Count(before+heading, "\n") + 1
	for i, line := range strings.Split(walks, "\n") {
		for _, m := range spelled.FindAllStringSubmatch(line, -1) {
			field := capital.ReplaceAllStringFunc(m[1], func(c string) string { return "_" + strings.ToLower(c) })
			if !there[m[1]] && !strings.Contains(contract.String(), " "+field+" = ") {
				bad = append(bad, violation{page, first + i, "there is no " + m[1] + " on this way"})
			}
		}
	}
	return bad
}

func TestWalksAreTrue(t *testing.T) {
	report(t, lostWalks(repository(t)))
}

func TestWalksAreTrueFindsViolations(t *testing.T) {
	code := map[string]string{
		"hub/a.go":         "package hub\ntype Hub struct{}\nfunc (h *Hub) Call() {}\nfunc pass() {}\n",
		"ipc/b.go":         "package ipc\ntype Request struct{}\n",
		"cmd/c.go":         "package main\nfunc elsewhere() {}\n",
		"hub/a_test.go":    "package hub\nfunc onlyTested() {}\n",
		"proto/v1/e.txt":   "no_field = 1\n",
		"proto/v1/e.proto": "message M {\n  oneof event {\n    Gone request_gone = 1;\n  }\n}\n",
	}
	code["CONTRIBUTING.md"] = "# Work\n`anything`\n## Two walks\n`hub.(*Hub).Call` `pass` `hub` `hub/a.go`\n" +
		"`ipc.Request` `requestGone`\n`hub.(*Hub).pass` `Gone`\n`elsewhere`\n`onlyTested`\n`noField`\n\n## More\n`else`\n"
	finds(t, lostWalks(made(t, code)), "CONTRIBUTING.md:6", "CONTRIBUTING.md:6", "CONTRIBUTING.md:7", "CONTRIBUTING.md:8",
		"CONTRIBUTING.md:9")
	finds(t, lostWalks(made(t, map[string]string{"CONTRIBUTING.md": "# Work\n"})), "CONTRIBUTING.md")
}
