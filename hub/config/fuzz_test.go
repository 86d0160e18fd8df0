package config

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tailscale/hujson"
	"golang.org/x/tools/txtar"
)

// FuzzLoad: whatever the input, Load does not panic, returns the same when called
// again, and returns only usable servers and places that are in the file.
func FuzzLoad(f *testing.F) {
	files, err := filepath.Glob("testdata/load/*.txtar")
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, seed := range seeds(f, files) {
		f.Add(seed, []byte(`{"servers": {"a": {"command": "x"}}}`))
	}
	f.Add([]byte(`{"mcpServers": {"\ud800": {"command": "\ud800", "timeouts": {"idle": 1e-400}}}}`), []byte("{"))
	f.Add(
		[]byte(`{"servers": {"a": {"url": "http://[::1]:80/%2f?q", "headers": {"a": "\t"}, "oauth": {"scopes": " a b "}}}}`),
		[]byte("[]"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		holds(t, []Source{{Path: "a", JSON: append([]byte{}, a...)},
			{Path: "b", JSON: append([]byte{}, b...), Scope: "user"}})
	})
}

// fuzzDialect fuzzes one reader, on a file of its dialect between two sources of other scopes.
func fuzzDialect(f *testing.F, name string) {
	files, err := filepath.Glob("testdata/" + name + "/*.txtar")
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		sources, _, _ := unpack(f, ar)
		for _, src := range sources {
			f.Add(src.JSON)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		holds(t, []Source{
			{Path: "before", JSON: []byte(`{"servers": {"a": {"command": "x"}, "s": {"command": "x"}}}`), Scope: "user"},
			{Path: "f", JSON: append([]byte{}, data...), Scope: "workspace", Dialect: name, Folder: "/w"},
			{Path: "after", JSON: []byte(`{"mcpServers": {"good 1": {"command": "x"}}}`), Scope: "user"},
		})
	})
}

func FuzzVSCode(f *testing.F)     { fuzzDialect(f, DialectVSCode) }
func FuzzPortable(f *testing.F)   { fuzzDialect(f, DialectPortable) }
func FuzzRoo(f *testing.F)        { fuzzDialect(f, DialectRoo) }
func FuzzCline(f *testing.F)      { fuzzDialect(f, DialectCline) }
func FuzzDesktop(f *testing.F)    { fuzzDialect(f, DialectDesktop) }
func FuzzCursor(f *testing.F)     { fuzzDialect(f, DialectCursor) }
func FuzzGemini(f *testing.F)     { fuzzDialect(f, DialectGemini) }
func FuzzCodex(f *testing.F)      { fuzzDialect(f, DialectCodex) }
func FuzzOpencode(f *testing.F)   { fuzzDialect(f, DialectOpencode) }
func FuzzCrush(f *testing.F)      { fuzzDialect(f, DialectCrush) }
func FuzzMcpServers(f *testing.F) { fuzzDialect(f, DialectMcpServers) }

// holds checks what is true of every result.
func holds(t *testing.T, sources []Source) {
	t.Helper()
	texts := map[string]string{}
	for _, src := range sources {
		texts[src.Path] = strings.TrimPrefix(string(src.JSON), "\xEF\xBB\xBF")
	}
	servers, problems := Load(sources)
	text := describeAll(servers, problems)
	if again := describeAll(Load(sources)); again != text {
		t.Fatalf("first:\n%s\nthen:\n%s", text, again)
	}
	all, same := All(sources)
	counted := slices.DeleteFunc(slices.Clone(all), func(s Server) bool { return s.ShadowedBy != nil })
	if text != describeAll(counted, same) {
		t.Fatalf("Load:\n%s\nAll:\n%s", text, describeAll(counted, same))
	}
	names := map[string]bool{}
	for _, s := range servers {
		if names[s.Name] {
			t.Errorf("%q comes twice", s.Name)
		}
		names[s.Name] = true
	}
	for _, s := range all {
		if !names[s.Name] {
			t.Errorf("no server named %q counts", s.Name)
		}
		usable(t, s)
		for field, p := range s.Fields {
			within(t, texts[s.Origin.File], p.Line, p.Column, field)
			if p.Key == "" && field != "" {
				t.Errorf("%s has a place and no key", field)
			}
		}
		within(t, texts[s.Origin.File], s.Origin.Line, 1, s.Name)
	}
	for _, p := range problems {
		if p.Message == "" {
			t.Errorf("problem %+v", p)
		}
		within(t, texts[p.File], p.Line, p.Column, p.Message)
		if strings.ContainsAny(p.String(), "\n\x00") {
			t.Errorf("problem in several lines: %q", p)
		}
	}
}

func usable(t *testing.T, s Server) {
	remote := s.Transport != TransportStdio
	if remote != (s.Command == "") || remote != (s.URL != "") || CheckName(s.Name) != "" ||
		dialects[s.Origin.Dialect] == nil {
		t.Errorf("server %+v", s)
	}
	if remote && (len(s.Args) > 0 || s.Env != nil || s.Dir != "" || s.Watch != nil) || !remote &&
		(s.Header != nil || s.BearerEnv != "") {
		t.Errorf("server with what belongs to another kind: %+v", s)
	}
	// A URL with a reference cannot be checked: its value is not known yet.
	refs := dialects[s.Origin.Dialect].reference
	if open := refs != nil && refs.MatchString(s.URL); remote && !open {
		if _, err := http.NewRequest(http.MethodPost, s.URL, nil); err != nil || s.DisplayURL() == "" {
			t.Errorf("URL %q cannot be asked: %v", s.URL, err)
		}
	}
	for name := range s.EnvRefs {
		if _, both := s.Env[name]; both {
			t.Errorf("%q is in Env and in EnvRefs", name)
		}
	}
	if s.MaxMessageBytes < 0 || len(s.LaunchKey()) != 32 {
		t.Errorf("server %+v", s)
	}
	if d := s.Timeouts.Total; d != nil && *d < 0 {
		t.Errorf("total %v", *d)
	}
}

// within checks that a place is in the text, or directly after a line of it.
func within(t *testing.T, text string, line, column int, what string) {
	lines := strings.Split(text+"\n", "\n")
	if line < 1 || line > len(lines) || column < 1 || column > utf8.RuneCountInString(lines[line-1])+1 {
		t.Errorf("%s is at %d:%d", what, line, column)
	}
}

// spoken, the fast path for strings, returns what the decoder returns.
func FuzzStrings(f *testing.F) {
	for _, s := range []string{`"a"`, `""`, `"\u0061"`, `"é✓😀"`, `"\ud800"`, `"a\nb"`, "\"\xff\"", `"</script>"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := hujson.Parse(append([]byte{}, data...))
		if err != nil {
			return
		}
		if lit, ok := v.Value.(hujson.Literal); ok && lit.Kind() == '"' && spoken(lit) != lit.String() {
			t.Errorf("%s says %q, and %q", data, lit.String(), spoken(lit))
		}
	})
}
