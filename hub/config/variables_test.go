package config

import (
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// world returns the Variables of these tests. Values of the environment begin with "s3c", so that they are recognized
// where they must not be.
func world() Variables {
	env := map[string]string{
		"TOKEN": "s3cret-token", "EMPTY": "", "WIN": `s3cret\back\slash`,
		"REF": "${env:TOKEN} ${TOKEN} $TOKEN {env:TOKEN} s3cret", "Mixed": "s3cret-mixed",
		"NUL": "s3cret\x00", "LINE": "s3cret\nX-Evil: 1", "HOST": "s3cret.example.com", "SHORT": "s3c",
		"BIG": strings.Repeat("s3cret--", maxText/8), "SPACE": " s3cret-space ",
	}
	return Variables{
		Getenv:  func(name string) (string, bool) { value, ok := env[name]; return value, ok },
		Folders: map[string]string{"app": native("/repos/app")}, Home: native("/h/me"), Cwd: native("/run/hub"),
		Input: func(id string) (string, bool) {
			value, ok := map[string]string{"key": "s3cret-key", "plain": "a name", "level": "high", "stale": "gone",
				"ref": "${input:key}"}[id]
			return value, ok
		},
		ReadFile: func(name string) ([]byte, error) {
			switch path := slashed(name); path {
			case "/conf/key.txt", "/abs/key.txt", "/h/me/key.txt":
				return []byte("\n s3cret-" + strings.TrimSuffix(path[1:], "/key.txt") + " {env:TOKEN}\n"), nil
			case "/conf/huge":
				return make([]byte, maxFile+1), nil
			}
			return readFile(name)
		},
	}
}

var testInputs = []Input{
	{ID: "key", Secret: true}, {ID: "plain"}, {ID: "level", Options: []InputOption{{"low", "low"}, {"high", "High"}}},
	{ID: "stale", Options: []InputOption{{"new", "new"}}}, {ID: "never"}, {ID: "ref"},
}

// expansion is one text, and what it becomes as an argument; err and warning are parts of the messages.
type expansion struct{ text, want, err, warning string }

func testExpansions(t *testing.T, dialect string, tests []expansion) {
	t.Helper()
	spell := native
	switch dialect {
	case DialectOpencode: // what stands in files
		spell = func(path string) string { return path }
	case DialectRoo: // writes slashes everywhere
		spell = func(path string) string { return filepath.ToSlash(native(path)) }
	}
	paths := strings.NewReplacer("/repos/app", spell("/repos/app"), "/h/me", spell("/h/me"), "/run/hub", spell("/run/hub"))
	file := native("/conf/mcp.json")
	for _, tt := range tests {
		tt.want = paths.Replace(tt.want)
		s := Server{
			Name: "srv", Command: "c", Args: []string{"first", tt.text}, Inputs: testInputs,
			Fields: map[string]Place{"args": {Line: 7, Column: 9, Key: "args"}},
			Origin: Origin{File: file, Line: 5, Dialect: dialect, Scope: "user"},
		}
		r, err := s.Resolve(world())
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%q: %v, want an error with %q", tt.text, err, tt.err)
				continue
			}
			var re *ResolveError
			if errors.As(err, &re) && !strings.HasPrefix(err.Error(), file+`:7:9: server "srv": key "args[1]": `) {
				t.Errorf("%q: no place: %v", tt.text, err)
			}
			if strings.Contains(err.Error(), "s3c") {
				t.Errorf("%q: a value is shown: %v", tt.text, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", tt.text, err)
			continue
		}
		if diff := cmp.Diff([]string{"first", tt.want}, r.Args); diff != "" {
			t.Errorf("%q: %s", tt.text, diff)
		}
		warnings := strings.Join(r.Warnings, "\n")
		if tt.warning == "" && warnings != "" || tt.warning != "" &&
			!strings.HasPrefix(warnings, file+`:7:9: server "srv": key "args[1]": `) ||
			!strings.Contains(warnings, tt.warning) || strings.Contains(warnings, "s3c") {
			t.Errorf("%q: warnings %q, want %q", tt.text, warnings, tt.warning)
		}
		if s.Args[1] != tt.text {
			t.Errorf("%q: the server itself was changed", tt.text)
		}
	}
}

func TestVSCodeVariables(t *testing.T) {
	testExpansions(t, DialectVSCode, []expansion{
		{text: "${input:key}", want: "s3cret-key"},
		{text: "a ${input:plain} b ${input:level}", want: "a a name b high"},
		{text: "${input:ref}", want: "${input:key}"}, // not expanded again
		{text: "${input:never}", err: `the input "never" has no value yet`},
		{text: "${input:stale}", err: `the input "stale" has no value yet`}, // what was chosen is no option any more
		{text: "${input:unknown}", err: `refers to the input "unknown", which its file does not have`},
		{text: "${input:}", err: `refers to the input ""`},
		{text: "x${env:TOKEN}y", want: "xs3cret-tokeny"},
		{text: "x${env:UNSET}y", want: "xy", warning: `"UNSET" is not set`}, // as a shell has it, and VS Code
		{text: "${env:}", err: "without a name"},
		{text: "${env}", err: "without a name"},
		{text: "${env:REF}", want: "${env:TOKEN} ${TOKEN} $TOKEN {env:TOKEN} s3cret"},
		{text: "${workspaceFolder}/x", want: "/repos/app/x"},
		{text: "${workspaceFolder:app}/x", want: "/repos/app/x"},
		{text: "${workspaceFolder:other}/x", err: `refers to "${workspaceFolder:other}"`},
		{text: "${workspaceFolderBasename}", want: "app"},
		{text: "${userHome}${pathSeparator}x${/}y", want: "/h/me" + string(filepath.Separator) + "x" +
			string(filepath.Separator) + "y"},
		{text: "${cwd}", want: "/run/hub"},
		{text: "$TOKEN ${TOKEN", want: "$TOKEN ${TOKEN"},
		{text: "$${env:TOKEN}", want: "$s3cret-token"},
		{text: "${TOKEN}", want: "${TOKEN}", warning: "not known, which stays"},
		{text: "${}", want: "${}", warning: "not known"},
		{text: "${env:${input:plain}}", err: "a reference within a reference"},
		{text: "${env:BIG}", want: strings.Repeat("s3cret--", maxText/8)},
		{text: "${env:BIG}x", err: "larger than 1048576 bytes"},
		{text: "${env:NUL}", err: "zero byte"},
	})
	v := world()
	v.Folders["lib"] = "/repos/lib"
	s := Server{Command: "${workspaceFolder}/run", Origin: Origin{Dialect: DialectVSCode}}
	if _, err := s.Resolve(v); err == nil || !strings.Contains(err.Error(), "more than one") {
		t.Errorf("two folders: %v", err)
	}
	s.Origin.Folder = "/repos/lib"
	if r, err := s.Resolve(v); err != nil || r.Command != "/repos/lib/run" || r.Dir != "/repos/lib" {
		t.Errorf("the folder of the file: %+v, %v", r, err)
	}
}

func TestPortableVariables(t *testing.T) {
	long := strings.Repeat("x", 1000-len("${TOKEN}"))
	testExpansions(t, DialectPortable, []expansion{
		{text: "${TOKEN} and ${TOKEN:-d}", want: "s3cret-token and s3cret-token"},
		{text: "${UNSET:-def ault}", want: "def ault"},
		{text: "${UNSET:-}", want: ""},
		{text: "${UNSET:-${TOKEN}}", want: "${TOKEN}"}, // a default is literal
		{text: "${EMPTY:-default}|", want: "|"},
		{text: "${UNSET}", want: "${UNSET}", warning: `the environment variable "UNSET" is not set`},
		{text: "$TOKEN ${env:TOKEN} ${TÖKEN} ${1A} ${A-b}", want: "$TOKEN ${env:TOKEN} ${TÖKEN} ${1A} ${A-b}"},
		{text: "${REF}", want: "${env:TOKEN} ${TOKEN} $TOKEN {env:TOKEN} s3cret"},
		{text: long + "${TOKEN}", want: long + "s3cret-token"},
		{text: long + "é${TOKEN}", want: long + "é${TOKEN}", warning: "longer than 1000 characters"},
		{text: long[2:] + "😀${TOKEN}", want: long[2:] + "😀s3cret-token"}, // two units
		{text: long[1:] + "😀${TOKEN}", want: long[1:] + "😀${TOKEN}", warning: "longer than"},
		{text: strings.Repeat("y", 5000), want: strings.Repeat("y", 5000)},
	})
	v := world()
	v.Getenv = LookupEnv([]string{"Path=s3cret-path", "=C:=C:\\x", "A=1", "A=2", "B"}, "windows")
	r, err := Server{Command: "${PATH} ${path} ${a} ${b:-none} ${=C:}",
		Origin: Origin{Dialect: DialectPortable}}.Resolve(v)
	if err != nil || r.Command != "s3cret-path s3cret-path 2 none ${=C:}" {
		t.Errorf("Windows: %q, %v", r.Command, err)
	}
	if _, ok := LookupEnv([]string{"Path=x"}, "linux")("PATH"); ok {
		t.Error("names were taken without case on Linux")
	}
}

func TestRooVariables(t *testing.T) {
	testExpansions(t, DialectRoo, []expansion{
		{text: "${env:TOKEN} ${workspaceFolder}", want: "s3cret-token /repos/app"},
		{text: "${env:WIN}", want: "s3cret/back/slash"},
		{text: `C:\x ${env:TOKEN}`, want: `C:\x s3cret-token`}, // only values are changed
		{text: "${env:EMPTY}|", want: "|"},
		{text: "${env:UNSET}", want: "${env:UNSET}", warning: `"UNSET" is not set`},
		{text: "${env:A-B} ${userHome} ${TOKEN} $TOKEN", want: "${env:A-B} ${userHome} ${TOKEN} $TOKEN"},
		{text: "${env:REF}", want: "${env:TOKEN} ${TOKEN} $TOKEN {env:TOKEN} s3cret"},
	})
	v := world()
	v.Folders = nil
	r, err := Server{Command: "${workspaceFolder}", Origin: Origin{Dialect: DialectRoo}}.Resolve(v)
	if err != nil || r.Command != "${workspaceFolder}" || len(r.Warnings) != 1 {
		t.Errorf("no folder: %+v, %v", r, err)
	}
}

func TestClineVariables(t *testing.T) {
	testExpansions(t, DialectCline, []expansion{
		{text: "a${env:TOKEN}b", want: "as3cret-tokenb"},
		{text: "${env:UNSET} ${env:EMPTY}", want: "${env:UNSET} ", warning: `"UNSET" is not set`},
		{text: "${workspaceFolder} ${TOKEN} $TOKEN ${input:key}", want: "${workspaceFolder} ${TOKEN} $TOKEN ${input:key}"},
		{text: "${env:WIN}", want: `s3cret\back\slash`},
	})
}

func TestCursorVariables(t *testing.T) {
	sep := string(filepath.Separator)
	testExpansions(t, DialectCursor, []expansion{
		{text: "a${env:TOKEN}b", want: "as3cret-tokenb"},
		{text: "${env:UNSET}", want: "${env:UNSET}", warning: `"UNSET" is not set`},
		{text: "${workspaceFolder} ${userHome} ${workspaceFolderBasename}${/}${pathSeparator}", want: "/repos/app /h/me app" +
			sep + sep},
		{text: "${TOKEN} $TOKEN ${input:key}", want: "${TOKEN} $TOKEN ${input:key}"},
	})
	r, err := Server{Command: "${userHome} ${workspaceFolder}",
		Origin: Origin{Dialect: DialectCursor}}.Resolve(Variables{})
	if err != nil || r.Command != "${userHome} ${workspaceFolder}" || len(r.Warnings) != 2 {
		t.Errorf("nothing known: %+v, %v", r, err)
	}
}

func TestClaudeDesktopIsLiteral(t *testing.T) {
	text := "${TOKEN} ${env:TOKEN} $TOKEN {env:TOKEN} ${input:key} $(id) `id`"
	testExpansions(t, DialectDesktop, []expansion{{text: text, want: text}})
	testExpansions(t, DialectCodex, []expansion{{text: text, want: text}})
}

func TestUnknownDialectExpandsNothing(t *testing.T) {
	testExpansions(t, DialectMcpServers, []expansion{
		{text: "${TOKEN} ${env:TOKEN}", want: "${TOKEN} ${env:TOKEN}", warning: "looks like a reference"},
		{text: "$TOKEN {env:TOKEN}", want: "$TOKEN {env:TOKEN}"},
	})
}

func TestGeminiVariables(t *testing.T) {
	testExpansions(t, DialectGemini, []expansion{
		{text: "$TOKEN-x ${TOKEN}x ${UNSET:-d} ${EMPTY:-d}|", want: "s3cret-token-x s3cret-tokenx d |"},
		{text: "$UNSET", want: "$UNSET", warning: `"UNSET" is not set`},
		{text: "${UNSET}", want: "${UNSET}", warning: `"UNSET" is not set`},
		{text: "pa$sword", want: "pa$sword", warning: "refers to an environment variable that is not set"},
		{text: "$5 $$ $(id) ${a b}", want: "$5 $$ $(id) ${a b}"},
		{text: "$REF", want: "${env:TOKEN} ${TOKEN} $TOKEN {env:TOKEN} s3cret"},
	})
}

func TestOpencodeVariables(t *testing.T) {
	if runtime.GOOS != "windows" {
		testExpansions(t, DialectOpencode, []expansion{{text: "{file:/dev/zero}", err: "not a regular file"}})
	}
	testExpansions(t, DialectOpencode, []expansion{
		{text: "a{env:TOKEN}b{env:UNSET}c", want: "as3cret-tokenbc", warning: `"UNSET" is not set`},
		{text: "{file:key.txt}", want: "s3cret-conf {env:TOKEN}"}, // relative to the file; trimmed; not expanded again
		{text: "{file:./key.txt}", want: "s3cret-conf {env:TOKEN}"},
		{text: "{file:" + filepath.ToSlash(native("/abs/key.txt")) + "}", want: "s3cret-abs {env:TOKEN}"},
		{text: "{file:~/key.txt}", want: "s3cret-h/me {env:TOKEN}"},
		{text: "{file:missing}", err: `the file "missing" cannot be read: no such file`},
		{text: "{file:" + filepath.ToSlash(t.TempDir()) + "}", err: "not a regular file"},
		{text: "{file:huge}", err: "is larger than"},
		{text: "{file:{env:TOKEN}}", err: "a reference within a reference"},
		{text: "${TOKEN} $TOKEN ${env:TOKEN} {x:y}", want: "${TOKEN} $TOKEN $s3cret-token {x:y}"},
	})
}

func TestCrushVariables(t *testing.T) {
	testExpansions(t, DialectCrush, []expansion{
		{text: "$TOKEN ${TOKEN} ${UNSET:-d} ${EMPTY:-d} ${EMPTY-d}|${UNSET-d}", want: "s3cret-token s3cret-token d d |d"},
		{text: "$UNSET|${UNSET}|", want: "||", warning: `"UNSET" is not set`}, // as a shell has it, and Crush
		{text: "pa$sword", want: "pa", warning: "refers to an environment variable that is not set"},
		{text: `\$TOKEN \${TOKEN} \x $5 $`, want: `$TOKEN ${TOKEN} \x $5 $`},
		{text: "$REF", want: "${env:TOKEN} ${TOKEN} $TOKEN {env:TOKEN} s3cret"},
		{text: "${TOKEN:?s3cret}", err: "of a form that the hub does not know"},
		{text: "${TOKEN%s3cret}", err: "of a form"},
		{text: "${UNSET:-$TOKEN}", err: "of a form"},
		{text: "${UNSET:-$(s3cret)}", err: "of a form"},
		{text: "${UNSET:-`s3cret`}", err: "of a form"},
		{text: "$(s3cret)", err: "is to run a command"},
		{text: "`s3cret`", err: "is to run a command"},
	})
	s := Server{URL: "https://x.example", Header: map[string]string{"A": "$UNSET", "B": "", "C": "x"},
		Origin: Origin{Dialect: DialectCrush}}
	r, err := s.Resolve(world())
	if diff := cmp.Diff(map[string]string{"B": "", "C": "x"}, r.Header); diff != "" || err != nil || len(r.Warnings) != 2 {
		t.Errorf("%v, %s, %q", err, diff, r.Warnings)
	}
}

func TestCodexReferences(t *testing.T) {
	own := "own"
	s := Server{
		Command: "$TOKEN", Env: map[string]*string{"A": &own, "B": &own},
		EnvRefs: map[string]string{"A": "TOKEN", "C": "TOKEN", "D": "UNSET", "E": "EMPTY"},
		Origin:  Origin{Dialect: DialectCodex},
	}
	r, err := s.Resolve(world())
	if err != nil || *r.Env["A"] != "own" || *r.Env["C"] != "s3cret-token" || *r.Env["E"] != "" || len(r.Env) != 4 ||
		r.EnvRefs != nil || len(s.Env) != 2 {
		t.Errorf("%v, %v", r.Env, err)
	}
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0],
		`key "env.D": the environment variable "UNSET" is not set; this entry is left out`) {
		t.Errorf("%q", r.Warnings)
	}
	s = Server{URL: "https://x.example", Header: map[string]string{"X-A": "literal"},
		EnvRefs: map[string]string{"X-A": "TOKEN", "X-B": "UNSET"}, BearerEnv: "Mixed", Origin: Origin{Dialect: DialectCodex}}
	r, err = s.Resolve(world())
	if diff := cmp.Diff(map[string]string{"X-A": "s3cret-token", "Authorization": "Bearer s3cret-mixed"},
		r.Header); diff != "" || err != nil || r.BearerEnv != "" || len(r.Warnings) != 1 {
		t.Errorf("%v %s %q", err, diff, r.Warnings)
	}
	if diff := cmp.Diff([]string{"Bearer s3cret-mixed", "s3cret-mixed", "s3cret-token"}, r.Secrets); diff != "" {
		t.Error(diff)
	}
	s.BearerEnv, s.EnvRefs = "UNSET", nil
	if r, err = s.Resolve(world()); err != nil || len(r.Header) != 1 || len(r.Warnings) != 1 {
		t.Errorf("no token: %v, %v, %q", err, r.Header, r.Warnings)
	}
}

// Commands of the editor, and of a shell, in every dialect: none may run; a reference to one is refused or stays
// literal.
func TestNoVariableRunsACommand(t *testing.T) {
	marker := filepath.Join(t.TempDir(), "ran")
	for dialect := range grammars {
		for _, text := range []string{
			"${command:touch " + marker + "}", "$(touch " + marker + ")", "`touch " + marker + "`", "${cmd: touch " + marker +
				"}", "${config:x}",
			"${UNSET:-$(touch " + marker + ")}", "${input:cmd}", "{cmd:touch " + marker + "}", "$((1+1))", "!touch " + marker,
		} {
			s := Server{Command: "c", Args: []string{text}, Origin: Origin{Dialect: dialect, Folder: "/w"}}
			r, err := s.Resolve(world())
			switch refused := err != nil; {
			case dialect == DialectVSCode && (strings.HasPrefix(text, "${command:") || strings.HasPrefix(text, "${config:") ||
				strings.HasPrefix(text, "${input:")),
				dialect == DialectCrush && (strings.Contains(text, "$(") || strings.Contains(text, "`") ||
					strings.HasPrefix(text, "${c") || strings.HasPrefix(text, "${i")):
				if !refused {
					t.Errorf("%s: %q was taken, as %q", dialect, text, r.Args)
				} else if dialect == DialectVSCode && !strings.Contains(err.Error(), strings.Trim(text, "${}")[:5]) &&
					!strings.Contains(err.Error(), "cmd") {
					t.Errorf("%s: %q is not named: %v", dialect, text, err)
				}
			case refused:
				t.Errorf("%s: %q: %v", dialect, text, err)
			case r.Args[0] != text && !strings.HasPrefix(text, "${UNSET"):
				t.Errorf("%s: %q became %q", dialect, text, r.Args[0])
			}
		}
	}
	if _, err := readFile(marker); err == nil {
		t.Error("a command ran")
	}
}
