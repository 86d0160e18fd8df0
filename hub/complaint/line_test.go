package complaint

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// What runtimes and tools really write when a server cannot start, and the line that a person needs of it. Finding D6.
func TestLine(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"Node, a module that is missing": {`node:internal/modules/cjs/loader:1210
  throw err;
  ^

Error: Cannot find module '/srv/index.js'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15)
    at node:internal/main/run_main_module:28:49 {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v20.20.2`, "Error: Cannot find module '/srv/index.js'"},
		"Node, a package of an ES module": {`node:internal/errors:985
  const error = new Error(message);
Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from /srv/index.mjs
    at packageResolve (node:internal/modules/package_json_reader:256:9)
Node.js v22.1.0`, "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from /srv/index.mjs"},
		"Node, syntax": {"/srv/x.js:3\nconst x = ;\n          ^\n\nSyntaxError: Unexpected token ';'\n    at wrapSafe (x:1:1)\n\nNode.js v20",
			"SyntaxError: Unexpected token ';'"},
		"cobra": {"Error: unknown flag: --stdoi\nUsage:\n  server stdio [flags]\n\nFlags:\n  -h, --help   help for stdio\n  --error-log FILE   where errors go",
			"Error: unknown flag: --stdoi"},
		"Python, a traceback": {`Traceback (most recent call last):
  File "/srv/main.py", line 3, in <module>
    raise RuntimeError("API key missing: set FOO_KEY")
RuntimeError: API key missing: set FOO_KEY`, "RuntimeError: API key missing: set FOO_KEY"},
		"Python, an exception whose name is no error": {"Traceback (most recent call last):\n  File \"x\", line 1\n    f()\npkg.NoLicence: buy one",
			"pkg.NoLicence: buy one"},
		"Python, the second of two": {"Traceback (most recent call last):\n  File \"x\"\nKeyError: 'a'\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File \"y\"\nValueError: no a",
			"ValueError: no a"},
		"Python, no such file": {"python3: can't open file '/srv/x.py': [Errno 2] No such file or directory",
			"python3: can't open file '/srv/x.py': [Errno 2] No such file or directory"},
		"Python, no such module": {"/usr/bin/python3: No module named mcp_server_time\n/usr/bin/python3: Error while finding module specification for 'x'",
			"/usr/bin/python3: Error while finding module specification for 'x'"},
		"Go": {"starting\npanic: open /etc/x: no such file or directory\n\ngoroutine 1 [running]:\nmain.main()\n\t/srv/main.go:9 +0x1d\nexit status 2",
			"panic: open /etc/x: no such file or directory"},
		"Rust": {"thread 'main' panicked at src/main.rs:4:10:\nDATABASE_URL is not set\nnote: run with `RUST_BACKTRACE=1`",
			"DATABASE_URL is not set"},
		"Rust, before 1.73": {"thread 'main' panicked at 'no database', src/main.rs:2:5",
			"thread 'main' panicked at 'no database', src/main.rs:2:5"},
		"Java": {"Exception in thread \"main\" java.lang.IllegalStateException: no key\n\tat Main.main(Main.java:4)",
			`Exception in thread "main" java.lang.IllegalStateException: no key`},
		"npm": {"npm ERR! code E404\nnpm ERR! 404 Not Found - GET https://npm.invalid/x - Not found\nnpm ERR! 404 \nnpm ERR! 404  'x@*' is not in this registry.\nnpm ERR! A complete log of this run can be found in: /x",
			"npm ERR! 404 Not Found - GET https://npm.invalid/x - Not found"},
		"npm 10": {"npm error code ENOENT\nnpm error syscall open\nnpm error path /package.json\nnpm error errno -2\nnpm error enoent Could not read package.json\nnpm error enoent This is related to npm",
			"npm error enoent Could not read package.json"},
		"uv":     {"Resolved 3 packages\nerror: Failed to spawn: `mcp-server-x`\n  Caused by: No such file or directory (os error 2)", "error: Failed to spawn: `mcp-server-x`"},
		"docker": {"Unable to find image 'x:latest' locally\ndocker: Error response from daemon: pull access denied for x.\nSee 'docker run --help'.", "docker: Error response from daemon: pull access denied for x."},
		"sh":     {"sh: 1: mcp-server: not found", "sh: 1: mcp-server: not found"},
		"env":    {"/usr/bin/env: 'node': No such file or directory", "/usr/bin/env: 'node': No such file or directory"},
		"a log, JSON": {`{"level":"info","msg":"start"}` + "\n" + `{"level":"error","msg":"no token"}` + "\n" +
			`{"level":"info","msg":"bye"}`,
			`{"level":"error","msg":"no token"}`},
		"a log, coloured": {"\x1b[32mINFO\x1b[0m start\n\x1b[31mERROR\x1b[0m no token\nbye", "ERROR no token"},
		"a plain sentence": {"My server 1.0\nFOO_KEY environment variable is required\nbye",
			"FOO_KEY environment variable is required"},
		"nothing of note":   {"index is up\nstill loading the model", ""},
		"nothing":           {"", ""},
		"an empty panic":    {"thread 'main' panicked at src/main.rs:4:10:", "thread 'main' panicked at src/main.rs:4:10:"},
		"an open traceback": {"Traceback (most recent call last):\n  File \"x\"", ""},
	} {
		if got := Line(strings.Split(test.text, "\n")); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// The line that matters comes first, and is not said twice; the latest lines stay.
func TestQuote(t *testing.T) {
	lines := []string{"Error: no \x1b[1mkey\x1b[0m", "", "    at x", "Node.js v20"}
	const want = `it says on stderr: Error: no key; last lines on stderr:     at x | Node.js v20`
	if got := Quote(lines, lines); got != want {
		t.Errorf("%q", got)
	}
	if got := Quote(lines[3:], lines[3:]); got != "last lines on stderr: Node.js v20" {
		t.Errorf("%q", got)
	}
	if got := Quote(lines[:1], lines[:1]); got != "it says on stderr: Error: no key" {
		t.Errorf("%q", got)
	}
	if got := Quote([]string{"a", "b", "a", "b"}, []string{"b", "a", "b"}); got != "last lines on stderr: a | b" {
		t.Errorf("%q", got)
	}
	if got := Quote(nil, nil); got != "" {
		t.Errorf("%q", got)
	}
	for _, quoted := range [][]string{lines, lines[3:], nil} {
		text := strings.TrimRight("the process exited; "+Quote(quoted, quoted), "; ")
		if got := Without(text); got != "the process exited" {
			t.Errorf("%q of %q", got, text)
		}
	}
}

// A server chooses what it writes: a line of any length and form costs little, and is quoted in little.
func TestLineOfAnEnemy(t *testing.T) {
	var lines []string
	for _, unit := range []string{"a.", "Error", "level=", "Exception in ", "panic: ", "Aa.", "\x1b[", "\x1b[0", " at",
		"'"} {
		lines = append(lines, strings.Repeat(unit, 64<<10/len(unit)))
	}
	lines = slices.Concat(lines, []string{"Error: " + strings.Repeat("x", 64<<10), "thread '" +
		strings.Repeat("'", 64<<10)})
	begin := time.Now()
	if got := Quote(lines, nil); len(got) > 1<<10 {
		t.Errorf("%d bytes", len(got))
	}
	t.Log(time.Since(begin))
}
