package process

import (
	"slices"
	"strings"
	"testing"
)

// What runtimes and tools really write when a server cannot start, and the line that a person needs of it. Finding D6.
func TestComplaint(t *testing.T) {
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
		"Node, a promise that was rejected with a text": {`node:internal/process/promises:389
      new UnhandledPromiseRejection(reason);
      ^

UnhandledPromiseRejection: This error originated either by throwing inside of an async function without a catch block, ` +
			`or by rejecting a promise which was not handled with .catch(). The promise rejected with the reason "no key".
    at throwUnhandledRejectionsMode (node:internal/process/promises:389:7) {
  code: 'ERR_UNHANDLED_REJECTION'
}

Node.js v20.20.2`, `The promise rejected with the reason "no key".`},
		"Node, a text that was thrown": {"/srv/x.js:3\nthrow \"no key\"\n^\nno key\n(Use `node --trace-uncaught ...` to show where the exception was thrown)\n\nNode.js v20",
			"no key"},
		"Node, an error that the server writes itself": {"Fatal error in main(): Error: no key\n    at main (/srv/x.js:1:41) {\n  code: 'X',\n  [cause]: Error: inner\n      at f (x:1:1)\n}\nwarning: some files could not be closed",
			"Fatal error in main(): Error: no key"},
		"Node, a cause": {"[eval]:1\nthrow e\n^\n\nError: outer\n    at [eval]:1:9 {\n  [cause]: Error: inner\n      at [eval]:1:34\n}\n\nNode.js v20",
			"Error: outer"},
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
		if got := Complaint(strings.Split(test.text, "\n")); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// The line that matters comes first, and is not said twice; the latest lines stay, without the stack between.
func TestQuoteStderr(t *testing.T) {
	stack := strings.Split(`up
node:internal/modules/cjs/loader:1210
  throw err;
  ^

Error: no `+"\x1b[1mkey\x1b[0m"+`
    at f (/srv/x.js:2:21)
    ... 4 lines matching cause stack trace ...
    at node:internal/main/run_main_module:28:49 {
  code: 'X',
  [cause]: Error: inner
      at g (/srv/x.js:1:1)
}

Node.js v20.20.2
bye`, "\n")
	for name, test := range map[string]struct {
		stderr     []string
		most, room int
		want       string
	}{
		"Node":              {stack, 5, 100, "it says on stderr: Error: no key; last lines on stderr: up | bye"},
		"the end of it":     {stack[6:14], 5, 100, "it says on stderr: [cause]: Error: inner"},
		"few":               {stack, 1, 100, "it says on stderr: Error: no key; last lines on stderr: bye"},
		"little":            {stack, 5, 4, "it says on stderr: Error: no key; last lines on stderr: bye"},
		"nothing of note":   {[]string{"a", "b"}, 5, 100, "last lines on stderr: a | b"},
		"one line":          {[]string{"Error: no key"}, 5, 100, "it says on stderr: Error: no key"},
		"it tries again":    {[]string{"a", "b", "a", "b"}, 5, 100, "last lines on stderr: a | b"},
		"nothing":           {nil, 5, 100, ""},
		"text that is none": {[]string{"", "  ", "}"}, 5, 100, ""},
		"Go": {[]string{"panic: no key", "", "goroutine 1 [running]:", "main.main()", "\t/srv/main.go:9 +0x1d", "",
			"goroutine 2 [select]:", "main.f()"}, 5, 100, "it says on stderr: panic: no key"},
		"Python": {[]string{"up", "Traceback (most recent call last):", `  File "/srv/x.py", line 1`, "    f()",
			"ValueError: no key"}, 5, 100, "it says on stderr: ValueError: no key; last lines on stderr: up"},
		"Java": {[]string{`Exception in thread "main" java.lang.Error: no`, "\tat Main.main(Main.java:4)"}, 5, 100,
			`it says on stderr: Exception in thread "main" java.lang.Error: no`},
	} {
		got := QuoteStderr(test.stderr, test.most, test.room)
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
		text := strings.TrimRight("the process exited; "+got, "; ")
		if left := WithoutStderr(text); left != "the process exited" {
			t.Errorf("%s: %q of %q", name, left, text)
		}
	}
}

// A server chooses what it writes: a line of any length and form is quoted in little, and only its first 2 KiB are
// examined.
func TestComplaintOfAnEnemy(t *testing.T) {
	var lines []string
	for _, unit := range []string{"a.", "Error", "level=", "Exception in ", "panic: ", "Aa.", "\x1b[", "\x1b[0", " at",
		"'"} {
		lines = append(lines, strings.Repeat(unit, 64<<10/len(unit)))
	}
	lines = slices.Concat(lines, []string{"Error: " + strings.Repeat("x", 64<<10), "thread '" +
		strings.Repeat("'", 64<<10)})
	if got := QuoteStderr(lines, 5, 1<<10); len(got) > 2<<10 {
		t.Errorf("the quotation has %d bytes", len(got))
	}
	for _, space := range []int{(2 << 10) - len(" failed"), 2 << 10} {
		line := strings.Repeat("x", space) + " failed"
		if got, examined := Complaint([]string{line}), len(line) <= 2<<10; (got != "") != examined {
			t.Errorf("in a line of %d bytes, %.10q was found to matter; want it examined: %v", len(line), got, examined)
		}
	}
}
