package main

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/tools/go/types/typeutil"
)

// use is a place where a test depends on the machine.
type use struct {
	at     token.Position
	why    string
	clock  bool // only outside of bubbles
	count  bool // not in tests of amounts
	bubble bool // it is in a bubble
}

// long is the least time of a wait whose end only says that a test hangs.
const long = time.Minute

// timers wait for the time in their argument of that number.
var timers = map[string]int{
	"time.After": 0, "time.AfterFunc": 0, "time.NewTimer": 0, "time.NewTicker": 0, "time.Tick": 0,
	"context.WithTimeout": 1, "context.WithTimeoutCause": 1, "context.WithDeadline": 1, "context.WithDeadlineCause": 1,
}

var deadlines = map[string]bool{"SetDeadline": true, "SetReadDeadline": true, "SetWriteDeadline": true}

// clocks go by the clock in any case. Not faketime.Pass: that panics outside of a bubble by itself.
var clocks = map[string]string{
	"time.Sleep":           "a real sleep: wait for what is meant",
	"time.Since":           "a comparison with the present time",
	"time.Until":           "a comparison with the present time",
	"(time.Time).UnixNano": "a fresh seed",
}

// processes start another program, or name the one of the test, which is for being started again. What is not of the
// standard library is named without the name of the module.
var processes = map[string]bool{
	"os.StartProcess": true, "os/exec.Command": true, "os/exec.CommandContext": true, "os.Executable": true,
	"os.Args": true, "hub/process.Start": true, "plugin/host.Open": true,
}

// counts are of the whole process. Not testing.AllocsPerRun: it lets no other goroutine run, refuses to run beside
// other tests, and rounds down what the runtime itself adds.
var counts = map[string]bool{
	"runtime.NumGoroutine": true, "runtime.ReadMemStats": true, "runtime.Stack": true, "runtime/metrics.Read": true,
	"runtime/pprof.Lookup": true, "testing.Benchmark": true,
}

// everybodys are paths of the whole machine. What is not there today may be there tomorrow, and root may replace a
// device.
var everybodys = regexp.MustCompile(`^/(nonexistent|dev/null)(/|$)`)

// seeded are the functions of math/rand that take a source or a seed.
var seeded = map[string]bool{"New": true, "NewSource": true, "NewPCG": true, "NewChaCha8": true, "NewZipf": true}

// call looks at a call, and reads what is called.
func (w walker) call(call *ast.CallExpr, bubble bool) {
	fun := ast.Unparen(call.Fun)
	if sel, ok := fun.(*ast.SelectorExpr); ok {
		w.walk(sel.X, bubble)
		fun = sel.Sel
	}
	id, ok := fun.(*ast.Ident)
	if !ok {
		w.walk(fun, bubble)
		return
	}
	if obj := w.pkg.TypesInfo.Uses[id]; obj != nil {
		w.refer(id, obj, bubble, call)
	}
}

// refer looks at a name that is used, as what is called if there is a call.
func (w walker) refer(id *ast.Ident, obj types.Object, bubble bool, call *ast.CallExpr) {
	name := key(w.pkg, obj)
	w.g.named[name] = true
	if obj.Pkg() == nil {
		return
	}
	path := obj.Pkg().Path()
	if _, room, ok := strings.Cut(path, "/mcphub/"); ok && obj.Parent() == obj.Pkg().Scope() {
		path, name = room, room+"."+obj.Name()
	}
	u := use{at: w.pkg.Fset.Position(id.Pos()), bubble: bubble}
	arg, timer := timers[name]
	fn, isFunc := obj.(*types.Func)
	method := isFunc && fn.Signature().Recv() != nil
	if method && deadlines[fn.Name()] && fn.Signature().Params().Len() == 1 {
		arg, timer = 0, true
	}
	switch {
	case timer && (call == nil || !w.isLong(call.Args[arg])):
		u.why, u.clock = "a real timer of less than a minute: "+obj.Name(), true
	case clocks[name] != "":
		u.why, u.clock = clocks[name]+": "+name, true
	case processes[name]:
		u.why = "another process: " + name
	case counts[name]:
		u.why, u.count = "a count of the whole process: "+name, true
	case name == "os.DevNull":
		u.why = "a path of the whole machine: " + name
	case isFunc && (path == "testing/quick" || strings.HasPrefix(path, "math/rand") && !method && !seeded[obj.Name()]):
		u.why = "a fresh seed: " + name
	case name == "time.Now" && !bubble:
		w.node.now = true
	case name == "(time.Time).Sub", name == "(time.Time).Before", name == "(time.Time).After":
		u.why, u.clock = "a comparison with the present time: "+obj.Name(), true
		w.node.compares = append(w.node.compares, u)
		return
	}
	if u.why != "" {
		w.node.uses = append(w.node.uses, u)
	}
	if path != "internal/faketime" {
		w.node.edges = append(w.node.edges, edge{key(w.pkg, obj), bubble})
	}
}

// isLong reports whether an argument is a constant of at least a minute, or the time that is so far from another.
func (w walker) isLong(arg ast.Expr) bool {
	if call, ok := arg.(*ast.CallExpr); ok && len(call.Args) == 1 {
		if fn, ok := typeutil.Callee(w.pkg.TypesInfo, call).(*types.Func); ok && fn.FullName() == "(time.Time).Add" {
			arg = call.Args[0]
		}
	}
	if v := w.pkg.TypesInfo.Types[arg].Value; v != nil && v.Kind() == constant.Int {
		n, _ := constant.Int64Val(v)
		return n >= int64(long)
	}
	return false
}

// text looks at a string.
func (w walker) text(lit *ast.BasicLit) {
	if s, err := strconv.Unquote(lit.Value); err == nil && lit.Kind == token.STRING && everybodys.MatchString(s) {
		w.node.uses = append(w.node.uses, use{at: w.pkg.Fset.Position(lit.Pos()), why: "a path of the whole machine: " + s})
	}
}
