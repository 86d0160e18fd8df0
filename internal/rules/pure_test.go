package rules

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// pureRooms are packages, and single files, that decide and do nothing: events in, effects out. Their tests may do what
// they like.
var pureRooms = []string{"hub/core", "hub/jsonrpc/table.go", "hub/transport/exchange_state.go"}

// impure finds what a pure room must not have: goroutines, channels, locks, contexts, the clock, randomness, and
// anything outside the process.
func impure(t *tree) []violation {
	mayImport := []string{"cmp", "errors", "maps", "reflect", "slices", "strconv", "strings", "time"}
	var bad []violation
	for _, s := range t.code {
		if s.test || !slices.Contains(pureRooms, s.dir()) && !slices.Contains(pureRooms, s.path) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				path := strings.Trim(n.Path.Value, `"`)
				if !strings.HasPrefix(path, modulePath+"/") && !slices.Contains(mayImport, path) {
					bad = append(bad, s.at(n, "%s in a pure room: an event brings what is outside", path))
				}
			case *ast.GoStmt, *ast.SelectStmt, *ast.SendStmt, *ast.ChanType:
				bad = append(bad, s.at(n, "a goroutine or channel in a pure room"))
			case *ast.UnaryExpr:
				if n.Op == token.ARROW {
					bad = append(bad, s.at(n, "a goroutine or channel in a pure room"))
				}
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains([]string{"Now", "Since", "Until",
					"After", "AfterFunc", "Sleep", "Tick", "NewTimer", "NewTicker", "Timer", "Ticker"}, n.Sel.Name) {
					bad = append(bad, s.at(n, "time.%s in a pure room: an event has the time at which it happened", n.Sel.Name))
				}
			}
			return true
		})
	}
	return bad
}

func TestPureRooms(t *testing.T) {
	report(t, impure(repository(t)))
	report(t, without(repository(t), pureRooms))
}

func TestPureRoomsFindsViolations(t *testing.T) {
	finds(t, impure(made(t, map[string]string{
		"hub/core/good.go":     "package core\nimport (\n\"slices\"\n\"time\"\n)\nvar _ = slices.Sort[[]int]\nvar _ time.Time\n",
		"hub/core/bad.go":      "package core\nimport \"sync\"\nfunc f(c chan int) {\n\tgo f(nil)\n\t<-c\n}\nvar m sync.Mutex\n",
		"hub/core/clock.go":    "package core\nimport \"time\"\nvar now = time.Now()\n",
		"hub/core/any_test.go": "package core\nimport \"sync\"\nvar m sync.Mutex\n",
		"hub/jsonrpc/table.go": "package jsonrpc\nimport \"context\"\nvar c context.Context\n",
		"hub/jsonrpc/peer.go":  "package jsonrpc\nimport \"context\"\nvar d context.Context\n",
		"hub/free.go":          "package hub\nimport \"sync\"\nvar m sync.Mutex\n",
	})), "hub/core/bad.go:2", "hub/core/bad.go:3", "hub/core/bad.go:4", "hub/core/bad.go:5", "hub/core/clock.go:3",
		"hub/jsonrpc/table.go:2")
}
